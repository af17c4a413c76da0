internal import CSDD
internal import SDDEngine

/// The report on a prefetch list, in C form, freed with the last reference. Thread: the one on which the downloader
/// delivers.
final class LentReport {
    private let report: Lent<sdd_prefetch_report>
    private let outcomes: LentOutcomes

    /// Creates the report on a list that has not ended.
    convenience init(_ counts: PrefetchCounts, token: UInt64) {
        self.init(counts, [], cancelled: 0, SDD_OK, token)
    }

    convenience init(_ source: PrefetchReport, token: UInt64) {
        let error = source.isCancelled ? SDD_ERROR_CANCELLED : SDD_OK
        self.init(source.counts, source.outcomes, cancelled: source.cancelled, error, token)
    }

    private init(
        _ counts: PrefetchCounts, _ given: [PrefetchOutcome], cancelled: Int, _ error: Int, _ token: UInt64
    ) {
        outcomes = LentOutcomes(given)
        var made = sdd_prefetch_report()
        made.struct_size = MemoryLayout<sdd_prefetch_report>.size
        made.token = token
        made.status = sdd_status(error)
        made.total = counts.total
        made.finished = counts.finished
        made.skipped = counts.skipped
        made.cancelled = cancelled
        made.outcomes = outcomes.pointer
        report = Lent(made)
    }

    var pointer: UnsafePointer<sdd_prefetch_report> { report.pointer }

    func withPointer(_ body: (UnsafePointer<sdd_prefetch_report>) -> Void) {
        withExtendedLifetime(self) { body(pointer) }
    }
}

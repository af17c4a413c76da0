internal import CSDD
internal import SDDEngine

/// The report on a prefetch list, in C form, freed with the last reference. Thread: the one on which the downloader
/// delivers.
final class LentReport {
    private let report: UnsafeMutablePointer<sdd_prefetch_report>
    private let outcomes: UnsafeMutableBufferPointer<sdd_prefetch_outcome>

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
        outcomes = .allocate(capacity: given.count)
        _ = outcomes.initialize(from: given.map { sdd_prefetch_outcome($0) })
        var made = sdd_prefetch_report()
        made.struct_size = MemoryLayout<sdd_prefetch_report>.size
        made.token = token
        made.error = sdd_status(error)
        made.total = counts.total
        made.finished = counts.finished
        made.skipped = counts.skipped
        made.cancelled = cancelled
        made.outcomes = given.isEmpty ? nil : UnsafePointer(outcomes.baseAddress)
        made.outcome_size = MemoryLayout<sdd_prefetch_outcome>.stride
        report = .allocate(capacity: 1)
        report.initialize(to: made)
    }

    deinit {
        outcomes.deallocate()
        report.deallocate()
    }

    var pointer: UnsafePointer<sdd_prefetch_report> { UnsafePointer(report) }

    func withPointer(_ body: (UnsafePointer<sdd_prefetch_report>) -> Void) {
        withExtendedLifetime(self) { body(pointer) }
    }
}

extension sdd_prefetch_outcome {
    fileprivate init(_ outcome: PrefetchOutcome) {
        self.init(
            error: outcome.error?.rawValue ?? sdd_status(SDD_OK), detail: outcome.detail.rawValue,
            http_status: outcome.httpStatus, origin: outcome.origin.rawValue, retryable: outcome.isRetryable ? 1 : 0,
            reserved: 0)
    }
}

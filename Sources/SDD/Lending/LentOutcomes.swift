internal import CSDD
internal import SDDBase
internal import SDDEngine

/// The outcomes of several URLs, in C form, freed with the last reference.
final class LentOutcomes {
    private let records: UnsafeMutableBufferPointer<sdd_outcome>
    private var texts: [CText] = []

    /// The failed URLs of a load.
    init(_ failures: [SourceFailure]) {
        records = .allocate(capacity: failures.count)
        for (index, failure) in failures.enumerated() {
            let url = failure.url.isEmpty ? nil : texts.keep(failure.url)
            add(index, url: url, failure.error, stage: failure.stage, httpStatus: failure.httpStatus)
        }
    }

    /// The outcomes of a prefetch list, without the URLs, which the application has.
    init(_ outcomes: [PrefetchOutcome]) {
        records = .allocate(capacity: outcomes.count)
        for (index, outcome) in outcomes.enumerated() {
            add(
                index, url: nil, outcome.error, stage: outcome.stage, httpStatus: outcome.httpStatus,
                origin: outcome.origin)
        }
    }

    deinit { records.deallocate() }

    /// `nil` if there are none.
    var pointer: UnsafePointer<sdd_outcome>? { records.isEmpty ? nil : UnsafePointer(records.baseAddress) }

    private func add(
        _ index: Int, url: UnsafePointer<CChar>?, _ error: DownloadError?, stage: DownloadResult.Stage,
        httpStatus: Int32, origin: DownloadResult.Origin = .network
    ) {
        var made = sdd_outcome()
        made.url = url
        made.failure = sdd_failure(
            error, stage: stage, httpStatus: httpStatus, message: error.flatMap { texts.keep($0.message) })
        made.origin = (error == nil ? origin : .none).rawValue
        records.initializeElement(at: index, to: made)
    }
}

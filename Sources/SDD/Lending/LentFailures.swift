internal import CSDD
internal import SDDBase
internal import SDDEngine

/// The failed URLs of a load, in C form, freed with the last reference.
final class LentFailures {
    private let records: UnsafeMutableBufferPointer<sdd_source_error>
    private let texts: [CText]

    /// - Parameter failures: at least one, and at most one for each URL of a load.
    init(_ failures: [SourceFailure]) {
        texts = failures.flatMap { [CText($0.url), CText($0.error.message)] }
        records = .allocate(capacity: failures.count)
        for (index, failure) in failures.enumerated() {
            var made = sdd_source_error()
            made.struct_size = MemoryLayout<sdd_source_error>.size
            made.url = failure.url.isEmpty ? nil : texts[index * 2].pointer
            made.error = failure.error.code.rawValue
            made.detail = failure.error.detail.rawValue
            made.http_status = failure.httpStatus
            made.retryable = failure.error.isRetryable ? 1 : 0
            made.message = texts[index * 2 + 1].pointer
            records.initializeElement(at: index, to: made)
        }
    }

    deinit { records.deallocate() }

    var pointer: UnsafePointer<sdd_source_error>? { UnsafePointer(records.baseAddress) }
}

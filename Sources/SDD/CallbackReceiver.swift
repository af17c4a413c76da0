internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// The C callbacks of one request, and the strings and structs lent to them. Thread: where the downloader
/// delivers, one call at a time.
final class CallbackReceiver: Receiver, @unchecked Sendable {
    // Safety: set in `init`; `lent` is touched only by the thread that takes events, one at a time.
    private let url: UnsafeMutablePointer<CChar>?
    private let progress: sdd_progress_fn?
    private let completion: sdd_completed_fn?
    private let free: sdd_user_data_free_fn?
    let userData: UnsafeMutableRawPointer?
    private var lent: LentResult?

    init(_ request: sdd_request, keepsURL: Bool) {
        url = keepsURL ? request.url.flatMap { strdup($0) } : nil
        progress = request.progress
        completion = request.completed
        free = request.user_data_free
        userData = request.user_data
    }

    deinit { Glibc.free(url) }

    func progressed(token: UInt64, received: Int64, expected: Int64) {
        progress?(token, received, expected, url, userData)
    }

    func completed(_ result: DownloadResult, token: UInt64) {
        guard let completion else { return }
        LentResult(result, token: token, url: url).withPointer { completion($0, userData) }
    }

    func released() {
        lent = nil
        free?(userData)
    }

    /// The C form of a result, lent until `released`.
    func lend(_ result: DownloadResult, token: UInt64) -> UnsafePointer<sdd_result> {
        let lent = LentResult(result, token: token, url: url)
        self.lent = lent
        return lent.pointer
    }
}

/// A result as the C side reads it, with all that it points to. Frees it with its last reference.
private final class LentResult {
    private let result: UnsafeMutablePointer<sdd_result>
    private let timings: UnsafeMutablePointer<sdd_timings>
    private let message: UnsafeMutablePointer<CChar>?
    private let source: DownloadResult

    init(_ source: DownloadResult, token: UInt64, url: UnsafePointer<CChar>?) {
        self.source = source
        message = source.error.flatMap { strdup($0.message) }
        timings = .allocate(capacity: 1)
        timings.initialize(to: sdd_timings(source.timings))
        var made = sdd_result()
        made.struct_size = MemoryLayout<sdd_result>.size
        made.token = token
        made.url = url
        made.image = Handle.borrowed(source.image)
        made.bytes = Handle.borrowed(source.bytes)
        made.error = source.error?.code.rawValue ?? sdd_status(SDD_OK)
        made.detail = source.error?.detail.rawValue ?? Int32(SDD_DETAIL_NONE)
        made.http_status = source.httpStatus
        made.curl_code = source.error?.curlCode ?? 0
        made.system_error = source.error?.systemError ?? 0
        made.finished = 1
        made.message = UnsafePointer(message) ?? emptyString
        made.timings = UnsafePointer(timings)
        result = .allocate(capacity: 1)
        result.initialize(to: made)
    }

    deinit {
        result.deallocate()
        timings.deallocate()
        free(message)
    }

    var pointer: UnsafePointer<sdd_result> { UnsafePointer(result) }

    func withPointer(_ body: (UnsafePointer<sdd_result>) -> Void) {
        withExtendedLifetime(self) { body(pointer) }
    }
}

extension sdd_timings {
    fileprivate init(_ timings: DownloadTimings) {
        self.init()
        struct_size = MemoryLayout<sdd_timings>.size
        queue_us = timings.queue
        name_lookup_us = timings.transfer.nameLookup
        connect_us = timings.transfer.connect
        tls_us = timings.transfer.tls
        first_byte_us = timings.transfer.firstByte
        transfer_us = timings.transfer.total
        decode_us = timings.decode
        total_us = timings.total
    }
}

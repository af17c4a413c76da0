internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

/// The C callbacks of one request, and the strings and structs lent to them. Thread: the one on which the downloader
/// delivers, one call at a time.
final class RequestCallbacks: AppCallbacks, @unchecked Sendable {
    // Safety: constants, except `lent`, which only the thread that takes events touches; the delivery's lock orders one
    // such thread after another.
    private let url: BlockText?
    private let progress: sdd_progress_fn?
    private let completion: sdd_result_fn?
    private let preview: sdd_result_fn?
    private let facts: sdd_facts_fn?
    private let cached: sdd_result_fn?
    private let free: sdd_user_data_free_fn?
    let userData: UnsafeMutableRawPointer?
    private var lent: LentResult?

    convenience init(_ load: sdd_load_request, keepsURL: Bool) {
        self.init(load, cached: load.cached, keepsURL: keepsURL)
    }

    /// Callbacks of a request that is no download.
    convenience init(
        key: UnsafePointer<CChar>?, _ completed: sdd_result_fn?, _ userData: UnsafeMutableRawPointer?,
        _ free: sdd_user_data_free_fn?
    ) {
        var request = sdd_download_request()
        request.url = key
        request.completed = completed
        request.user_data = userData
        request.user_data_free = free
        self.init(request, keepsURL: true)
    }

    convenience init<Request: RequestStruct>(_ request: Request, cached: sdd_result_fn? = nil, keepsURL: Bool) {
        self.init(
            request, cached: cached, url: keepsURL ? request.url.flatMap { BlockText(copying: $0) } : nil,
            userData: UserData(request.user_data))
    }

    /// - Parameters:
    ///   - request: of which the functions are used alone.
    ///   - url: freed at the end.
    init<Request: RequestStruct>(
        _ request: Request, cached: sdd_result_fn? = nil, url: BlockText?, userData: UserData
    ) {
        self.cached = cached
        self.url = url
        progress = request.progress
        completion = request.completed
        preview = request.preview
        facts = request.facts
        free = request.user_data_free
        self.userData = userData.pointer
    }

    deinit { url?.free() }

    private var urlText: UnsafePointer<CChar>? { url?.pointer }

    func progressed(token: UInt64, received: Int64, expected: Int64) {
        guard let progress else { return }
        // There is no URL if the first one of a load is invalid: then an alternative is being downloaded.
        guard let urlText else { return "".withCString { progress(token, received, expected, $0, userData) } }
        progress(token, received, expected, urlText, userData)
    }

    func learned(_ facts: ImageFacts, token: UInt64) {
        var made = sdd_image_info(facts)
        self.facts?(token, &made, userData)
    }

    func previewed(_ result: DownloadResult, token: UInt64) {
        guard let preview else { return }
        LentResult(result, token: token, url: urlText).withPointer { preview($0, userData) }
    }

    func foundCached(_ result: DownloadResult, token: UInt64) {
        guard let cached else { return }
        LentResult(result, token: token, url: urlText).withPointer { cached($0, userData) }
    }

    func completed(_ result: DownloadResult, token: UInt64) {
        guard let completion else { return }
        LentResult(result, token: token, url: urlText).withPointer { completion($0, userData) }
    }

    func released() {
        lent = nil
        free?(userData)
    }

    /// Returns the C form of an intermediate result; the caller keeps it alive as long as C code may read it.
    func form(of preview: DownloadResult, token: UInt64) -> LentResult {
        LentResult(preview, token: token, url: urlText)
    }

    /// Returns the C form of a final result, which stays valid until `released`.
    func lend(_ result: DownloadResult, token: UInt64) -> UnsafePointer<sdd_result> {
        let lent = LentResult(result, token: token, url: urlText)
        self.lent = lent
        return lent.pointer
    }
}

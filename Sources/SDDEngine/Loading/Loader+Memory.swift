import SDDBase
import SDDCoders

extension Loader {
    /// Accepts a load whose image memory has, and ends it with that, whether its URL is blocked or not.
    /// - Parameters:
    ///   - search: made ahead.
    ///   - callbacks: made only if the load can end so.
    /// - Returns: nil if the search has found nothing; `.some(nil)` if the downloader is being destroyed.
    package func submit(_ search: MemorySearch, callbacks: () -> any AppCallbacks) -> UInt64?? {
        guard let image = search.known?.ready else { return nil }
        guard downloader.isAdmitted() else { return .some(nil) }
        let isRefused = !downloader.gate.admitsLoad()
        let listener = Listener(token: makeToken(), callbacks: callbacks())
        let now = SystemTime().monotonicMicroseconds()
        let result =
            isRefused
            ? DownloadResult(error: .closed, stage: .submit, ended: now)
            : DownloadResult(
                image: image, bytes: search.form.keepsBytes ? image.bytes : nil, origin: .memory, ended: now)
        downloader.finish(listener, result)
        return listener.token
    }
}

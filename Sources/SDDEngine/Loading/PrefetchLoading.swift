package import SDDBase

/// How the URLs of a list are loaded. Called with no lock held, from any thread.
package protocol PrefetchLoading: AnyObject, Sendable {
    /// Begins a load.
    /// - Parameter receiver: told at once, on the thread that decides the end, which may be inside this call.
    /// - Returns: its token; nil when no more loads are taken: then nobody is told anything.
    /// - Throws: why it cannot be; nobody is told then, either.
    func prefetch(_ url: ImageURL, priority: Priority, receiver: any Receiver) throws(DownloadError) -> UInt64?

    /// Harmless when it has ended.
    func cancel(_ token: UInt64)

    /// Likewise.
    func setPriority(_ priority: Priority, of token: UInt64)
}

/// What one call of sdd_prefetch() asks for. A value.
package struct PrefetchList: Sendable {
    /// In the order in which they begin; or why one can be none.
    package let urls: [Result<ImageURL, DownloadError>]
    package let loads: any PrefetchLoading

    package init(urls: [Result<ImageURL, DownloadError>], loads: any PrefetchLoading) {
        self.urls = urls
        self.loads = loads
    }
}

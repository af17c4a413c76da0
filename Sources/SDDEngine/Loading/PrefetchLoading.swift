package import SDDBase

/// Loads the URLs of a list. Called on any thread, with no lock held.
package protocol PrefetchLoading: AnyObject, Sendable {
    /// Begins a load.
    /// - Parameter callbacks: told immediately, on the thread that decides the end, perhaps inside this call.
    /// - Returns: its token; nil if no more loads are accepted: then the callbacks are told nothing.
    /// - Throws: the reason why it cannot begin; the callbacks are not told then, either.
    func prefetch(_ url: ImageURL, priority: Priority, callbacks: any AppCallbacks) throws(DownloadError) -> UInt64?

    /// Cancels a load; does nothing if it has ended.
    func cancel(_ token: UInt64)

    /// Changes the priority of a load; does nothing if it has ended.
    func setPriority(_ priority: Priority, of token: UInt64)
}

/// The URLs and settings of one call of sdd_prefetch(). A value type.
package struct PrefetchList: Sendable {
    /// The URLs in the order in which they begin, or the errors of invalid ones.
    package let urls: [Result<ImageURL, DownloadError>]
    package let loads: any PrefetchLoading
    /// The priority of its loads, until the application sets another.
    package let priority: Priority
    /// Only entries on disk are wanted: a load whose entry could not be stored has failed.
    package let isToDisk: Bool

    package init(
        urls: [Result<ImageURL, DownloadError>], loads: any PrefetchLoading, priority: Priority = .veryLow,
        isToDisk: Bool = false
    ) {
        self.urls = urls
        self.loads = loads
        self.priority = priority
        self.isToDisk = isToDisk
    }
}

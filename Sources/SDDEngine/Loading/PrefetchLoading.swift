package import SDDBase

/// Who loads the URLs of a list: the loader that a `Prefetcher` belongs to. Called with no lock held, from any thread.
package protocol PrefetchLoading: AnyObject, Sendable {
    /// Begins a load of very low priority, to where the list wants it.
    /// - Parameter receiver: told at once, on the thread that decides the end, which may be inside this call.
    /// - Returns: its token; nil when the loader takes no more loads: then nobody is told anything.
    func prefetch(_ url: ImageURL, of list: PrefetchList, receiver: any Receiver) -> UInt64?

    /// Harmless when it has ended.
    func cancel(_ token: UInt64)
}

import SDDBase
import Synchronization

/// Delivers the events of a `Prefetcher`'s lists.
extension Delivery {
    /// Calls the application, with no lock held.
    func perform(_ event: PrefetchEvent, for listener: Listener) {
        if event.isEnd { ending.add(1, ordering: .relaxed) }
        listener.callbacks.prefetched(event, token: listener.token)
        // In a forked child the remaining steps are left to the parent.
        guard event.isEnd, !isForked else { return }
        listener.callbacks.released()
        settled()
        ending.subtract(1, ordering: .relaxed)
    }
}

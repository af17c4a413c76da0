import SDDBase

/// Delivers the events of a `Prefetcher`'s lists, in the order in which they are posted.
extension Delivery {
    /// Queues an event of a list whose end is outstanding. Callable from any thread; never calls the application.
    func post(_ event: PrefetchEvent, to subscriber: Subscriber) {
        let wakes = state.withLock { state in
            state.queue.append(.prefetch(subscriber, event))
            updateBell(&state)
            return state.sleepers > 0
        }
        if wakes { state.broadcast() }
    }

    /// Drops the queued and future events, except the end, of a list that was cancelled.
    func mute(_ subscriber: Subscriber) { state.withLock { _ in subscriber.isMuted = true } }

    /// Calls the application, with no lock held.
    func perform(_ event: PrefetchEvent, for subscriber: Subscriber) {
        subscriber.receiver.prefetched(event, token: subscriber.token)
        // In a forked child the remaining steps are left to the parent.
        guard event.isEnd, !isForked else { return }
        subscriber.receiver.released()
        settled()
    }
}

extension Downloader {
    /// Counts an accepted list, whose end is owed from now on.
    /// - Returns: false if the downloader is being destroyed.
    func acceptPrefetch() -> Bool {
        change { table, _, _ in
            if !table.isClosed { delivery.accepted() }
            return !table.isClosed
        }
    }

    func postPrefetch(_ event: PrefetchEvent, to subscriber: Subscriber) { delivery.post(event, to: subscriber) }
    func mute(_ subscriber: Subscriber) { delivery.mute(subscriber) }
}

import SDDBase

/// Delivery of what lists of a `Prefetcher` come to. Their order among themselves is that of the calls.
extension Delivery {
    /// Queues an event of a list whose end is owed. Any thread; never calls the host.
    func post(_ event: PrefetchEvent, to subscriber: Subscriber) {
        let wakes = state.withLock { state in
            state.queue.append(.prefetch(subscriber, event))
            updateBell(&state)
            return state.sleepers > 0
        }
        if wakes { state.broadcast() }
    }

    /// It was cancelled: what waits, or is about to, is not delivered any more.
    func mute(_ subscriber: Subscriber) { state.withLock { _ in subscriber.isMuted = true } }

    /// Calls the host, with no lock held.
    func perform(_ event: PrefetchEvent, for subscriber: Subscriber) {
        subscriber.receiver.prefetched(event, token: subscriber.token)
        // In a child of a fork it is the parent's.
        guard event.isEnd, !isForked else { return }
        subscriber.receiver.released()
        settled()
    }
}

extension Downloader {
    /// A list was accepted: its end is owed.
    /// - Returns: false when the downloader is being destroyed.
    func acceptPrefetch() -> Bool {
        change { table, _, _ in
            if !table.isClosed { delivery.accepted() }
            return !table.isClosed
        }
    }

    func postPrefetch(_ event: PrefetchEvent, to subscriber: Subscriber) { delivery.post(event, to: subscriber) }
    func mute(_ subscriber: Subscriber) { delivery.mute(subscriber) }
}

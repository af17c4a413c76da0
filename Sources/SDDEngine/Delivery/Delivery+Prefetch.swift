import SDDBase

/// Delivers the events of a `Prefetcher`'s lists, in the order in which they are posted.
extension Delivery {
    /// Queues an event of a list whose end is outstanding. Callable from any thread; never calls the application.
    func post(_ event: PrefetchEvent, to listener: Listener) {
        let wakes = state.withLock { state in
            state.queue.append(.prefetch(listener, event))
            updateBell(&state)
            return state.sleepers > 0
        }
        if wakes { state.broadcast() }
    }

    /// Drops the queued and future events, except the end, of a list that was cancelled.
    func mute(_ listener: Listener) { state.withLock { _ in listener.isMuted = true } }

    /// Calls the application, with no lock held.
    func perform(_ event: PrefetchEvent, for listener: Listener) {
        listener.callbacks.prefetched(event, token: listener.token)
        // In a forked child the remaining steps are left to the parent.
        guard event.isEnd, !isForked else { return }
        listener.callbacks.released()
        settled()
    }
}

extension Downloader {
    /// Counts an accepted list, whose end is owed from now on.
    /// - Returns: false if the downloader is being destroyed.
    func acceptPrefetch() -> Bool {
        change { table, _ in
            if !table.isClosed { delivery.accepted() }
            return !table.isClosed
        }
    }

    func postPrefetch(_ event: PrefetchEvent, to listener: Listener) { delivery.post(event, to: listener) }
    func mute(_ listener: Listener) { delivery.mute(listener) }
}

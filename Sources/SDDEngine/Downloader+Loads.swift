/// Functions by which loads and prefetch lists use the downloader that runs their requests. Callable from any thread.
extension Downloader {
    /// Admits a load. Unless the result is `nobody`, the end of the load is owed from now on.
    func admitLoad() -> LoadGate.Admission {
        // The load is counted first: `destroy` closes the gate, and then waits for everything that is owed.
        delivery.accepted()
        let admission = gate.admit()
        if admission == .nobody { delivery.settled() }
        return admission
    }

    /// Counts an accepted list, whose end is owed from now on.
    /// - Returns: false if the downloader is being destroyed.
    func acceptPrefetch() -> Bool {
        delivery.accepted()
        if gate.has(.closed) { delivery.settled() }
        return !gate.has(.closed)
    }

    /// Submits a request of a load, with the load's token. Its end is reported to `Listener.stages`.
    /// - Parameter hit: what the cache has for it; nil if it goes to the network.
    /// - Returns: false if the downloader is being destroyed; the listener then gets no events.
    func submitStage(_ request: DownloadRequest, found hit: CacheHit?, _ listener: Listener) -> Bool {
        change { table, now in
            if table.isClosed { return false }
            var request = request
            request.isPrompt = listener.isImmediate
            table.submitted(request, found: hit, token: listener.token, listener: listener, at: now)
            return true
        }
    }

    /// Cancels the current request of a load, if there is one. Queued events of the load are no longer delivered.
    func cancelStage(_ listener: Listener) {
        delivery.mute(listener)
        _ = change { table, now in table.cancelled(listener.token, at: now) }
    }

    /// Delivers the cached image of a load before its end.
    func show(_ listener: Listener, _ result: DownloadResult) {
        guard listener.isImmediate else { return delivery.post(.cached(listener, result)) }
        // The listener does not belong to the application, so nothing waits for delivery.
        result.delivered()
        listener.callbacks.foundCached(result, token: listener.token)
    }

    /// Delivers the end of a load.
    func finish(_ listener: Listener, _ result: DownloadResult) {
        gate.ended(result.error)
        delivery.post(.end(listener, result))
    }

    func postPrefetch(_ event: PrefetchEvent, to listener: Listener) { delivery.post(.prefetch(listener, event)) }
    func mute(_ listener: Listener) { delivery.mute(listener) }

    /// Makes sdd-net look at the clocks of loads by this time.
    func wakeForLoads(by time: Int64) {
        if loaders.plan(at: time) { wakeTransport() }
    }
}

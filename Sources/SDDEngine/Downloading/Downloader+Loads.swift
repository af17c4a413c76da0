/// Functions by which loads and prefetch lists use the downloader that runs their requests. Callable from any thread.
extension Downloader {
    /// Cancels the current request of a load, if there is one. Queued events of the load are no longer delivered.
    func cancelStage(_ listener: Listener) {
        delivery.mute(listener)
        _ = change { table, now in table.cancelled(listener.token, at: now) }
    }

    /// Delivers the cached image of a load before its end.
    func show(_ listener: Listener, _ result: DownloadResult) {
        guard listener.isImmediate else { return delivery.post(.cached(listener, result), to: listener) }
        // The listener does not belong to the application, so nothing waits for delivery.
        result.delivered()
        listener.callbacks.foundCached(result, token: listener.token)
    }

    /// Delivers the end of a load.
    func finish(_ listener: Listener, _ result: DownloadResult) {
        gate.loadEnded(result.error)
        delivery.post(.end(listener, result), to: listener)
    }

    func postPrefetch(_ event: PrefetchEvent, to listener: Listener) {
        delivery.post(.prefetch(listener, event), to: listener)
    }
    func mute(_ listener: Listener) { delivery.mute(listener) }

    /// Makes sdd-net look at the clocks of loads by this time.
    func wakeForLoads(by time: Int64) {
        if loaders.plan(at: time) { wakeTransport() }
    }
}

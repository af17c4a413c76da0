import SDDBase

/// Functions by which loads use the downloader that runs their stages as requests. Callable from any thread.
extension Downloader {
    /// Admits a load. Unless the result is `nobody`, the end of the load is owed from now on.
    func admitLoad() -> LoadAdmission {
        change { table, _ in
            let admission = table.loadSubmitted()
            if admission != .nobody { delivery.accepted() }
            return admission
        }
    }

    /// - Returns: false if the downloader is being destroyed; the listener then gets no events.
    func submitStage(_ request: DownloadRequest, _ listener: Listener) -> Bool {
        change { table, now in
            if table.isClosed { return false }
            var request = request
            request.isPrompt = listener.isImmediate
            table.submitted(request, token: listener.token, listener: listener, at: now)
            return true
        }
    }

    /// Cancels the current stage of a load, if there is one. Queued events of the load are no longer delivered.
    func cancelStage(_ listener: Listener) {
        delivery.mute(listener)
        _ = change { table, now in table.cancelled(listener.token, at: now) }
    }

    func show(_ listener: Listener, _ result: DownloadResult) {
        // A listener that is called immediately does not belong to the application, so nothing is queued for
        // delivery.
        if listener.isImmediate {
            result.delivered()
            return listener.callbacks.foundCached(result, token: listener.token)
        }
        change { table, _ in table.outbox.append(.cached(listener, result)) }
    }

    func finish(_ listener: Listener, _ result: DownloadResult) {
        change { table, _ in table.loadFinished(listener, result) }
    }
}

/// The loaders that use one downloader, held weakly. Callable from any thread.
final class LoaderList: Sendable {
    private struct Entry {
        weak var loader: Loader?
    }

    private let entries = Monitor<[Entry]>([])

    func add(_ loader: Loader) {
        let others = entries.withLock { entries in
            let others = entries.compactMap { $0.loader }
            entries = (others + [loader]).map { Entry(loader: $0) }
            return others
        }
        // A reference may be the last one to its loader, and is released without the lock.
        withExtendedLifetime(others) {}
    }

    private var living: [Loader] { entries.withLock { entries in entries.compactMap { $0.loader } } }

    func cancelledAll() {
        for loader in living { loader.cancelledAll() }
    }
}

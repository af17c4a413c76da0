import SDDBase

/// What loads ask of the downloader whose requests their stages are. Any thread.
extension Downloader {
    /// But for `nobody`, the load's end is owed from now on.
    func admitLoad() -> LoadAdmission {
        change { table, _, _ in
            let admission = table.loadSubmitted()
            if admission != .nobody { delivery.accepted() }
            return admission
        }
    }

    /// - Returns: false when the downloader is being destroyed: then nobody will hear anything.
    func submitStage(_ request: DownloadRequest, _ subscriber: Subscriber) -> Bool {
        change { table, now, effects in
            if table.isClosed { return false }
            var request = request
            request.isPrompt = subscriber.isImmediate
            table.submitted(request, token: subscriber.token, subscriber: subscriber, at: now, &effects)
            return true
        }
    }

    /// Of the stage that a load is at; harmless where it is at none. No more is told of what is queued.
    func cancelStage(_ subscriber: Subscriber) {
        delivery.mute(subscriber)
        _ = change { table, now, effects in table.cancelled(subscriber.token, at: now, &effects) }
    }

    func show(_ subscriber: Subscriber, _ result: DownloadResult) {
        // Who is told at once is none of the application's.
        if subscriber.isImmediate {
            result.delivered()
            return subscriber.receiver.foundCached(result, token: subscriber.token)
        }
        change { _, _, effects in effects.append(.cached(subscriber, result)) }
    }

    func finish(_ subscriber: Subscriber, _ result: DownloadResult) {
        change { table, _, effects in table.loadFinished(subscriber, result, &effects) }
    }
}

/// What becomes of a load that is submitted.
enum LoadAdmission {
    case accepted
    /// The downloader takes no more requests: its end says so.
    case refused
    /// The downloader is being destroyed: nobody will hear anything.
    case nobody
}

/// The loaders over one downloader, which does not keep them alive. Any thread.
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
        // One of them may be held by nobody else any more, and is let go without the lock.
        withExtendedLifetime(others) {}
    }

    private var living: [Loader] { entries.withLock { entries in entries.compactMap { $0.loader } } }

    func cancelledAll() {
        for loader in living { loader.cancelledAll() }
    }
}

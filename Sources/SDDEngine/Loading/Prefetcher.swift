package import SDDBase

/// Loads lists of URLs ahead of time. Keeps the `PrefetchTable` under its lock and runs the table's actions outside it:
/// loads, and events that a downloader delivers. Belongs to a loader's handle. Thread-safe.
package final class Prefetcher: Sendable {
    /// A list in progress, and the listener of its events.
    private struct Job: Sendable {
        let list: PrefetchList
        let listener: Listener
    }

    private typealias Action = PrefetchTable<Job>.Action

    private struct State {
        var table: PrefetchTable<Job>
        /// Actions in the order in which the table decided them.
        var actions: [Action] = []
        /// Whether a thread is running actions.
        var isRunning = false

        /// Takes all actions for the caller to run. If there are none, no thread is running actions any more.
        mutating func takeActions() -> [Action] {
            defer { actions = [] }
            isRunning = !actions.isEmpty
            return actions
        }
    }

    private let state: Monitor<State>
    private let downloader: Downloader
    private let seat = TokenSeat()

    /// - Parameters:
    ///   - downloader: the downloader that delivers the events of lists.
    ///   - limit: concurrent loads over all lists.
    package init(delivering downloader: Downloader, limit: Int = 3) {
        state = Monitor(State(table: PrefetchTable(limit: limit)))
        self.downloader = downloader
        seat.join(self)
    }

    /// Accepts a list; its callbacks are told of its end once, never inside this call.
    /// - Returns: its token; nil if the downloader is being destroyed: then the callbacks are told nothing.
    package func submit(_ list: PrefetchList, callbacks: any AppCallbacks) -> UInt64? {
        let listener = Listener(token: seat.makeToken(), callbacks: callbacks)
        guard downloader.isAdmitted() else { return nil }
        let job = Job(list: list, listener: listener)
        change { table, actions in
            table.submitted(
                job, token: listener.token, count: list.urls.count, priority: list.priority, &actions)
        }
        return listener.token
    }

    package func cancelAll() { change { table, actions in table.cancelledAll(&actions) } }

    /// Cancels all lists; later ones end as cancelled at once.
    package func close() { change { table, actions in table.closed(&actions) } }

    package func setLimit(_ limit: Int) { change { table, actions in table.limitChanged(to: limit, &actions) } }

    /// The number of lists that have not ended.
    package var listCount: Int { state.withLock { $0.table.listCount } }
}

extension Prefetcher: TokenOwner {
    /// Cancels a list. No step of its URLs is delivered after this returns.
    package func cancel(_ token: UInt64) -> Cancelled? {
        change { table, actions in table.cancelled(token, &actions) } ? Cancelled() : nil
    }

    package func setPriority(_ priority: Priority, of token: UInt64) -> Bool {
        change { table, actions in table.prioritySet(priority, of: token, &actions) }
    }

    package func information(on token: UInt64) -> RequestInformation? {
        state.withLock { $0.table.priority(ofList: token) }.map { RequestInformation(listOf: $0) }
    }
}

// MARK: - Actions

extension Prefetcher {
    private func change<Outcome>(_ event: (inout PrefetchTable<Job>, inout [Action]) -> Outcome) -> Outcome {
        let (outcome, muted) = state.withLock { state in
            let count = state.actions.count
            let outcome = event(&state.table, &state.actions)
            return (outcome, state.actions[count...].compactMap(Self.cancelled))
        }
        // Mute now, and not where the end is run: that may be later, on another thread.
        for listener in muted { downloader.mute(listener) }
        run()
        return outcome
    }

    private static func cancelled(_ action: Action) -> Listener? {
        guard case .tell(let job, .end(let report)) = action, report.isCancelled else { return nil }
        return job.listener
    }

    /// Runs actions on one thread at a time, so that the application gets events in the order in which they were
    /// decided. Actions that are added meanwhile, even from inside an action, are left to that thread: otherwise a list
    /// of loads that end at once would recurse as deep as the list is long.
    private func run() {
        var actions = state.withLock { $0.isRunning ? [] : $0.takeActions() }
        while !actions.isEmpty {
            for action in actions { run(action) }
            actions = state.withLock { $0.takeActions() }
        }
    }

    private func run(_ action: Action) {
        switch action {
        case .start(let id, let index, let priority, let job):
            start(id, job.list.urls[index], priority, job.list)
        case .cancel(let token, let job): job.list.loads.cancel(token)
        case .setPriority(let token, let priority, let job): job.list.loads.setPriority(priority, of: token)
        case .tell(let job, let event): downloader.postPrefetch(event, to: job.listener)
        }
    }

    private func start(
        _ id: UInt64, _ url: Result<ImageURL, DownloadError>, _ priority: Priority, _ list: PrefetchList
    ) {
        let loads = list.loads
        let callbacks = PrefetchedLoad(id: id, prefetcher: self, isToDisk: list.isToDisk)
        do throws(DownloadError) {
            guard let token = try loads.prefetch(url.get(), priority: priority, callbacks: callbacks) else {
                throw .closed
            }
            // Apply changes that came before the load's token was known.
            let (goesOn, newest) = state.withLock { state in
                (state.table.started(id, token: token), state.table.priority(ofLoad: id))
            }
            if !goesOn { return loads.cancel(token) }
            if let newest, newest != priority { loads.setPriority(newest, of: token) }
        } catch {
            callbacks.failed(error)
        }
    }

    fileprivate func ended(_ id: UInt64, _ result: DownloadResult) {
        change { table, actions in table.ended(id, result, &actions) }
    }
}

/// Tells the prefetcher of the end of one URL's load. Called on the thread that decides the end.
private final class PrefetchedLoad: AppCallbacks {
    private let id: UInt64
    private let prefetcher: Prefetcher
    private let isToDisk: Bool

    init(id: UInt64, prefetcher: Prefetcher, isToDisk: Bool) {
        self.id = id
        self.prefetcher = prefetcher
        self.isToDisk = isToDisk
    }

    func completed(_ result: DownloadResult, token: UInt64) {
        prefetcher.ended(id, isToDisk ? result.asStore : result)
    }

    /// Ends a load that could not begin.
    func failed(_ error: DownloadError) {
        let now = SystemTime().monotonicMicroseconds()
        prefetcher.ended(id, DownloadResult(error: error, stage: .submit, ended: now))
    }
}

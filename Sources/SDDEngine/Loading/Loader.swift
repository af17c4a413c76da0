package import SDDBase
import SDDCoders
import SDDTransport

/// A loader: keeps the `LoadTable` under its lock and runs the actions outside it, as requests of its downloader. Has
/// no thread of its own. Thread-safe.
package final class Loader: LoadRunner, Sendable {
    package let downloader: Downloader
    private let table: Monitor<LoadTable>
    private let hooks: any LoadHooks
    private let time = SystemTime()
    private let seat = TokenSeat()

    package init(_ downloader: Downloader, failPolicy: FailurePolicy, hooks: any LoadHooks) {
        self.downloader = downloader
        self.hooks = hooks
        table = Monitor(
            LoadTable(
                failures: FailedURLs(policy: failPolicy), consults: hooks.hasShouldDownload,
                judges: hooks.hasShouldBlock)
        )
        downloader.loaders.add(self)
        seat.join(self)
    }
}

/// The application's hooks into loads. Called on the deciding thread, with no lock held.
package protocol LoadHooks: AnyObject, Sendable {
    var hasShouldDownload: Bool { get }
    var hasShouldBlock: Bool { get }
    func shouldDownload(_ url: String) -> Bool
    /// Returns whether to block the URL; `nil` leaves it to the policy.
    func shouldBlock(_ url: String, _ result: DownloadResult) -> Bool?
}

// MARK: - Loads

extension Loader {
    /// Accepts a load; its callbacks are told of its end once.
    /// - Parameter isImmediate: as for `Downloader.submit`.
    /// - Returns: its token; nil if the downloader is being destroyed: then the callbacks are told nothing.
    package func submit(_ plan: LoadPlan, callbacks: any AppCallbacks, isImmediate: Bool = false) -> UInt64? {
        let listener = Listener(
            token: seat.makeToken(), callbacks: callbacks, isImmediate: isImmediate, stages: self)
        guard downloader.isAdmitted() else { return nil }
        let isRefused = !downloader.gate.admitsLoad()
        let memoryVersion = plan.lookup.map { $0.versionAhead ?? $0.memoryVersion } ?? 0
        let load = Load(listener, plan, memoryVersion: memoryVersion, settled: downloader.stores.settled)
        let step = plan.lookup?.firstStep()
        change { table, now, actions in
            table.submitted(load, isRefused: isRefused, step, at: now, &actions)
        }
        // A downloader that cancels everything may have looked for loads before this one was there.
        if downloader.gate.has(.cancelling) { _ = cancel(load.token) }
        return listener.token
    }

    package func cancelAll() {
        for token in table.withLock({ $0.tokens }) { _ = cancel(token) }
    }

    /// Cancels all loads, also those that are being submitted.
    package func close() {
        for token in table.withLock({ $0.closed() }) { _ = cancel(token) }
    }

    func makeToken() -> UInt64 { seat.makeToken() }

    package var runningCount: Int { table.withLock { $0.count } }

    package func removeFailed(_ url: String) { table.withLock { $0.removeFailed(url) } }
    package func removeAllFailed() { table.withLock { $0.removeAllFailed() } }
    package func isBlocked(_ url: String) -> Bool {
        table.withLock { $0.isBlocked(url, at: time.monotonicMicroseconds()) }
    }
}

extension Loader: TokenOwner {
    package func cancel(_ token: UInt64) -> Cancelled? {
        // The end of a request that is under way ends the load. Between two of them the loader's own table ends it.
        if downloader.cancel(token) != nil { return Cancelled() }
        let isCancelled = change { table, now, actions in table.cancelled(token, at: now, &actions) }
        return isCancelled ? Cancelled() : nil
    }

    /// Ends loads whose time has run out. Thread: sdd-net.
    /// - Returns: the time at which to look again.
    func clocksLookedAt() -> Int64 {
        change { table, now, actions in
            table.clocksLookedAt(at: now, &actions)
            return table.nextDeadline()
        }
    }

    package func setPriority(_ priority: Priority, of token: UInt64) -> Bool {
        let isKnown = change { table, _, actions in table.prioritySet(priority, of: token, &actions) }
        return downloader.setPriority(priority, of: token) || isKnown
    }

    package func information(on token: UInt64) -> RequestInformation? {
        downloader.information(on: token)
            ?? table.withLock { table in
                table.load(of: token).map { RequestInformation($0, at: time.monotonicMicroseconds()) }
            }
    }
}

// MARK: - Actions

extension Loader: StageListener {
    private func change<Outcome>(_ event: (inout LoadTable, Int64, inout [LoadTable.Action]) -> Outcome) -> Outcome {
        var actions: [LoadTable.Action] = []
        let outcome = table.withLock { table in event(&table, time.monotonicMicroseconds(), &actions) }
        for action in actions { run(action) }
        return outcome
    }

    /// Runs on the thread that reported the event: the caller's, sdd-net, a decode or a disk thread.
    private func run(_ action: LoadTable.Action) {
        switch action {
        case .ask(let load, let step): ask(load, step)
        case .raise(let load, let priority):
            if let wish = load.wish { load.plan.lookup?.raise(wish, to: priority) }
        case .release: break
        case .lookAtClocks(let time): downloader.wakeForLoads(by: time)
        case .look(let load, let source, let limit): look(load, source, limit: limit)
        case .make(let load, let hit, let limit): make(load, hit, limit: limit)
        case .consult(let load):
            let mayFetch = hooks.shouldDownload(load.plan.sources[0].url)
            change { table, now, actions in table.consulted(load.token, mayFetch: mayFetch, at: now, &actions) }
        case .fetch(let load, let source, let limit): fetch(load, source, limit: limit)
        case .show(let load, let result): downloader.show(load.listener, result)
        case .judge(let load, let result): judge(load, result)
        case .store(let load, let result, let waits):
            store(load, result, waits: waits) { [self] error in
                guard waits else { return }
                change { table, now, actions in table.stored(load.token, error, at: now, &actions) }
            }
        case .finish(let load, let result): downloader.finish(load.listener, result)
        case .cancelRequest(let load): downloader.cancelStage(load.listener)
        }
    }

    /// Handles the end of a load's request.
    func stageEnded(_ result: DownloadResult, of token: UInt64) {
        let retryAfter = retryAfter(in: result)
        change { table, now, actions in
            table.requestEnded(token, result, retryAfter: retryAfter, at: now, &actions)
        }
    }

    /// Returns the server's Retry-After in microseconds; `nil` if it sent none.
    private func retryAfter(in result: DownloadResult) -> Int64? {
        guard result.error?.code == .invalidStatusCode else { return nil }
        return RetryAfter.seconds(in: result.response, now: time.wallMicroseconds() / 1_000_000).map { $0 * 1_000_000 }
    }

    private func judge(_ load: Load, _ result: DownloadResult) {
        // The index is valid: a load is judged for the source being tried.
        let url = load.plan.sources[load.source].url
        let isBlocked = result.error == nil ? nil : hooks.shouldBlock(url, result)
        let retryAfter = retryAfter(in: result)
        change { table, now, actions in
            table.judged(load, result, isBlocked: isBlocked, retryAfter: retryAfter, at: now, &actions)
        }
    }
}

// MARK: - The stages

extension Loader {
    /// Looks in the cache's other levels, on a disk thread.
    private func ask(_ load: Load, _ step: ImageCacheLookup.Step) {
        guard let lookup = load.plan.lookup else { return }
        lookup.finish(step, for: load.wish) { [self] hit in
            let waiting = change { table, now, actions in table.answered(lookup, hit, at: now, &actions) }
            withExtendedLifetime(waiting) {}
        }
    }

    /// Looks in the HTTP cache, and makes the image of what it has.
    private func look(_ load: Load, _ source: LoadPlan.Source, limit: Int64) {
        guard case .success(var request) = source.request else { return }
        request.totalLimit = limit
        (request.wantsProgress, request.wantsPreviews) = (false, false)
        request.useOnlyStored()
        start(request, of: load)
    }

    /// Makes the image from the content of the cache, on a decode thread.
    private func make(_ load: Load, _ hit: CacheHit, limit: Int64) {
        if let held = foundMeanwhile(load) {
            return stageEnded(held.result(held.image, at: time.monotonicMicroseconds()), of: load.token)
        }
        guard let lookup = load.plan.lookup else { return }
        var request = DownloadRequest(transfer: HTTPRequest(url: ImageURL(key: lookup.originalKey)))
        request.lookup = lookup
        request.wantsPixels = load.plan.wantsPixels
        request.form = load.plan.form
        request.wantsFacts = load.plan.wantsFacts
        request.totalLimit = limit
        start(request, found: hit, of: load)
    }

    private func fetch(_ load: Load, _ source: LoadPlan.Source, limit: Int64) {
        guard case .success(var request) = source.request else { return }
        if !load.has(.refreshCached), let hit = foundMeanwhile(load) {
            return change { table, now, actions in
                table.foundMeanwhile(load.token, hit.result(hit.image, at: now), at: now, &actions)
            }
        }
        request.totalLimit = limit
        if load.asksHTTPCache { request.useOnlyHTTPCache() }
        // An alternative's image is stored as the load's own only if its request identifies the caller in the same way.
        let isOfSameCaller = source.caller == load.plan.sources[0].caller
        let keeper = isOfSameCaller ? load.plan.store?.original : nil
        request.keeper = load.source == 0 ? keeper : keeper?.ofAlternative
        if isOfSameCaller { request.pixelKeeper = load.plan.store?.pixelKeeper }
        if load.asksHTTPCache {
            // The request has its lookup.
        } else if load.has(.refreshCached), load.source == 0 {
            if load.shown != nil { request.wantsPreviews = false }
            if let lookup = load.plan.refreshing(request, isShown: load.shown != nil) { request.lookup = lookup }
        } else if !load.isCacheBad, isOfSameCaller, let lookup = load.plan.sharing(request) {
            // Whether a claim is needed is decided when the transfer is to start, unless the request looks for a part.
            if request.lookup == nil {
                request.claiming = ClaimIfShared(lookup: lookup, settled: load.settled)
            } else {
                request.lookup = lookup
            }
        }
        if !load.has(.refreshCached) { request.search = load.plan.lookup?.memorySearch }
        start(request, of: load)
    }

    /// Looks in memory once more if images were stored there since the load began: another load may have brought this
    /// one.
    private func foundMeanwhile(_ load: Load) -> CacheHit? {
        guard let lookup = load.plan.lookup, lookup.memoryVersion != load.memoryVersion else { return nil }
        return lookup.memoryHit()
    }

    private func start(_ request: DownloadRequest, found hit: CacheHit? = nil, of load: Load) {
        var request = request
        request.isStage = true
        request.priority = load.priority
        if request.maxAttempts == 0 { request.maxAttempts = max(2, downloader.configuration.maxAttempts) }
        downloader.submit(request, found: hit, load.listener)
        // Apply changes that came after the table had decided, and before the request existed.
        var applied = request.priority
        while load.priority != applied {
            applied = load.priority
            _ = downloader.setPriority(applied, of: load.token)
        }
        if load.isCancelled { downloader.cancelStage(load.listener) }
    }
}

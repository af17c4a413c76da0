import SDDBase
import SDDCaches
import SDDTransport

/// Makes all decisions of a loader: each load's next stage, and its result. A state machine: events in, actions out. It
/// knows no thread, clock, cache or callback; `Loader` keeps it under a lock and runs the actions.
///
/// A load goes from stage to stage. At each stage only one operation is under way for it, and the end of that is the
/// next event: asking → (making, or consulting → fetching → judging → the next source) → storing → finished. A
/// cancelled load ends at once, except while the downloader has a request of it, or is about to get one: the end of
/// that is the end of the load.
struct LoadTable {
    enum Action {
        /// Read the cache's entry, for this load and all others with the same lookup.
        case ask(Load, ImageCacheLookup.Step)
        /// Make the lookup that a load has started at least as urgent as this.
        case raise(Load, to: Priority)
        /// Look at the clocks of loads by this time, in microseconds of the monotonic clock.
        case lookAtClocks(by: Int64)
        /// Look in the HTTP cache alone.
        case look(Load, LoadPlan.Source, limit: Int64)
        /// Make the image from what the cache has.
        case make(Load, CacheHit, limit: Int64)
        /// Ask the application whether the load may download.
        case consult(Load)
        case fetch(Load, LoadPlan.Source, limit: Int64)
        /// Deliver the cached result while the server is asked.
        case show(Load, DownloadResult)
        /// Ask the application whether a URL that failed is to be blocked.
        case judge(Load, DownloadResult)
        /// Store the result in the cache; the end of that is an event if `waits`.
        case store(Load, DownloadResult, waits: Bool)
        case finish(Load, DownloadResult)
        /// Release loads that have ended without the lock: they may hold the last references to objects of the
        /// application.
        case release([Load])
        /// Cancel the downloader's request of the load, and discard the load's undelivered events.
        case cancelRequest(Load)
    }

    private(set) var loads = NumberMap<Load>()
    private(set) var isClosed = false
    private(set) var failures: FailedURLs
    private(set) var lookups = LookupIndex()
    /// The time limits of loads that wait for the cache: the downloader enforces those of its requests.
    private var deadlines = Deadlines<Limit>()
    /// Whether the application has hooks for these decisions.
    let consults: Bool
    let judges: Bool

    init(failures: FailedURLs, consults: Bool = false, judges: Bool = false) {
        self.failures = failures
        self.consults = consults
        self.judges = judges
    }

    var count: Int { loads.count }
    var tokens: [UInt64] { loads.sortedValues.map { $0.token } }
    func load(of token: UInt64) -> Load? { loads[token] }

    /// The kind of `deadlines`.
    private enum Limit { case total }
}

// MARK: - From the cache

extension LoadTable {
    /// Accepts a load.
    /// - Parameters:
    ///   - isRefused: the downloader takes no more requests.
    ///   - step: the rest of the cache lookup, after memory was searched; nil without a cache.
    mutating func submitted(
        _ load: Load, isRefused: Bool = false, _ step: ImageCacheLookup.Step? = nil, at now: Int64,
        _ actions: inout [Action]
    ) {
        Trace.step("accept the load", .loader)
        load.submitted = now
        loads[load.token] = load
        if let error = isRefused ? .closed : load.plan.refusal {
            return finish(load, error: error, stage: .submit, at: now, &actions)
        }
        if isClosed { return finish(load, error: .cancelledWaiting, stage: .submit, at: now, &actions) }
        guard let lookup = load.plan.lookup, let step else { return look(load, at: now, &actions) }
        if case .done(let hit) = step { return answered(load, hit, at: now, &actions) }
        limitLookup(of: load, at: now, &actions)
        let first = lookups.join(load, lookup)
        if first === load { return actions.append(.ask(load, step)) }
        load.settled = min(load.settled, first.settled)
        actions.append(.raise(first, to: load.priority))
    }

    private mutating func limitLookup(of load: Load, at now: Int64, _ actions: inout [Action]) {
        guard load.plan.totalLimit > 0 else { return }
        actions.append(.lookAtClocks(by: now + load.plan.totalLimit))
        let all = loads
        deadlines.add(.total, of: load.token, after: load.plan.totalLimit, from: now) { all[$0]?.stage == .asking }
    }

    /// Handles what a lookup has found, for all loads that wait for it.
    /// - Returns: the loads that have waited, to be released without the lock: the last reference to a cancelled one,
    ///   and to objects of the application in it, may be here.
    mutating func answered(
        _ lookup: ImageCacheLookup, _ hit: CacheHit?, at now: Int64, _ actions: inout [Action]
    ) -> [Load] {
        Trace.step("take the answer of the disk, and decide what follows", .loader)
        let waiting = lookups.remove(lookup)
        for load in waiting where loads[load.token] === load && load.stage == .asking {
            answered(load, hit, at: now, &actions)
        }
        return waiting
    }

    /// Handles what the lookup of a single load has found.
    mutating func answered(_ token: UInt64, _ hit: CacheHit?, at now: Int64, _ actions: inout [Action]) {
        guard let load = loads[token], load.stage == .asking else { return }
        answered(load, hit, at: now, &actions)
    }

    private mutating func answered(_ load: Load, _ hit: CacheHit?, at now: Int64, _ actions: inout [Action]) {
        load.answered = now
        guard let hit else { return goOn(load, at: now, &actions) }
        if let result = hit.result(for: load.plan, at: now) { return found(load, result, at: now, &actions) }
        guard let limit = timeLeft(for: load, at: now) else {
            return finish(load, error: .tookTooLong, stage: .queue, at: now, &actions)
        }
        load.stage = .making
        actions.append(.make(load, hit, limit: limit))
    }

    /// Takes what the HTTP cache has, however stale, for a load that uses nothing else, or that shows it while the server
    /// is asked. Its alternatives have entries of their own.
    private mutating func look(_ load: Load, at now: Int64, _ actions: inout [Action]) {
        let next = load.plan.sources[load.source...].firstIndex { $0.usesHTTPCache }
        guard let next, load.has(.fromCacheOnly) || load.has(.refreshCached) && next == 0 else {
            load.source = 0
            return goOn(load, at: now, &actions)
        }
        guard let limit = timeLeft(for: load, at: now) else {
            return finish(load, error: .tookTooLong, stage: .queue, at: now, &actions)
        }
        load.source = next
        load.stage = .making
        actions.append(.look(load, load.plan.sources[next], limit: limit))
    }

    /// Handles the image made from a cache's content, or the failure to make it.
    private mutating func made(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        if isOver(load, result) { return finish(load, result, at: now, &actions) }
        load.isCacheBad = result.error?.code == .badImageData
        if let error = result.error {
            // The cache has the image, and this machine cannot show it now.
            if load.has(.fromCacheOnly), error.errorClass == .system {
                return finish(load, result, at: now, &actions)
            }
            // A transform fails for the same picture from the network, too.
            if error.detail == .imageTransform, !load.has(.refreshCached) {
                return finish(load, result, at: now, &actions)
            }
            if load.plan.lookup == nil {
                load.source += 1
                return look(load, at: now, &actions)
            }
            // Whatever failed, the network may have the image.
            return goOn(load, at: now, &actions)
        }
        found(load, result, at: now, &actions)
    }

    private mutating func found(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        guard load.has(.refreshCached), !load.has(.fromCacheOnly) else {
            if isToBeStored(load, result) { return store(load, result, at: now, &actions) }
            return finish(load, result, at: now, &actions)
        }
        if isToBeStored(load, result) { actions.append(.store(load, result, waits: false)) }
        load.shown = result
        actions.append(.show(load, result.ofLoad(load, at: now, isInterim: true)))
        goOn(load, at: now, &actions)
    }

    /// Whether the image was made from a cached original, and is stored like one made from a download.
    private func isToBeStored(_ load: Load, _ result: DownloadResult) -> Bool {
        guard result.isOfOriginal, result.image != nil, let store = load.plan.store else { return false }
        return store.isMade && store.levels.contains(.disk)
    }

    /// Whether the load ends here: it was cancelled, or failed in a way that no other source can help with.
    private func isOver(_ load: Load, _ result: DownloadResult) -> Bool {
        load.isCancelled || result.error?.code == .cancelled || result.error?.detail == .timeoutTotal
            || result.error?.detail == .closed
    }

    private mutating func goOn(_ load: Load, at now: Int64, _ actions: inout [Action]) {
        if load.has(.fromCacheOnly) { return finish(load, error: .notCached, stage: .queue, at: now, &actions) }
        // The application is not asked about a load that may not download anyway.
        guard consults, mayFetch(load, at: now) else { return fetch(load, at: now, &actions) }
        load.stage = .consulting
        actions.append(.consult(load))
    }

    /// Handles the application's decision whether to download.
    mutating func consulted(_ token: UInt64, mayFetch: Bool, at now: Int64, _ actions: inout [Action]) {
        guard let load = loads[token], load.stage == .consulting else { return }
        if mayFetch { return fetch(load, at: now, &actions) }
        // The cached result already shown is the final one.
        if let shown = load.shown { return finish(load, shown, at: now, &actions) }
        finish(load, error: .notCached, stage: .queue, at: now, &actions)
    }
}

// MARK: - From the network

extension LoadTable {
    /// Whether a source of the load is valid and not blocked.
    private func mayFetch(_ load: Load, at now: Int64) -> Bool {
        let sources = load.shown == nil ? load.plan.sources[...] : load.plan.sources.prefix(1)
        return sources.contains { source in
            if case .success = source.request { !isBlocked(source, for: load, at: now) } else { false }
        }
    }

    private func isBlocked(_ source: LoadPlan.Source, for load: Load, at now: Int64) -> Bool {
        block(source, for: load, at: now) != nil
    }

    private func block(_ source: LoadPlan.Source, for load: Load, at now: Int64) -> FailedURLs.Block? {
        load.has(.retryFailed) ? nil : failures.block(source.failedKey, for: source.asker, at: now)
    }

    /// Fetches from the next source that may be tried. This is where the list of failed URLs is asked: it bars the
    /// network, and never the caches, which were asked before.
    private mutating func fetch(_ load: Load, at now: Int64, _ actions: inout [Action]) {
        guard let limit = timeLeft(for: load, at: now) else {
            return finish(load, error: .tookTooLong, stage: .queue, at: now, &actions)
        }
        while load.source < load.plan.sources.count, !isLeftToItsURL(load) {
            let source = load.plan.sources[load.source]
            if case .failure(let error) = source.request {
                note(DownloadResult(error: error, stage: .submit, ended: now), of: source, in: load)
                continue
            }
            let block = block(source, for: load, at: now)
            if let block, !source.usesHTTPCache || load.asksHTTPCache || load.shown != nil {
                note(block.result(at: now), of: source, in: load)
            } else {
                // The HTTP cache is asked by the download, which goes no further for a blocked URL.
                load.asksHTTPCache = block != nil
                load.stage = .fetching
                return actions.append(.fetch(load, source, limit: limit))
            }
        }
        // What the application was shown is what it gets, as if it had forbidden the download itself.
        if let shown = load.shown, load.failures.last?.error.code == .blocked {
            return finish(load, shown, at: now, &actions)
        }
        finish(
            load, load.lastFailure ?? DownloadResult(error: .notCached, stage: .queue, ended: now), at: now, &actions)
    }

    /// Returns the time that the load's next request may take, 0 for no limit; `nil` if no time is left.
    private func timeLeft(for load: Load, at now: Int64) -> Int64? {
        guard load.plan.totalLimit > 0 else { return 0 }
        let left = load.submitted + load.plan.totalLimit - now
        return left > 0 ? left : nil
    }

    /// Whether the other sources are skipped: only the load's own URL can tell if the image shown is current.
    private func isLeftToItsURL(_ load: Load) -> Bool { load.shown != nil && load.source > 0 }

    /// Finishes a load whose image another load has brought into memory since the cache was asked.
    mutating func foundMeanwhile(
        _ token: UInt64, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]
    ) {
        guard let load = loads[token], load.stage == .fetching else { return }
        finish(load, result, at: now, &actions)
    }

    private func note(_ result: DownloadResult, of source: LoadPlan.Source, in load: Load) {
        load.failures.append(SourceFailure(url: source.url, result: result))
        load.source += 1
        load.asksHTTPCache = false
    }

    /// Handles the end of a load's request.
    mutating func requestEnded(
        _ token: UInt64, _ result: DownloadResult, retryAfter: Int64?, at now: Int64, _ actions: inout [Action]
    ) {
        Trace.step("end the load", .loader)
        guard let load = loads[token] else { return }
        switch load.stage {
        case .making: made(load, result, at: now, &actions)
        case .fetching: fetched(load, result, retryAfter: retryAfter, at: now, &actions)
        case .asking, .consulting, .judging, .storing: break
        }
    }

    private mutating func fetched(
        _ load: Load, _ result: DownloadResult, retryAfter: Int64?, at now: Int64, _ actions: inout [Action]
    ) {
        guard let error = result.error else { return succeeded(load, result, at: now, &actions) }
        if error.code == .notModified { unblock(load) }
        if isOver(load, result) || error.code == .notModified { return finish(load, result, at: now, &actions) }
        // The downloader is offline, and the server was not asked.
        if error.code == .notCached, let shown = load.shown { return finish(load, shown, at: now, &actions) }
        // The URL is still blocked, and its loads were asked for nothing else.
        if load.asksHTTPCache { return fetch(load, at: now, &actions) }
        if judges {
            load.stage = .judging
            actions.append(.judge(load, result))
        } else {
            failed(load, result, isBlocked: nil, retryAfter: retryAfter, at: now, &actions)
        }
    }

    /// Handles the application's decision whether to block the URL; `nil` leaves it to the policy.
    mutating func judged(
        _ load: Load, _ result: DownloadResult, isBlocked: Bool?, retryAfter: Int64?, at now: Int64,
        _ actions: inout [Action]
    ) {
        guard loads[load.token] === load else {
            // The load was cancelled meanwhile, but its URL has failed.
            return recordFailure(of: load, result, isBlocked: isBlocked, retryAfter: retryAfter, at: now)
        }
        guard load.stage == .judging else { return }
        failed(load, result, isBlocked: isBlocked, retryAfter: retryAfter, at: now, &actions)
    }

    private mutating func recordFailure(
        of load: Load, _ result: DownloadResult, isBlocked: Bool?, retryAfter: Int64?, at now: Int64
    ) {
        guard let error = result.error, load.source < load.plan.sources.count else { return }
        let source = load.plan.sources[load.source]
        failures.record(
            source.failedKey, for: source.asker, error, status: result.httpStatus, response: result.response,
            retryAfter: retryAfter, decision: isBlocked, at: now)
    }

    private mutating func failed(
        _ load: Load, _ result: DownloadResult, isBlocked: Bool?, retryAfter: Int64?, at now: Int64,
        _ actions: inout [Action]
    ) {
        recordFailure(of: load, result, isBlocked: isBlocked, retryAfter: retryAfter, at: now)
        note(result, of: load.plan.sources[load.source], in: load)
        if isLeftToItsURL(load) || load.source == load.plan.sources.count {
            return finish(load, result, at: now, &actions)
        }
        fetch(load, at: now, &actions)
    }

    /// Lets the URL that has brought the picture, or has confirmed it, be loaded again.
    private mutating func unblock(_ load: Load) {
        let source = load.plan.sources[load.source]
        if !load.asksHTTPCache { failures.succeeded(source.failedKey, for: source.asker) }
        // An alternative brings the picture of the load's own URL.
        if load.source > 0, let own = load.plan.sources.first { failures.succeeded(own.failedKey, for: own.asker) }
    }

    private mutating func succeeded(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        unblock(load)
        let mayStore =
            load.plan.store != nil || load.has(.waitStoreCache) && load.plan.sources[load.source].usesHTTPCache
        guard mayStore else { return finish(load, result, at: now, &actions) }
        store(load, result, at: now, &actions)
    }

    private mutating func store(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        load.made = now
        let waits = load.has(.waitStoreCache) && !load.isCancelled
        actions.append(.store(load, result, waits: waits))
        guard waits else { return finish(load, result, at: now, &actions) }
        load.stage = .storing
        load.result = result
    }

    /// Finishes a load that waited for its result to be on disk.
    /// - Parameter error: why it is not.
    mutating func stored(
        _ token: UInt64, _ error: DownloadError? = nil, at now: Int64, _ actions: inout [Action]
    ) {
        guard let load = loads[token], load.stage == .storing, let result = load.result else { return }
        load.storeFailure = error.map { StoreFailure($0) }
        finish(load, result, at: now, &actions)
    }
}

// MARK: - Callers

extension LoadTable {
    /// Cancels a load.
    /// - Returns: false if the load has ended or was cancelled before.
    mutating func cancelled(_ token: UInt64, at now: Int64, _ actions: inout [Action]) -> Bool {
        Trace.step("cancel the load", .loader)
        guard let load = loads[token], !load.isCancelled else { return false }
        load.isCancelled = true
        switch load.stage {
        case .making, .fetching: actions.append(.cancelRequest(load))
        case .asking: finish(load, error: .cancelledAsking, stage: .queue, at: now, &actions)
        case .consulting, .judging: finish(load, error: .cancelledLoading, stage: .queue, at: now, &actions)
        case .storing: finish(load, error: .cancelledDecoding, stage: .decode, at: now, &actions)
        }
        return true
    }

    /// Cancels all loads that are submitted from now on.
    /// - Returns: the tokens of the loads to be cancelled.
    mutating func closed() -> [UInt64] {
        isClosed = true
        return tokens
    }

    /// Ends loads that have waited for the cache for too long.
    mutating func clocksLookedAt(at now: Int64, _ actions: inout [Action]) {
        while let deadline = deadlines.popExpired(at: now) {
            guard let load = loads[deadline.token], load.stage == .asking else { continue }
            finish(load, error: .tookTooLong, stage: .queue, at: now, &actions)
        }
    }

    /// Returns the time at which to look at the clocks; `Int64.max` for never.
    mutating func nextDeadline() -> Int64 {
        if deadlines.isEmpty { return .max }
        let all = loads
        return deadlines.next { all[$0]?.stage == .asking }
    }

    mutating func prioritySet(_ priority: Priority, of token: UInt64, _ actions: inout [Action]) -> Bool {
        guard let load = loads[token] else { return false }
        load.priority = priority
        if load.isInLookup, let lookup = load.plan.lookup, let first = lookups.first(of: lookup) {
            actions.append(.raise(first, to: priority))
        }
        return true
    }

    mutating func removeFailed(_ url: String) { failures.remove(url) }
    mutating func removeAllFailed() { failures.removeAll() }
    func isBlocked(_ url: String, at now: Int64) -> Bool { failures.isBlocked(url, at: now) }
}

// MARK: - Finishing

extension LoadTable {
    private mutating func finish(
        _ load: Load, error: DownloadError, stage: DownloadResult.Stage, at now: Int64, _ actions: inout [Action]
    ) {
        finish(load, DownloadResult(error: error, stage: stage, ended: now), at: now, &actions)
    }

    private mutating func finish(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        loads[load.token] = nil
        let left = lookups.leave(load)
        if !left.isEmpty { actions.append(.release(left)) }
        let isTooLate = load.isCancelled && result.error?.code != .cancelled
        let end = isTooLate ? DownloadResult(error: .cancelledLoading, stage: .queue, ended: now) : result
        actions.append(.finish(load, end.ofLoad(load, at: now)))
    }
}

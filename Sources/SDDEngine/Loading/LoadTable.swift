import SDDBase
import SDDTransport

/// Makes all decisions of a loader: each load's next stage, and its result. A state machine: events in, actions out. It
/// knows no thread, clock, cache or callback; `Loader` keeps it under a lock and runs the actions.
///
/// A load goes from stage to stage. At each stage only one operation is under way for it, and the end of that is the
/// next event: asking → consulting → fetching → (judging → the next source) → storing → finished.
struct LoadTable {
    enum Action {
        /// Look in the cache.
        case ask(Load)
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
        /// Discard the load's undelivered events, except its end.
        case mute(Load)
    }

    private(set) var loads = NumberMap<Load>()
    private(set) var failures: FailedURLs
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
}

/// One load. Owned by the `LoadTable`; everything mutable is touched only under its lock.
final class Load: @unchecked Sendable {
    // Safety: `submitted` and what follows it is touched only by `LoadTable`, under its loader's lock.
    let listener: Listener
    let plan: LoadPlan

    enum Stage {
        case asking, consulting, fetching, judging, storing
    }

    var submitted: Int64 = 0
    var stage = Stage.asking
    var priority: Priority
    /// The index of the source being tried.
    var source = 0
    var isCancelled = false
    /// The cache entry could not be decoded.
    var isCacheBad = false
    /// The cached result that the application has been told of.
    var shown: DownloadResult?
    /// The times when the cache had answered, and when the image was complete.
    var answered: Int64 = 0
    var made: Int64 = 0
    /// The result to deliver once it is stored.
    var result: DownloadResult?
    var failures: [SourceFailure] = []

    init(_ listener: Listener, _ plan: LoadPlan) {
        self.listener = listener
        self.plan = plan
        priority = plan.priority
    }

    var token: UInt64 { listener.token }

    func has(_ option: LoadPlan.Options) -> Bool { plan.options.contains(option) }
}

// MARK: - From the cache

extension LoadTable {
    /// Accepts a load.
    /// - Parameter isRefused: the downloader takes no more requests.
    mutating func submitted(_ load: Load, isRefused: Bool = false, at now: Int64, _ actions: inout [Action]) {
        load.submitted = now
        loads[load.token] = load
        if let error = isRefused ? .closed : refusal(of: load, at: now) {
            return finish(load, error: error, stage: .submit, at: now, &actions)
        }
        guard load.plan.lookup != nil else { return goOn(load, at: now, &actions) }
        actions.append(.ask(load))
    }

    /// Returns the error if no source can be tried: all are invalid or blocked.
    private mutating func refusal(of load: Load, at now: Int64) -> DownloadError? {
        var blocked: DownloadError?
        for source in load.plan.sources {
            switch source.request {
            case .failure(let error): blocked = blocked ?? error
            case .success:
                if load.has(.retryFailed) || !failures.isBlocked(source.failedKey, for: source.asker, at: now) {
                    return nil
                }
                blocked = .blocked
            }
        }
        return blocked
    }

    /// Handles the cache's answer.
    mutating func answered(_ token: UInt64, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        guard let load = loads[token], load.stage == .asking else { return }
        load.answered = now
        if isOver(load, result) { return finish(load, result, at: now, &actions) }
        load.isCacheBad = result.error?.code == .badImageData
        guard result.error == nil else { return goOn(load, at: now, &actions) }
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
        if load.isCancelled { return finish(load, error: .cancelledLoading, stage: .queue, at: now, &actions) }
        if load.has(.fromCacheOnly) { return finish(load, error: .notCached, stage: .queue, at: now, &actions) }
        guard consults else { return fetch(load, at: now, &actions) }
        load.stage = .consulting
        actions.append(.consult(load))
    }

    /// Handles the application's decision whether to download.
    mutating func consulted(_ token: UInt64, mayFetch: Bool, at now: Int64, _ actions: inout [Action]) {
        guard let load = loads[token], load.stage == .consulting else { return }
        if load.isCancelled { return finish(load, error: .cancelledLoading, stage: .queue, at: now, &actions) }
        if mayFetch { return fetch(load, at: now, &actions) }
        // The cached result already shown is the final one.
        if let shown = load.shown { return finish(load, shown, at: now, &actions) }
        finish(load, error: .notCached, stage: .queue, at: now, &actions)
    }
}

// MARK: - From the network

extension LoadTable {
    /// Fetches from the next source that may be tried.
    private mutating func fetch(_ load: Load, at now: Int64, _ actions: inout [Action]) {
        let isLimited = load.plan.totalLimit > 0
        let limit = isLimited ? load.submitted + load.plan.totalLimit - now : 0
        // A limit of 0 would mean no limit.
        if isLimited, limit <= 0 { return finish(load, error: .tookTooLong, stage: .queue, at: now, &actions) }
        while load.source < load.plan.sources.count, !isLeftToItsURL(load) {
            let source = load.plan.sources[load.source]
            if case .failure(let error) = source.request {
                note(DownloadResult(error: error, stage: .submit, ended: now), of: source, in: load)
            } else if !load.has(.retryFailed), failures.isBlocked(source.failedKey, for: source.asker, at: now) {
                note(DownloadResult(error: .blocked, stage: .submit, ended: now), of: source, in: load)
            } else {
                load.stage = .fetching
                return actions.append(.fetch(load, source, limit: limit))
            }
        }
        finish(
            load, load.lastFailure ?? DownloadResult(error: .notCached, stage: .queue, ended: now), at: now, &actions)
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
    }

    /// Handles the end of a download.
    mutating func fetched(
        _ token: UInt64, _ result: DownloadResult, retryAfter: Int64?, at now: Int64, _ actions: inout [Action]
    ) {
        guard let load = loads[token], load.stage == .fetching else { return }
        guard let error = result.error else { return succeeded(load, result, at: now, &actions) }
        if isOver(load, result) || error.code == .notModified { return finish(load, result, at: now, &actions) }
        if judges {
            load.stage = .judging
            actions.append(.judge(load, result))
        } else {
            failed(load, result, isBlocked: nil, retryAfter: retryAfter, at: now, &actions)
        }
    }

    /// Handles the application's decision whether to block the URL; `nil` leaves it to the policy.
    mutating func judged(
        _ token: UInt64, _ result: DownloadResult, isBlocked: Bool?, retryAfter: Int64?, at now: Int64,
        _ actions: inout [Action]
    ) {
        guard let load = loads[token], load.stage == .judging else { return }
        failed(load, result, isBlocked: isBlocked, retryAfter: retryAfter, at: now, &actions)
    }

    private mutating func failed(
        _ load: Load, _ result: DownloadResult, isBlocked: Bool?, retryAfter: Int64?, at now: Int64,
        _ actions: inout [Action]
    ) {
        let source = load.plan.sources[load.source]
        if let error = result.error {
            failures.record(
                source.failedKey, for: source.asker, error, status: result.httpStatus, response: result.response,
                retryAfter: retryAfter, decision: isBlocked, at: now)
        }
        note(result, of: source, in: load)
        if load.isCancelled { return finish(load, error: .cancelledLoading, stage: .queue, at: now, &actions) }
        if isLeftToItsURL(load) || load.source == load.plan.sources.count {
            return finish(load, result, at: now, &actions)
        }
        fetch(load, at: now, &actions)
    }

    private mutating func succeeded(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        let source = load.plan.sources[load.source]
        failures.succeeded(source.failedKey, for: source.asker)
        guard load.plan.store != nil else { return finish(load, result, at: now, &actions) }
        store(load, result, at: now, &actions)
    }

    private mutating func store(_ load: Load, _ result: DownloadResult, at now: Int64, _ actions: inout [Action]) {
        load.made = now
        let waits = load.has(.waitsForStore) && !load.isCancelled
        actions.append(.store(load, result, waits: waits))
        guard waits else { return finish(load, result, at: now, &actions) }
        load.stage = .storing
        load.result = result
    }

    /// Finishes a load that waited for its result to be on disk.
    mutating func stored(_ token: UInt64, at now: Int64, _ actions: inout [Action]) {
        guard let load = loads[token], load.stage == .storing, let result = load.result else { return }
        finish(load, result, at: now, &actions)
    }
}

// MARK: - Callers

extension LoadTable {
    /// Cancels a load.
    /// - Returns: false if the load has ended.
    mutating func cancelled(_ token: UInt64, at now: Int64, _ actions: inout [Action]) -> Bool {
        guard let load = loads[token] else { return false }
        load.isCancelled = true
        if load.stage == .storing {
            // The downloader has no request whose end would finish the load.
            finish(load, error: .cancelledDecoding, stage: .decode, at: now, &actions)
        } else {
            // The request under way, or the next stage, will finish the load.
            actions.append(.mute(load))
        }
        return true
    }

    mutating func prioritySet(_ priority: Priority, of token: UInt64) -> Bool {
        guard let load = loads[token] else { return false }
        load.priority = priority
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
        let isTooLate = load.isCancelled && result.error?.code != .cancelled
        let end = isTooLate ? DownloadResult(error: .cancelledLoading, stage: .queue, ended: now) : result
        actions.append(.finish(load, end.ofLoad(load, at: now)))
    }
}

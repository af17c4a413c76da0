@testable import SDDEngine

/// The expected behaviour of a table of loads, written down from the rows of the contract without regard to speed: for
/// each event, the words of `LoadDriver` that must follow. Remembers failures for ever, as row F4 says.
struct NaiveLoads {
    enum Stage: Equatable {
        case asking, making, consulting, storing
        case fetching
        case judging(DownloadError.Code)
    }

    struct Load {
        let name: String
        let urls: [String]
        let options: RequestOptions
        let asks: Bool
        let stores: Bool
        let end: Int64?
        var stage = Stage.asking
        var source = 0
        var isShown = false
        var isCancelled = false
        var lastError = "none"
    }

    let consults: Bool
    let judges: Bool
    /// The loads that have not ended.
    private(set) var loads: [String: Load] = [:]
    private(set) var blocked: Set<String> = []

    init(consults: Bool, judges: Bool) {
        self.consults = consults
        self.judges = judges
    }

    private func isUsable(_ url: String, _ load: Load) -> Bool {
        url != "" && (load.options.contains(.retryFailed) || !blocked.contains(url))
    }

    private mutating func over(_ load: Load, _ word: String) -> [String] {
        loads[load.name] = nil
        return ["finish \(load.name) \(load.isCancelled ? "cancelled" : word)"]
    }

    // MARK: Events

    mutating func submit(_ load: Load, at now: Int64) -> [String] {
        // M4: none of its URLs is valid.
        if load.urls.allSatisfy({ $0 == "" }) { return over(load, "invalidURL") }
        loads[load.name] = load
        return load.asks ? ["ask \(load.name)"] : missed(load, at: now)
    }

    mutating func answer(_ name: String, _ content: LoadDriver.Content, at now: Int64) -> [String] {
        guard var load = loads[name], load.stage == .asking, load.asks else { return [] }
        switch content {
        case .nothing: return missed(load, at: now)
        case .pixels: return found(load, at: now)
        case .encoded:
            if let end = load.end, now >= end { return over(load, "timeout") }
            load.stage = .making
            loads[name] = load
            return ["make \(name)"]
        }
    }

    private mutating func found(_ load: Load, at now: Int64) -> [String] {
        // M12: only a refresh that may download continues.
        if load.options.contains(.fromCacheOnly) || !load.options.contains(.refreshCached) { return over(load, "disk") }
        var load = load
        load.isShown = true
        return ["show \(load.name) and go on"] + missed(load, at: now)
    }

    mutating func make(_ name: String, _ error: DownloadError?, at now: Int64) -> [String] {
        guard let load = loads[name], load.stage == .making else { return [] }
        if load.isCancelled { return over(load, "") }
        guard let error else { return found(load, at: now) }
        return endsAll(error) ? over(load, "\(error.code)") : missed(load, at: now)
    }

    /// Z6: a lookup must not take longer than the load.
    mutating func lookAtClocks(at now: Int64) -> [String] {
        let late = loads.values.filter { $0.stage == .asking && $0.asks && $0.end ?? .max <= now }
        let ordered = late.sorted { ($0.end ?? 0, Int($0.name) ?? 0) < ($1.end ?? 0, Int($1.name) ?? 0) }
        return ordered.flatMap { over($0, "timeout") }
    }

    private func endsAll(_ error: DownloadError) -> Bool {
        [.cancelled].contains(error.code) || [.timeoutTotal, .closed].contains(error.detail)
    }

    private mutating func missed(_ load: Load, at now: Int64) -> [String] {
        if load.options.contains(.fromCacheOnly) { return over(load, "notCached") }
        // M5: there is nothing to ask about if no URL may be tried.
        let mayTry = load.urls.prefix(load.isShown ? 1 : load.urls.count).contains { isUsable($0, load) }
        guard consults, mayTry else { return tryNext(load, at: now) }
        loads[load.name] = load
        loads[load.name]?.stage = .consulting
        return ["consult \(load.name)"]
    }

    mutating func consult(_ name: String, mayFetch: Bool, at now: Int64) -> [String] {
        guard let load = loads[name], load.stage == .consulting else { return [] }
        return mayFetch ? tryNext(load, at: now) : over(load, load.isShown ? "disk" : "notCached")
    }

    /// Z6: fetches the next URL, unless the time of the load is over.
    private mutating func tryNext(_ load: Load, at now: Int64) -> [String] {
        var load = load
        if let end = load.end, now >= end { return over(load, "timeout") }
        let candidates = load.isShown ? Array(load.urls.prefix(1)) : load.urls
        for (index, url) in candidates.enumerated() where index >= load.source {
            load.source = index
            if isUsable(url, load) {
                load.stage = .fetching
                loads[load.name] = load
                return ["fetch \(load.name) \(index)"]
            }
            load.lastError = url == "" ? "invalidURL" : "blocked"
        }
        // M5: the list bars the network, and never a cached picture.
        return over(load, load.isShown && load.lastError == "blocked" ? "disk" : load.lastError)
    }

    mutating func fetch(_ name: String, _ error: DownloadError?, at now: Int64) -> [String] {
        guard let load = loads[name], load.stage == .fetching else { return [] }
        guard let error else { return succeed(load) }
        if error.code == .notModified { unblock(load) }
        if load.isCancelled || endsAll(error) || error.code == .notModified { return over(load, "\(error.code)") }
        guard judges else { return fail(load, error.code, decision: nil, at: now) }
        loads[name]?.stage = .judging(error.code)
        return ["judge \(name) \(load.source)"]
    }

    /// M18: the URL counts as one that has never failed.
    private mutating func unblock(_ load: Load) { blocked.subtract([load.urls[load.source], load.urls[0]]) }

    private mutating func succeed(_ load: Load) -> [String] {
        unblock(load)
        guard load.stores else { return over(load, "network") }
        if load.options.contains(.waitStoreCache), !load.isCancelled {
            loads[load.name]?.stage = .storing
            return ["store \(load.name) first"]
        }
        return ["store \(load.name)"] + over(load, "network")
    }

    mutating func judge(_ name: String, decision: Bool?, at now: Int64) -> [String] {
        guard let load = loads[name], case .judging(let code) = load.stage else { return [] }
        return fail(load, code, decision: decision, at: now)
    }

    private mutating func fail(
        _ load: Load, _ code: DownloadError.Code, decision: Bool?, at now: Int64
    ) -> [String] {
        var load = load
        // F4: of the failures tried here only a damaged picture blocks; M23: the application overrides that.
        if decision ?? (code == .badImageData) { blocked.insert(load.urls[load.source]) }
        load.lastError = "\(code)"
        load.source += 1
        if load.isShown || load.source == load.urls.count { return over(load, "\(code)") }
        return tryNext(load, at: now)
    }

    mutating func find(_ name: String) -> [String] {
        guard let load = loads[name], load.stage == .fetching else { return [] }
        return over(load, "memory")
    }

    mutating func store(_ name: String) -> [String] {
        guard let load = loads[name], load.stage == .storing else { return [] }
        return over(load, "network")
    }

    /// Cancels a load; nil if it does not exist or was cancelled before.
    mutating func cancel(_ name: String) -> [String]? {
        guard var load = loads[name], !load.isCancelled else { return nil }
        load.isCancelled = true
        loads[name] = load
        // M16: without a request to cancel, it ends at once.
        return [.making, .fetching].contains(load.stage) ? ["cancel \(name)"] : over(load, "")
    }
}

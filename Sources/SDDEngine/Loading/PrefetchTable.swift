import SDDBase

/// Decides when the URLs of which lists are loaded, and which events a list's listener gets. Owned by a `Prefetcher`,
/// under its lock. A state machine without threads or clock. `List` is opaque: the owner needs it to run the actions.
struct PrefetchTable<List> {
    enum Action {
        /// - Parameter id: the load's id, to be passed to `started` and `ended`.
        case start(id: UInt64, index: Int, Priority, List)
        /// Cancels a load by the token that was passed to `started`.
        case cancel(UInt64, List)
        case setPriority(UInt64, Priority, List)
        case tell(List, PrefetchEvent)
    }

    private struct Entry {
        let list: List
        /// The priority of the list's loads.
        var priority: Priority
        var counts: PrefetchCounts
        /// The index of the URL to begin next.
        var next = 0
        /// Outcomes by URL; `nil` for one that has not ended.
        var outcomes: [PrefetchOutcome?]
        /// Its place in `waiting`, while it has URLs to begin.
        var place: LinkedList<UInt64>.Place?
        /// The ids of its loads that have not ended.
        var loads: Set<UInt64> = []
    }

    private struct Load {
        let list: UInt64
        let index: Int
        /// `nil` until it is known.
        var token: UInt64?
        /// Its list is over: its outcome is ignored.
        var isCancelled = false
    }

    private var entries: [UInt64: Entry] = [:]
    /// The lists with URLs to begin, served first come, first served.
    private var waiting = LinkedList<UInt64>()
    /// The loads that have not ended, cancelled ones included.
    private var loads: [UInt64: Load] = [:]
    private var lastLoad: UInt64 = 0
    private var limit: Int
    private(set) var isClosed = false

    init(limit: Int = 3) { self.limit = limit }

    /// The number of lists that have not ended.
    var listCount: Int { entries.count }
    var loadCount: Int { loads.count }

    // MARK: The application's side

    /// Accepts a list.
    /// - Parameter token: a token that no other list has.
    mutating func submitted(
        _ list: List, token: UInt64, count: Int, priority: Priority = .veryLow, _ actions: inout [Action]
    ) {
        let entry = Entry(
            list: list, priority: priority, counts: PrefetchCounts(total: count),
            outcomes: Array(repeating: nil, count: count))
        if isClosed { return end(entry, isCancelled: true, &actions) }
        if count == 0 { return end(entry, isCancelled: false, &actions) }
        entries[token] = entry
        entries[token]?.place = waiting.append(token)
        fill(&actions)
    }

    /// Cancels a list.
    /// - Returns: false if the list has ended.
    mutating func cancelled(_ token: UInt64, _ actions: inout [Action]) -> Bool {
        guard let entry = entries[token] else { return false }
        entries[token] = nil
        if let place = entry.place { waiting.remove(place) }
        for id in entry.loads.sorted() {
            loads[id]?.isCancelled = true
            if let token = loads[id]?.token { actions.append(.cancel(token, entry.list)) }
        }
        end(entry, isCancelled: true, &actions)
        return true
    }

    /// Sets the priority of a list's running and future loads.
    /// - Returns: false if the list has ended.
    mutating func prioritySet(_ priority: Priority, of token: UInt64, _ actions: inout [Action]) -> Bool {
        entries[token]?.priority = priority
        guard let entry = entries[token] else { return false }
        for id in entry.loads.sorted() {
            if let token = loads[id]?.token { actions.append(.setPriority(token, priority, entry.list)) }
        }
        return true
    }

    /// Returns the priority of a list; `nil` if the list has ended.
    func priority(ofList token: UInt64) -> Priority? { entries[token]?.priority }

    /// Cancels all lists, and takes no more.
    mutating func closed(_ actions: inout [Action]) {
        isClosed = true
        cancelledAll(&actions)
    }

    mutating func cancelledAll(_ actions: inout [Action]) {
        for token in entries.keys.sorted() { _ = cancelled(token, &actions) }
    }

    /// Changes the number of concurrent loads. Running loads go on.
    /// - Parameter limit: at least 1.
    mutating func limitChanged(to limit: Int, _ actions: inout [Action]) {
        self.limit = limit
        fill(&actions)
    }

    // MARK: The loads' side

    /// Records the token of a load.
    /// - Returns: false if its list was cancelled meanwhile, so that the load must be cancelled, too.
    mutating func started(_ id: UInt64, token: UInt64) -> Bool {
        // The load may have ended before its token was known.
        guard let load = loads[id] else { return true }
        loads[id]?.token = token
        return !load.isCancelled
    }

    /// Returns the current priority of a load's list; `nil` if the load or its list has ended.
    func priority(ofLoad id: UInt64) -> Priority? { loads[id].flatMap { entries[$0.list]?.priority } }

    mutating func ended(_ id: UInt64, _ result: DownloadResult, _ actions: inout [Action]) {
        guard let load = loads[id] else { return }
        loads[id] = nil
        entries[load.list]?.loads.remove(id)
        if !load.isCancelled { count(result, load.index, of: load.list, &actions) }
        fill(&actions)
    }

    private mutating func count(_ result: DownloadResult, _ index: Int, of token: UInt64, _ actions: inout [Action]) {
        // Changed in place, so that the outcomes of a long list are not copied for each URL.
        entries[token]?.outcomes[index] = PrefetchOutcome(result)
        entries[token]?.counts.finished += 1
        if result.isFailure { entries[token]?.counts.skipped += 1 }
        guard let entry = entries[token] else { return }
        let event = PrefetchEvent.step(index: index, result: result.withoutContent, counts: entry.counts)
        actions.append(.tell(entry.list, event))
        guard entry.counts.finished == entry.counts.total else { return }
        entries[token] = nil
        end(entry, isCancelled: false, &actions)
    }

    // MARK: Filling and ending

    private mutating func fill(_ actions: inout [Action]) {
        while loads.count < limit, let token = waiting.first, let entry = entries[token] {
            lastLoad += 1
            loads[lastLoad] = Load(list: token, index: entry.next)
            actions.append(.start(id: lastLoad, index: entry.next, entry.priority, entry.list))
            entries[token]?.next += 1
            entries[token]?.loads.insert(lastLoad)
            if entry.next + 1 == entry.counts.total { leaveQueue(token) }
        }
    }

    private mutating func leaveQueue(_ token: UInt64) {
        _ = waiting.popFirst()
        entries[token]?.place = nil
    }

    private func end(_ entry: Entry, isCancelled: Bool, _ actions: inout [Action]) {
        let outcomes = entry.outcomes.enumerated().map { index, outcome in
            outcome ?? (index < entry.next ? .cancelledLoading : .cancelledWaiting)
        }
        let report = PrefetchReport(counts: entry.counts, isCancelled: isCancelled, outcomes: outcomes)
        actions.append(.tell(entry.list, .end(report)))
    }
}

extension DownloadResult {
    /// An image that the server says is unchanged is already in the cache.
    fileprivate var isFailure: Bool { error != nil && error?.code != .notModified }
}

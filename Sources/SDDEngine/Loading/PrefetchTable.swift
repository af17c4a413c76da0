import SDDBase

/// Decides which URLs of which lists are loaded when, and what a list's host is told. Owned by a `Prefetcher`, under its
/// lock; a machine without threads or clock. `List` is what the owner needs to run the effects; it is only handed back.
struct PrefetchTable<List> {
    enum Effect {
        /// - Parameter id: that of the load, for `started` and `ended`.
        case start(id: UInt64, index: Int, Priority, List)
        /// A load that was started, by the token that `started` told.
        case cancel(UInt64, List)
        case setPriority(UInt64, Priority, List)
        case tell(List, PrefetchEvent)
    }

    private struct Entry {
        let list: List
        /// That of its loads.
        var priority = Priority.veryLow
        var counts: PrefetchCounts
        /// Of the URL that is begun next.
        var next = 0
        /// nil for one that has not ended.
        var outcomes: [PrefetchOutcome?]
        /// Its place among those that have URLs to begin.
        var place: LinkedList<UInt64>.Place?
        /// Those of its loads that have not ended.
        var loads: Set<UInt64> = []
    }

    private struct Load {
        let list: UInt64
        let index: Int
        /// nil until it is known.
        var token: UInt64?
        /// Its list is over: what it comes to is told to nobody.
        var isCancelled = false
    }

    private var entries: [UInt64: Entry] = [:]
    /// The lists with URLs to begin: those of the first one are begun first.
    private var waiting = LinkedList<UInt64>()
    /// Also those that are cancelled and have not ended.
    private var loads: [UInt64: Load] = [:]
    private var lastLoad: UInt64 = 0
    private var limit: Int
    private(set) var isClosed = false

    init(limit: Int = 3) { self.limit = limit }

    /// Lists that have not ended.
    var listCount: Int { entries.count }
    var loadCount: Int { loads.count }

    // MARK: The host's side

    /// - Parameter token: of no other list.
    mutating func submitted(_ list: List, token: UInt64, count: Int, _ effects: inout [Effect]) {
        let entry = Entry(
            list: list, counts: PrefetchCounts(total: count), outcomes: Array(repeating: nil, count: count))
        if isClosed { return end(entry, isCancelled: true, &effects) }
        if count == 0 { return end(entry, isCancelled: false, &effects) }
        entries[token] = entry
        entries[token]?.place = waiting.append(token)
        fill(&effects)
    }

    /// - Returns: false when the list has ended.
    mutating func cancelled(_ token: UInt64, _ effects: inout [Effect]) -> Bool {
        guard let entry = entries[token] else { return false }
        entries[token] = nil
        if let place = entry.place { waiting.remove(place) }
        for id in entry.loads.sorted() {
            loads[id]?.isCancelled = true
            if let token = loads[id]?.token { effects.append(.cancel(token, entry.list)) }
        }
        end(entry, isCancelled: true, &effects)
        return true
    }

    /// Of the loads that run and those to come.
    /// - Returns: false when the list has ended.
    mutating func prioritySet(_ priority: Priority, of token: UInt64, _ effects: inout [Effect]) -> Bool {
        entries[token]?.priority = priority
        guard let entry = entries[token] else { return false }
        for id in entry.loads.sorted() {
            if let token = loads[id]?.token { effects.append(.setPriority(token, priority, entry.list)) }
        }
        return true
    }

    /// nil when the list has ended.
    func priority(ofList token: UInt64) -> Priority? { entries[token]?.priority }

    /// Cancels all lists, and takes no more.
    mutating func closed(_ effects: inout [Effect]) {
        isClosed = true
        cancelledAll(&effects)
    }

    mutating func cancelledAll(_ effects: inout [Effect]) {
        for token in entries.keys.sorted() { _ = cancelled(token, &effects) }
    }

    /// - Parameter limit: loads at once, at least 1; what runs goes on.
    mutating func limitChanged(to limit: Int, _ effects: inout [Effect]) {
        self.limit = limit
        fill(&effects)
    }

    // MARK: The loads' side

    /// - Returns: false when its list was cancelled in between, and so must it be.
    mutating func started(_ id: UInt64, token: UInt64) -> Bool {
        // It may have ended before its token came.
        guard let load = loads[id] else { return true }
        loads[id]?.token = token
        return !load.isCancelled
    }

    /// That its list has by now; nil when the load has ended, or its list.
    func priority(ofLoad id: UInt64) -> Priority? { loads[id].flatMap { entries[$0.list]?.priority } }

    mutating func ended(_ id: UInt64, _ result: DownloadResult, _ effects: inout [Effect]) {
        guard let load = loads[id] else { return }
        loads[id] = nil
        entries[load.list]?.loads.remove(id)
        if !load.isCancelled { count(result, load.index, of: load.list, &effects) }
        fill(&effects)
    }

    private mutating func count(_ result: DownloadResult, _ index: Int, of token: UInt64, _ effects: inout [Effect]) {
        // In place: the outcomes of a long list are not copied for each URL.
        entries[token]?.outcomes[index] = PrefetchOutcome(result)
        entries[token]?.counts.finished += 1
        if result.isFailure { entries[token]?.counts.skipped += 1 }
        guard let entry = entries[token] else { return }
        let event = PrefetchEvent.step(index: index, result: result.withoutContent, counts: entry.counts)
        effects.append(.tell(entry.list, event))
        guard entry.counts.finished == entry.counts.total else { return }
        entries[token] = nil
        end(entry, isCancelled: false, &effects)
    }

    // MARK: What follows

    private mutating func fill(_ effects: inout [Effect]) {
        while loads.count < limit, let token = waiting.first, let entry = entries[token] {
            lastLoad += 1
            loads[lastLoad] = Load(list: token, index: entry.next)
            effects.append(.start(id: lastLoad, index: entry.next, entry.priority, entry.list))
            entries[token]?.next += 1
            entries[token]?.loads.insert(lastLoad)
            if entry.next + 1 == entry.counts.total { leaveQueue(token) }
        }
    }

    private mutating func leaveQueue(_ token: UInt64) {
        _ = waiting.popFirst()
        entries[token]?.place = nil
    }

    private func end(_ entry: Entry, isCancelled: Bool, _ effects: inout [Effect]) {
        let outcomes = entry.outcomes.enumerated().map { index, outcome in
            outcome ?? (index < entry.next ? .cancelledLoading : .cancelledWaiting)
        }
        let report = PrefetchReport(counts: entry.counts, isCancelled: isCancelled, outcomes: outcomes)
        effects.append(.tell(entry.list, .end(report)))
    }
}

extension DownloadResult {
    /// What a server says is still right is where it was wanted.
    fileprivate var isFailure: Bool { error != nil && error?.code != .notModified }
}

import SDDBase

@testable import SDDEngine

/// A table of lists to prefetch, with names for its loads: "A0" is the first URL of list A.
struct PrefetchDriver {
    private(set) var table: PrefetchTable<String>
    /// Whether a load that starts gets its token at once.
    var tellsTokens = true
    var keepsLogs = true
    private(set) var steps: [DownloadResult] = []
    private(set) var reports: [PrefetchReport] = []

    private var starts: [String] = []
    private var cancels: [String] = []
    /// The priorities that running loads were set to: "A0 high".
    private var priorities: [String] = []
    /// The priority that each load began with.
    private(set) var begun: [String: Priority] = [:]
    private var told: [String] = []
    private var loads: [String: UInt64] = [:]
    private var lists: [String: UInt64] = [:]
    private var lastToken: UInt64 = 100
    /// The names of loads by token.
    private var names: [UInt64: String] = [:]

    init(limit: Int) { table = PrefetchTable(limit: limit) }

    mutating func submit(_ name: String, _ count: Int) {
        lastToken += 1
        let token = lastToken
        lists[name] = token
        change { $0.submitted(name, token: token, count: count, &$1) }
    }

    mutating func cancel(_ name: String) -> Bool {
        let token = lists[name] ?? 0
        return change { $0.cancelled(token, &$1) }
    }

    mutating func setPriority(_ priority: Priority, _ name: String) -> Bool {
        let token = lists[name] ?? 0
        return change { $0.prioritySet(priority, of: token, &$1) }
    }

    func priority(_ name: String) -> Priority? { table.priority(ofList: lists[name] ?? 0) }

    mutating func end(_ name: String, _ code: DownloadError.Code? = nil) {
        end(name, with: DownloadResult(error: code.map { DownloadError($0, .none, "") }, ended: 0))
    }

    mutating func end(_ name: String, with result: DownloadResult) {
        let id = loads[name] ?? 0
        change { $0.ended(id, result, &$1) }
    }

    mutating func end(_ list: String, _ index: Int) { end("\(list)\(index)") }

    mutating func tellToken(_ name: String) {
        let id = loads[name] ?? 0
        lastToken += 1
        let token = lastToken
        names[token] = name
        if !table.started(id, token: token) { cancels.append(name) }
        if let newest = table.priority(ofLoad: id), newest != begun[name] { priorities.append("\(name) \(newest)") }
    }

    mutating func setLimit(_ limit: Int) { change { $0.limitChanged(to: limit, &$1) } }
    mutating func close() { change { $0.closed(&$1) } }

    // MARK: Decisions since the last call

    mutating func takeStarts() -> [String] { take(&starts) }
    mutating func takeCancels() -> [String] { take(&cancels) }
    mutating func takePriorities() -> [String] { take(&priorities) }
    mutating func takeTold() -> [String] { take(&told) }

    private func take(_ log: inout [String]) -> [String] {
        defer { log = [] }
        return log
    }

    private mutating func change<Outcome>(
        _ event: (inout PrefetchTable<String>, inout [PrefetchTable<String>.Action]) -> Outcome
    ) -> Outcome {
        var actions: [PrefetchTable<String>.Action] = []
        let outcome = event(&table, &actions)
        for action in actions { note(action) }
        return outcome
    }

    private mutating func note(_ action: PrefetchTable<String>.Action) {
        switch action {
        case .start(let id, let index, let priority, let list):
            loads["\(list)\(index)"] = id
            begun["\(list)\(index)"] = priority
            if keepsLogs { starts.append("\(list)\(index)") }
            if tellsTokens { tellToken("\(list)\(index)") }
        case .cancel(let token, _): cancels.append(names[token] ?? "?")
        case .setPriority(let token, let priority, _): priorities.append("\(names[token] ?? "?") \(priority)")
        case .tell(let list, .step(let index, let result, let counts)):
            guard keepsLogs else { return }
            steps.append(result)
            told.append("\(list)\(index) \(counts.text)")
        case .tell(let list, .end(let report)):
            reports.append(report)
            told.append("\(list) end \(report.counts.text)")
        }
    }
}

extension PrefetchCounts {
    fileprivate var text: String { "\(finished)/\(skipped)/\(total)" }
}

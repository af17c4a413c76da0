import TestSupport
import Testing

@testable import SDDEngine

/// Random calls, and what must hold in any order of them.
@Suite struct PrefetchWalkTests {
    @Test("B30 Z22: any order of calls agrees with a naive model", arguments: 0..<20 as Range<UInt64>)
    func anyOrderOfCallsAgreesWithANaiveModel(seed: UInt64) throws {
        var walk = PrefetchWalk(seed: seed)
        for step in 0..<1500 {
            walk.step()
            try #require(walk.flaw == nil, "seed \(seed), step \(step): \(walk.flaw ?? "")")
        }
        walk.endAll()
        #expect(walk.flaw == nil, "seed \(seed), at the end: \(walk.flaw ?? "")")
    }
}

/// The model keeps every list with a state for each of its URLs, and examines all of them for every answer.
private struct PrefetchWalk {
    private enum Word { case waiting, running, done, failed }

    private struct List {
        let name: String
        var words: [Word]
        var isCancelled = false

        var finished: Int { words.filter { $0 == .done || $0 == .failed }.count }
        var skipped: Int { words.filter { $0 == .failed }.count }
        var isOver: Bool { isCancelled || finished == words.count }
        var counts: String { "\(finished)/\(skipped)/\(words.count)" }
    }

    private var random: SeededRandom
    private var driver: PrefetchDriver
    private var lists: [List] = []
    private var limit = 3
    /// Loads that run, or that were cancelled and have not ended.
    private var running: [(list: Int, index: Int)] = []
    private(set) var flaw: String?

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        driver = PrefetchDriver(limit: limit)
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: submit()
        case 12..<85: endOne()
        case 85..<95: cancel()
        default: changeLimit()
        }
    }

    mutating func endAll() {
        while !running.isEmpty && flaw == nil { endOne() }
        agree(driver.table.listCount == 0 && driver.table.loadCount == 0, "something is left")
        agree(driver.reports.count == lists.count, "\(driver.reports.count) ends of \(lists.count) lists")
    }

    private mutating func submit() {
        let list = List(
            name: "L\(lists.count)-",
            words: Array(repeating: .waiting, count: Int.random(in: 0..<9, using: &random)))
        lists.append(list)
        driver.submit(list.name, list.words.count)
        check(told: list.words.isEmpty ? ["\(list.name) end 0/0/0"] : [])
    }

    private mutating func endOne() {
        guard !running.isEmpty else { return }
        let (list, index) = running.remove(at: Int.random(in: 0..<running.count, using: &random))
        let fails = Int.random(in: 0..<4, using: &random) == 0
        driver.end("\(lists[list].name)\(index)", fails ? .timeout : nil)
        if lists[list].isCancelled { return check(told: []) }
        lists[list].words[index] = fails ? .failed : .done
        let ends = lists[list].isOver ? ["\(lists[list].name) end \(lists[list].counts)"] : []
        check(told: ["\(lists[list].name)\(index) \(lists[list].counts)"] + ends)
    }

    private mutating func cancel() {
        guard let place = lists.indices.suffix(6).randomElement(using: &random) else { return }
        let isOver = lists[place].isOver
        agree(driver.cancel(lists[place].name) == !isOver, "a cancel of a list that is over")
        if isOver { return }
        lists[place].isCancelled = true
        let cancelled = running.filter { $0.list == place }.map { "\(lists[place].name)\($0.index)" }
        agree(Set(driver.takeCancels()) == Set(cancelled), "other loads were cancelled")
        check(told: ["\(lists[place].name) end \(lists[place].counts)"])
    }

    private mutating func changeLimit() {
        limit = Int.random(in: 1...5, using: &random)
        driver.setLimit(limit)
        check(told: [])
    }

    private mutating func check(told: [String]) {
        agree(driver.takeTold() == told, "told something else than \(told)")
        var starts: [String] = []
        while running.count < limit, let next = firstWaiting {
            lists[next.list].words[next.index] = .running
            running.append(next)
            starts.append("\(lists[next.list].name)\(next.index)")
        }
        let started = driver.takeStarts()
        agree(started == starts, "started \(started) and not \(starts)")
        agree(driver.takeCancels().isEmpty, "a load was cancelled")
        agree(driver.table.listCount == lists.filter { !$0.isOver }.count, "another number of lists")
    }

    private var firstWaiting: (list: Int, index: Int)? {
        for (place, list) in lists.enumerated() where !list.isOver {
            if let index = list.words.firstIndex(of: .waiting) { return (place, index) }
        }
        return nil
    }

    private mutating func agree(_ isSo: Bool, _ otherwise: String) {
        if !isSo, flaw == nil { flaw = otherwise }
    }
}

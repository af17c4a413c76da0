import TestSupport
import Testing

@testable import SDDEngine

/// All events of a batch in random order, compared with a model that keeps each item from its start and examines all of
/// them for every answer.
@Suite struct BatchWalkTests {
    @Test("Z14: the table agrees with a naive model in any order of events", arguments: 1...24 as ClosedRange<UInt64>)
    func agreesWithANaiveModel(seed: UInt64) throws {
        var walk = BatchWalk(seed: seed)
        for step in 0..<2000 where !walk.isDone {
            do { try walk.step() } catch {
                Issue.record("seed \(seed), step \(step)")
                throw error
            }
        }
        try walk.end()
    }
}

private struct BatchWalk {
    private enum State { case beginning, underWay, succeeded, failed, stopped, taken }

    private typealias Table = BatchTable<Int>

    private var random: SeededRandom
    private let rules: Table.Rules
    private var table: Table
    // The model.
    private var states: [State] = []
    private var endings: [Int] = []
    private var slotsTaken: Set<Int> = []
    private var isAsking = false
    private var isExhausted = false
    private var stop: Table.Stop?

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        var rules = Table.Rules()
        rules.lookAhead = Int.random(in: 1...6, using: &random)
        rules.isOrdered = Bool.random(using: &random)
        rules.count = Bool.random(using: &random) ? Int.random(in: 0...80, using: &random) : nil
        rules.slots =
            [.none, .ofIndex(Int.random(in: 0...80, using: &random)), .next(seed % 2 == 0 ? 1 : 4)]
            .randomElement(using: &random) ?? .none
        self.rules = rules
        table = Table(rules: rules)
    }

    var isDone: Bool { isExhaustedNow && !isAsking && states.allSatisfy { $0 == .taken } }

    private var isExhaustedNow: Bool {
        if let count = rules.count, states.count >= count { return true }
        if case .ofIndex(let count) = rules.slots, states.count >= count { return true }
        return isExhausted
    }

    private var open: Int { states.count { $0 != .taken } }
    private var hasRoom: Bool { !isExhaustedNow && open < rules.lookAhead }

    /// The items that may be taken now, in their order, given the number of free slots.
    private var takeable: [Int] {
        var free = 0
        if case .next(let count) = rules.slots { free = count - slotsTaken.count }
        var found: [Int] = []
        for index in rules.isOrdered ? Array(states.indices) : endings where states[index] != .taken {
            let hasEnded = [.succeeded, .failed, .stopped].contains(states[index])
            var isFree = hasEnded
            if case .next = rules.slots, states[index] == .succeeded {
                isFree = free > 0
                free -= 1
            }
            if isFree { found.append(index) } else if rules.isOrdered { break }
        }
        return found
    }

    mutating func step() throws {
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<7: try ask()
        case 7..<10: try begin()
        case 10..<16: try endOne()
        case 16..<20: try take(most: Int.random(in: 1...4, using: &random))
        case 20..<23: try release()
        default: if Int.random(in: 0..<40, using: &random) == 0 { try stopAll() }
        }
        try check()
    }

    private func check() throws {
        try #require(table.isTakeable == !takeable.isEmpty)
        try #require(table.isOver == isDone)
        try #require(table.isAsking == isAsking)
        try #require(table.underWayCount == states.count { $0 == .beginning || $0 == .underWay })
    }

    private mutating func ask() throws {
        if !isAsking {
            let expected = hasRoom
            try #require(table.beginsAsking() == expected)
            isAsking = expected
            return
        }
        try #require(table.beginsAsking() == false)
        if rules.count == nil, Int.random(in: 0..<100, using: &random) == 0 {
            table.exhausted()
            (isExhausted, isAsking) = (true, false)
            return
        }
        let (index, begins) = table.given(id: UInt64(states.count))
        try #require(index == states.count && begins == (stop == nil))
        states.append(begins ? .beginning : .stopped)
        if !begins { endings.append(index) }
        let expected = hasRoom
        try #require(table.goesOnAsking() == expected)
        isAsking = expected
    }

    private mutating func begin() throws {
        guard let index = states.indices.filter({ states[$0] == .beginning }).randomElement(using: &random) else {
            return
        }
        try #require(table.began(index, token: UInt64(index)) == (stop != nil))
        states[index] = .underWay
    }

    private mutating func endOne() throws {
        guard let index = states.indices.randomElement(using: &random) else { return }
        let (succeeded, wasCancelled) = (Bool.random(using: &random), stop != nil && Bool.random(using: &random))
        table.ended(index, index, succeeded: succeeded && !wasCancelled, wasCancelled: wasCancelled)
        guard states[index] == .beginning || states[index] == .underWay else { return }
        states[index] = wasCancelled ? .stopped : succeeded ? .succeeded : .failed
        endings.append(index)
    }

    private mutating func take(most: Int) throws {
        let expected = Array(takeable.prefix(most))
        let taken = table.take(most: most)
        try #require(taken.map(\.index) == expected)
        for item in taken {
            try #require(item.id == UInt64(item.index))
            try checkSlot(of: item)
            states[item.index] = .taken
        }
    }

    private mutating func checkSlot(of item: Table.Taken) throws {
        let state: State =
            switch item.end {
            case .succeeded: .succeeded
            case .failed: .failed
            case .stopped(let reason): reason == stop ? .stopped : .taken
            }
        try #require(state == states[item.index])
        switch rules.slots {
        case .none: try #require(item.slot == nil)
        case .ofIndex: try #require(item.slot == item.index)
        case .next(let count):
            try #require((item.slot != nil) == (state == .succeeded))
            guard let slot = item.slot else { return }
            try #require((0..<count).contains(slot) && !slotsTaken.contains(slot))
            slotsTaken.insert(slot)
        }
    }

    private mutating func release() throws {
        let slot = Int.random(in: -1...4, using: &random)
        let wasTaken = slotsTaken.remove(slot) != nil
        try #require(table.released(slot) == wasTaken)
    }

    private mutating func stopAll() throws {
        let reason: Table.Stop = Bool.random(using: &random) ? .cancelled : .deadline
        let tokens = table.stopped(reason)
        let expected = stop == nil ? states.indices.filter { states[$0] == .underWay }.map { UInt64($0) } : []
        try #require(tokens.sorted() == expected)
        if stop == nil {
            stop = reason
            if rules.count == nil { isExhausted = true }
        }
    }

    /// In any state, a cancel and taking the items bring the batch to its end.
    mutating func end() throws {
        try stopAll()
        for _ in 0..<1000 where !isDone {
            if isAsking || hasRoom { try ask() }
            for index in states.indices where states[index] == .beginning || states[index] == .underWay {
                table.ended(index, index, succeeded: false, wasCancelled: true)
                states[index] = .stopped
                endings.append(index)
            }
            for slot in slotsTaken { try #require(table.released(slot) == true) }
            slotsTaken = []
            try take(most: 3)
            try check()
        }
        try #require(isDone && table.isOver)
    }
}

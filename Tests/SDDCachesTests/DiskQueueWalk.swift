import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// Makes random changes to a queue, and executes its work on a disk that is a dictionary. At any time the queue must
/// know the state that follows from the content of that disk and the pending changes, in their order.
struct DiskQueueWalk {
    /// A change that was requested and has not been made yet.
    private struct Wish {
        enum Kind { case store, remove, clear }

        let number: Int32
        let kind: Kind
        let key: String
        var cost = 0
        var isAwaited = false
    }

    private var queue: DiskQueue
    private var random: SeededRandom
    private let budget: Int
    private var now: Int64 = 0
    /// The simulated disk: the format stands for the entry.
    private var disk: [String: Int32] = [:]
    private var pending: [Wish] = []
    private var changing: (DiskQueue.Change, DiskQueue.Staged?)?
    /// The number of changes requested so far, the stores among them, and the completions of each.
    private var wishes: Int32 = 0
    private var stored: Set<Int32> = []
    private let told = Recorder<Int32>()
    private let droppedNow = Recorder<Int32>()
    private var dropped = 0
    /// The flushes that wait, by the queue's number, and the last change before each.
    private var flushes: [(UInt64, Int32)] = []
    /// Stores that a flush has waited for. They must not be dropped then, and need not be dropped later.
    private var flushed: Set<Int32> = []
    /// The queued reads, and those that are delayed.
    private var line: [Int32] = []
    private var timed: [(time: Int64, number: Int32)] = []
    private let done = Recorder<Int32>()

    private static let keys = ["a", "b", "c", "d", "e"]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        budget = seed % 3 == 0 ? .max : Int(seed) * 500
        queue = DiskQueue(mostHeldBytes: budget)
    }

    mutating func step() throws {
        wishes += 1
        let key = Self.keys.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<7: try store(key, isMade: Bool.random(using: &random))
        case 7..<9: remove(key)
        case 9: clear()
        case 10..<12: read()
        case 12: readLater()
        case 13: now += Int64.random(in: 0...20, using: &random)
        case 14: flush()
        case 15: if !flushes.isEmpty { queue.endFlush(flushes.removeFirst().0) }
        case 16..<20: try next()
        default: changed()
        }
        try check()
    }

    mutating func end() throws {
        queue.stop()
        for entry in timed.sorted(by: { ($0.time, $0.number) < ($1.time, $1.number) }) { line.append(entry.number) }
        timed = []
        while !queue.isEmpty {
            try next()
            changed()
            try check()
        }
        try #require(pending.isEmpty && queue.heldBytes == 0)
        try #require(told.all.count == stored.count && Set(told.all) == stored)
        try #require(queue.done == queue.lastChange)
        try #require(budget == .max ? dropped == 0 : dropped > 0)
    }

    // MARK: Requested changes

    private mutating func store(_ key: String, isMade: Bool) throws {
        let (number, told, droppedNow) = (wishes, told, droppedNow)
        let entry = EntryMetadata(key: key, format: number)
        let body = Bytes(adopting: nil, count: 0)
        let value: DiskQueue.Staged = isMade ? .making { .entry(entry, body) } : .entry(entry, body)
        let cost = Int.random(in: 0..<3000, using: &random)
        let isAwaited = Int.random(in: 0..<4, using: &random) == 0
        removeReplaced(key)
        let released = queue.stage(value, for: key, cost: cost, isAwaited: isAwaited) { error in
            told.record(number)
            if error == .dropped { droppedNow.record(number) }
        }
        stored.insert(number)
        pending.append(Wish(number: number, kind: .store, key: key, cost: cost, isAwaited: isAwaited))
        let count = droppedNow.all.count
        released.tell()
        let gone = Set(droppedNow.all[count...])
        try #require(gone.count == Int(released.droppedCount) && !gone.contains(number))
        // None of them was waited for.
        for wish in pending where gone.contains(wish.number) {
            try #require(!wish.isAwaited && !isFlushed(wish) && wish.number != numberUnderWay)
        }
        dropped += gone.count
        pending.removeAll { gone.contains($0.number) }
        try checkBudget(newest: number)
    }

    /// Removes a store that a newer change replaces, unless it is being written.
    private mutating func removeReplaced(_ key: String) {
        let kept = numberUnderWay
        pending.removeAll { $0.kind == .store && $0.key == key && $0.number != kept }
    }

    private mutating func remove(_ key: String) {
        removeReplaced(key)
        _ = queue.stage(.removed, for: key)
        pending.append(Wish(number: wishes, kind: .remove, key: key))
    }

    private mutating func clear() {
        for key in Self.keys { removeReplaced(key) }
        _ = queue.clear()
        pending.append(Wish(number: wishes, kind: .clear, key: ""))
    }

    private mutating func flush() {
        flushes.append((queue.beginFlush(), wishes))
        flushed.formUnion(pending.filter { $0.kind == .store }.map(\.number))
    }

    private func isFlushed(_ wish: Wish) -> Bool { flushes.contains { $0.1 >= wish.number } }

    private mutating func read() {
        let (number, done) = (wishes, done)
        queue.read { done.record(number) }
        line.append(number)
    }

    private mutating func readLater() {
        let (number, done) = (wishes, done)
        let time = now + Int64.random(in: 0...40, using: &random)
        queue.at(time) { done.record(number) }
        timed.append((time, number))
    }

    // MARK: The threads' side

    /// The number of the store that is being written.
    private var numberUnderWay: Int32? {
        switch changing?.1 {
        case .entry(let metadata, _)?: metadata.format
        case .making(let make)?: if case .entry(let metadata, _) = make() { metadata.format } else { nil }
        case .removed?, nil: nil
        }
    }

    private mutating func next() throws {
        let due = timed.filter { $0.time <= now }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        line += due.map(\.number)
        timed.removeAll { $0.time <= now }
        switch queue.next(at: now) {
        case .read(let work)?:
            work()
            try #require(done.all.last == line.first)
            line.removeFirst()
        case .change(let change)?:
            try #require(changing == nil && line.isEmpty)
            changing = (change, change.staged)
        case nil: try #require(line.isEmpty && (changing != nil || pending.isEmpty))
        }
    }

    /// Completes the change under way: its effect is on disk now.
    private mutating func changed() {
        guard let (change, staged) = changing else { return }
        defer { changing = nil }
        switch change.kind {
        case .key(let staging):
            switch staged {
            case .entry?, .making?:
                let number = numberUnderWay
                disk[staging.key] = number
                pending.removeAll { $0.key == staging.key && $0.number <= number ?? 0 }
            case .removed?:
                disk[staging.key] = nil
                pending.removeAll { $0.key == staging.key && $0.kind == .remove }
            // A newer change has replaced this one, and does its work.
            case nil: break
            }
        case .clear, .other:
            disk = [:]
            if let index = pending.firstIndex(where: { $0.kind == .clear }) { pending.removeFirst(index + 1) }
        }
        _ = queue.changed(change)
        change.then?(nil)
    }

    // MARK: Invariants

    private var wanted: [String: Int32] {
        var wanted = disk
        for wish in pending {
            switch wish.kind {
            case .store: wanted[wish.key] = wish.number
            case .remove: wanted[wish.key] = nil
            case .clear: wanted = [:]
            }
        }
        return wanted
    }

    private func check() throws {
        let wanted = wanted
        for key in Self.keys {
            switch queue.known(key) {
            case .staged(let metadata, _): try #require(metadata.key == key && metadata.format == wanted[key])
            case .nothing: try #require(wanted[key] == nil)
            case .later: try #require(wanted[key] != nil)
            case .unknown: try #require(disk[key] == wanted[key])
            }
        }
        try #require(queue.nextTime == timed.map(\.time).min())
        try #require(queue.done <= queue.lastChange)
    }

    /// Checks that above the budget there are only stores that are or were waited for, the newest, and the one being
    /// written.
    private func checkBudget(newest: Int32) throws {
        guard queue.heldBytes > budget else { return }
        let mayGo = pending.filter { wish in
            wish.kind == .store && !wish.isAwaited && wish.number != numberUnderWay && wish.number != newest
                && !flushed.contains(wish.number)
        }
        try #require(mayGo.isEmpty)
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// Plays random wishes to a queue and does what it gives out on a disk that is a table. Whatever is said to be known
/// must be what the wishes come to, done one after the other.
struct DiskQueueWalk {
    private var queue = DiskQueue()
    private var random: SeededRandom
    private var now: Int64 = 0
    /// What is on disk, and what will be when all is done: the format stands for the entry.
    private var disk: [String: Int32] = [:]
    private var wanted: [String: Int32] = [:]
    private var changing: (DiskQueue.Change, DiskQueue.Staged?)?
    private var lastChange: UInt64 = 0
    /// Numbers of what was wished, and how often each was told to be done.
    private var wishes: Int32 = 0
    private var stored: Set<Int32> = []
    private let told = Recorder<Int32>()
    /// The reads in line, and those that wait for their time.
    private var line: [Int32] = []
    private var timed: [(time: Int64, number: Int32)] = []
    private let done = Recorder<Int32>()

    private static let keys = ["a", "b", "c", "d"]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func step() throws {
        wishes += 1
        let key = Self.keys.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5: store(key, isMade: Bool.random(using: &random))
        case 5..<7: remove(key)
        case 7: clear()
        case 8..<10: read()
        case 10: readLater()
        case 11: now += Int64.random(in: 0...20, using: &random)
        case 12..<16: try next()
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
        try #require(disk == wanted)
        try #require(told.all.count == stored.count && Set(told.all) == stored)
        try #require(queue.done == queue.lastChange)
    }

    // MARK: Wishes

    private mutating func store(_ key: String, isMade: Bool) {
        let (number, told) = (wishes, told)
        let entry = EntryMetadata(key: key, format: number)
        let body = Bytes(adopting: nil, count: 0)
        let value: DiskQueue.Staged = isMade ? .making { .entry(entry, body) } : .entry(entry, body)
        _ = queue.stage(value, for: key) { _ in told.record(number) }
        stored.insert(number)
        wanted[key] = number
    }

    private mutating func remove(_ key: String) {
        _ = queue.stage(.removed, for: key)
        wanted[key] = nil
    }

    private mutating func clear() {
        _ = queue.clear()
        wanted = [:]
    }

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

    private mutating func next() throws {
        let due = timed.filter { $0.time <= now }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        line += due.map(\.number)
        timed.removeAll { $0.time <= now }
        switch queue.next(at: now) {
        case .read(let work)?:
            work()
            try #require(done.all.last == line.first)
            line.removeFirst()
        case .change(let change, let staged)?:
            try #require(changing == nil && line.isEmpty)
            try #require(change.number == lastChange + 1)
            lastChange = change.number
            changing = (change, staged)
        case nil: try #require(line.isEmpty && (changing != nil || lastChange == queue.lastChange))
        }
    }

    /// What is being changed is on disk now.
    private mutating func changed() {
        guard let (change, staged) = changing else { return }
        changing = nil
        switch change.kind {
        case .key(let key, let then):
            switch staged {
            case .entry(let metadata, _)?: disk[key] = metadata.format
            case .making(let make)?: if case .entry(let metadata, _) = make() { disk[key] = metadata.format }
            case .removed?: disk[key] = nil
            case nil: break
            }
            _ = queue.changed(change)
            then?(nil)
        case .clear, .other:
            disk = [:]
            _ = queue.changed(change)
        }
    }

    private func check() throws {
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
}

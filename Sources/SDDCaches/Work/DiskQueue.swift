package import SDDBase

/// What the disk threads of one cache are to do, and what is decided but not yet on disk. A state machine: who calls it
/// says what time it is, and does what it gives out. Three lines: reads, which wait for nothing else; changes, one at a
/// time in the order in which they came; and what is to be done at a certain time.
package struct DiskQueue {
    typealias Work = @Sendable () -> Void

    /// What the disk will have of a key, once the changes before it are done.
    enum Staged {
        case entry(EntryMetadata, Bytes)
        /// An entry that is still to be made, by who writes it.
        case making(Making)
        case removed
    }

    package enum Made {
        case entry(EntryMetadata, Bytes)
        /// Nothing is to be there.
        case nothing
        case impossible
    }

    package typealias Making = @Sendable () -> Made

    struct Change {
        let number: UInt64
        let kind: Kind

        enum Kind {
            /// Of one key: what is staged for it.
            case key(String, then: [@Sendable (CacheError?) -> Void])
            case clear
            case other(Work)
        }
    }

    enum Piece {
        case read(Work)
        case change(Change, Staged?)
    }

    private struct Timed: Comparable {
        let time: Int64
        let number: UInt64
        let work: Work

        static func < (a: Timed, b: Timed) -> Bool { (a.time, a.number) < (b.time, b.number) }
        static func == (a: Timed, b: Timed) -> Bool { a.number == b.number }
    }

    private var reads: [Work] = []
    private var firstRead = 0
    private var changes: [Change] = []
    private var firstChange = 0
    private var isChanging = false
    private var timed: [Timed] = []
    /// By key, with the number of the change that will do it.
    private var staged: [String: (value: Staged, number: UInt64)] = [:]
    /// Of all entries, not yet done: what is on disk counts as gone.
    private var clears = 0
    /// The numbers of the last change that is wanted so far, and of the last that is done.
    private(set) var lastChange: UInt64 = 0
    private(set) var done: UInt64 = 0
    private var lastTimed: UInt64 = 0
    private(set) var isStopped = false
}

// MARK: - What is wanted

extension DiskQueue {
    mutating func read(_ work: @escaping Work) { reads.append(work) }

    /// - Returns: its number.
    @discardableResult
    mutating func stage(
        _ value: Staged, for key: String, then: (@Sendable (CacheError?) -> Void)? = nil
    ) -> UInt64 {
        lastChange += 1
        staged[key] = (value, lastChange)
        changes.append(Change(number: lastChange, kind: .key(key, then: then.map { [$0] } ?? [])))
        return lastChange
    }

    @discardableResult
    mutating func clear() -> UInt64 {
        lastChange += 1
        staged.removeAll()
        clears += 1
        changes.append(Change(number: lastChange, kind: .clear))
        return lastChange
    }

    /// Something else, in line with the changes.
    @discardableResult
    mutating func change(_ work: @escaping Work) -> UInt64 {
        lastChange += 1
        changes.append(Change(number: lastChange, kind: .other(work)))
        return lastChange
    }

    /// - Parameter time: of the monotonic clock.
    mutating func at(_ time: Int64, _ work: @escaping Work) {
        lastTimed += 1
        let entry = Timed(time: time, number: lastTimed, work: work)
        let index = timed.firstIndex { entry < $0 } ?? timed.endIndex
        timed.insert(entry, at: index)
    }

    /// All that has been wanted so far is still done; what waits for its time is done at once.
    mutating func stop() { isStopped = true }
}

// MARK: - What is known without the disk

extension DiskQueue {
    enum Known {
        case staged(EntryMetadata, Bytes)
        case nothing
        /// The disk knows, when the changes so far are done.
        case later
        /// Only the disk knows.
        case unknown
    }

    func known(_ key: String) -> Known {
        switch staged[key]?.value {
        case .entry(let metadata, let body)?: .staged(metadata, body)
        case .making?: .later
        case .removed?: .nothing
        case nil: clears > 0 ? .nothing : .unknown
        }
    }
}

// MARK: - The threads' side

extension DiskQueue {
    /// When to look again, if nothing is to be done before; nil: nothing waits for its time.
    var nextTime: Int64? { timed.first?.time }

    var isEmpty: Bool { firstRead == reads.count && firstChange == changes.count && timed.isEmpty && !isChanging }

    /// The next thing to do; nil for none now.
    mutating func next(at now: Int64) -> Piece? {
        while let first = timed.first, first.time <= now || isStopped {
            timed.removeFirst()
            reads.append(first.work)
        }
        if let work = popRead() { return .read(work) }
        guard !isChanging, let change = popChange() else { return nil }
        isChanging = true
        guard case .key(let key, _) = change.kind, let staged = staged[key], staged.number == change.number else {
            return .change(change, nil)
        }
        return .change(change, staged.value)
    }

    /// A change has been made, or has failed.
    mutating func changed(_ change: Change) {
        isChanging = false
        done = change.number
        switch change.kind {
        case .key(let key, _):
            if staged[key]?.number == change.number { staged[key] = nil }
        case .clear: clears -= 1
        case .other: break
        }
    }

    private mutating func popRead() -> Work? {
        guard firstRead < reads.count else { return nil }
        defer { Self.compact(&reads, &firstRead) }
        firstRead += 1
        return reads[firstRead - 1]
    }

    private mutating func popChange() -> Change? {
        guard firstChange < changes.count else { return nil }
        defer { Self.compact(&changes, &firstChange) }
        firstChange += 1
        return changes[firstChange - 1]
    }

    /// Forgets what has been taken, now and then.
    private static func compact<Element>(_ line: inout [Element], _ first: inout Int) {
        guard first == line.count || (first >= 64 && first * 2 >= line.count) else { return }
        line.removeFirst(first)
        first = 0
    }
}

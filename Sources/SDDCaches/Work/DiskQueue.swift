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
            case key(String, then: (@Sendable (CacheError?) -> Void)?)
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

    private var reads = WorkLine<Work>()
    private var changes = WorkLine<Change>()
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
    /// Nobody is left to do anything.
    private(set) var isEnded = false
}

// MARK: - What is wanted

/// What gives way to something newer is handed back, for the caller to let go of without a lock: it may be the host's.
extension DiskQueue {
    mutating func read(_ work: @escaping Work) { reads.append(work) }

    mutating func stage(
        _ value: Staged, for key: String, then: (@Sendable (CacheError?) -> Void)? = nil
    ) -> Staged? {
        lastChange += 1
        changes.append(Change(number: lastChange, kind: .key(key, then: then)))
        return staged.updateValue((value, lastChange), forKey: key)?.value
    }

    mutating func clear() -> [Staged] {
        lastChange += 1
        clears += 1
        changes.append(Change(number: lastChange, kind: .clear))
        defer { staged = [:] }
        return staged.values.map(\.value)
    }

    /// Something else, in line with the changes.
    mutating func change(_ work: @escaping Work) {
        lastChange += 1
        changes.append(Change(number: lastChange, kind: .other(work)))
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

    var isEmpty: Bool { reads.isEmpty && changes.isEmpty && timed.isEmpty && !isChanging }

    /// The next thing to do; nil for none now.
    mutating func next(at now: Int64) -> Piece? {
        while let first = timed.first, first.time <= now || isStopped {
            timed.removeFirst()
            reads.append(first.work)
        }
        if let work = reads.popFirst() { return .read(work) }
        guard !isChanging, let change = changes.popFirst() else { return nil }
        isChanging = true
        guard case .key(let key, _) = change.kind, let staged = staged[key], staged.number == change.number else {
            return .change(change, nil)
        }
        return .change(change, staged.value)
    }

    /// The same once nobody but the caller is left: where there is nothing, that is the end.
    mutating func nextOrEnd(at now: Int64) -> Piece? {
        if let piece = next(at: now) { return piece }
        isEnded = true
        return nil
    }

    /// A change has been made, or has failed.
    /// - Returns: what was staged for it.
    mutating func changed(_ change: Change) -> Staged? {
        isChanging = false
        done = change.number
        switch change.kind {
        case .key(let key, _):
            if staged[key]?.number == change.number { return staged.removeValue(forKey: key)?.value }
        case .clear: clears -= 1
        case .other: break
        }
        return nil
    }
}

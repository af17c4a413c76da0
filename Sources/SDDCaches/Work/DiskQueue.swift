package import SDDBase

/// What the disk threads of one cache are to do, and what is decided but not yet on disk. A state machine: who calls it
/// says what time it is, and does what it gives out. Four lines: reads, which wait for nothing else; removals, which wait
/// for the change under way; changes, one at a time in the order in which they came; and what is to be done at a certain
/// time.
package struct DiskQueue {
    typealias Work = @Sendable () -> Void
    package typealias Told = @Sendable (CacheError?) -> Void

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
        /// There was no memory to make it in.
        case noMemory
    }

    package typealias Making = @Sendable () -> Made

    struct Change {
        let number: UInt64
        let kind: Kind

        enum Kind {
            case key(StagedChange)
            /// Told when it is done.
            case clear(Told?)
            case other(Work)
        }

        var then: Told? {
            switch kind {
            case .key(let change): change.then
            case .clear(let then): then
            case .other: nil
            }
        }

        /// The value to write; `nil` if a later change has taken its place, and for a change that is not one of a key.
        var staged: Staged? {
            if case .key(let change) = kind { change.value } else { nil }
        }
    }

    enum Piece {
        case read(Work)
        case change(Change)
    }

    private struct Timed: Comparable {
        let time: Int64
        let number: UInt64
        let work: Work

        static func < (a: Timed, b: Timed) -> Bool { (a.time, a.number) < (b.time, b.number) }
        static func == (a: Timed, b: Timed) -> Bool { a.number == b.number }
    }

    private var reads = WorkLine<Work>()
    private var removals = WorkLine<Change>()
    private var changes = WorkLine<Change>()
    private var isChanging = false
    private var timed: [Timed] = []
    /// The newest change of each key that is not done.
    private var staged: [String: StagedChange] = [:]
    /// Writes that may be dropped, oldest first; also such as are done or dropped by now.
    private var droppable = WorkLine<StagedChange>()
    /// Bytes that staged writes hold.
    private(set) var heldBytes = 0
    private let mostHeldBytes: Int
    /// In `changes`, those that have nothing to do and nobody to tell.
    private var emptyChanges = 0
    /// The last changes of those who wait in a flush, in no order.
    private var flushed: [UInt64] = []
    /// Removals that failed: their entries are on disk, and are not found.
    private var failedRemovals = 0
    /// Of all entries, not yet done: what is on disk counts as gone.
    private var clears = 0
    /// The numbers of the last change that is wanted so far, and of the last before which all are done.
    private(set) var lastChange: UInt64 = 0
    private(set) var done: UInt64 = 0
    private var lastTimed: UInt64 = 0
    private(set) var isStopped = false
    /// Nobody is left to do anything.
    private(set) var isEnded = false
    /// Threads that take pieces.
    var threads = 0

    /// More keys are not kept from being found after a removal that failed.
    static let mostFailedRemovals = 4096
    /// What a staged write takes beside its key and its bytes.
    private static let overhead = 256

    /// - Parameter mostHeldBytes: what staged writes may hold before the oldest are dropped.
    init(mostHeldBytes: Int = .max) { self.mostHeldBytes = mostHeldBytes }
}

// MARK: - What is wanted

/// What gives way to something newer is handed back, for the caller to let go of without a lock: it may be the host's.
extension DiskQueue {
    mutating func read(_ work: @escaping Work) { reads.append(work) }

    /// - Parameters:
    ///   - cost: bytes that the value holds.
    ///   - isAwaited: somebody waits until it is on disk.
    mutating func stage(
        _ value: Staged, for key: String, cost: Int = 0, isAwaited: Bool = false, then: Told? = nil
    ) -> ReleasedChanges {
        lastChange += 1
        var released = ReleasedChanges()
        let old = staged[key]
        let change = StagedChange(
            value, for: key, number: lastChange, cost: Self.sum(cost, Self.overhead + key.utf8.count),
            isAwaited: isAwaited, isAfterRemoval: old.map { $0.isAfterRemoval || !$0.isWrite } ?? false, then: then)
        staged[key] = change
        if let old { give(up: old, &released) }
        if change.isUrgent {
            removals.append(Change(number: lastChange, kind: .key(change)))
        } else {
            changes.append(Change(number: lastChange, kind: .key(change)))
            heldBytes = Self.sum(heldBytes, change.cost)
            if !isAwaited { droppable.append(change) }
            dropWhatIsTooMuch(except: change, &released)
        }
        return released
    }

    mutating func clear(then: Told? = nil) -> ReleasedChanges {
        lastChange += 1
        clears += 1
        changes.append(Change(number: lastChange, kind: .clear(then)))
        var released = ReleasedChanges()
        for change in staged.values { give(up: change, &released) }
        staged = [:]
        failedRemovals = 0
        return released
    }

    /// Something else, in line with the changes.
    /// - Parameter isAwaited: somebody waits until what was asked for before is on disk.
    mutating func change(isAwaited: Bool = false, _ work: @escaping Work) {
        lastChange += 1
        if isAwaited { keepSoFar() }
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

    /// Somebody waits for all changes so far: none of them is dropped meanwhile.
    /// - Returns: the last of them.
    mutating func beginFlush() -> UInt64 {
        flushed.append(lastChange)
        return lastChange
    }

    mutating func endFlush(_ last: UInt64) {
        if let index = flushed.firstIndex(of: last) { flushed.remove(at: index) }
    }
}

// MARK: - What is dropped

extension DiskQueue {
    /// Something newer has taken its place.
    private mutating func give(up change: StagedChange, _ released: inout ReleasedChanges) {
        // The value of one that is under way is with who writes it, and counts until that is done.
        if change.isUnderWay { return }
        if change.isWrite { heldBytes -= change.cost }
        if change.hasFailed { failedRemovals -= 1 }
        if let value = change.takeValue() { released.values.append(value) }
        if change.then == nil, !change.isUrgent { emptyChanges += 1 }
    }

    /// The oldest go that nobody waits for.
    private mutating func dropWhatIsTooMuch(except newest: StagedChange, _ released: inout ReleasedChanges) {
        while heldBytes > mostHeldBytes, let oldest = droppable.first, oldest !== newest {
            _ = droppable.popFirst()
            if oldest.isWrite, !oldest.isUnderWay, !isFlushed(oldest) { drop(oldest, &released) }
        }
        leaveOutEmptyChanges()
    }

    private func isFlushed(_ change: StagedChange) -> Bool { flushed.contains { $0 >= change.number } }

    /// What is in line now is not dropped any more.
    private mutating func keepSoFar() { droppable = WorkLine() }

    private mutating func drop(_ change: StagedChange, _ released: inout ReleasedChanges) {
        heldBytes -= change.cost
        released.droppedCount += 1
        if let value = change.takeValue() { released.values.append(value) }
        if let then = change.takeThen() { released.thens.append(then) }
        if change.isAfterRemoval {
            change.becomeRemoval()
        } else {
            if staged[change.key] === change { staged[change.key] = nil }
            emptyChanges += 1
        }
    }

    /// Their places in line are memory, too.
    private mutating func leaveOutEmptyChanges() {
        guard emptyChanges > 64, emptyChanges > changes.count / 2 else { return }
        changes.removeAll { change in
            guard case .key(let change) = change.kind else { return false }
            return change.value == nil && change.then == nil
        }
        droppable.removeAll { $0.value == nil }
        emptyChanges = 0
        if isIdle { done = lastChange }
    }

    /// The time is over: no entry is written or removed any more.
    mutating func dropAll() -> ReleasedChanges {
        var released = ReleasedChanges()
        var others = WorkLine<Change>()
        for change in [removals.takeAll(), changes.takeAll()].joined() {
            switch change.kind {
            case .other: others.append(change)
            case .clear(let then):
                clears -= 1
                released.droppedCount += 1
                if let then { released.thens.append(then) }
            case .key(let key):
                if key.isWrite { heldBytes -= key.cost }
                if key.value != nil { released.droppedCount += 1 }
                if let value = key.takeValue() { released.values.append(value) }
                if let then = key.takeThen() { released.thens.append(then) }
            }
        }
        changes = others
        staged = staged.filter { $0.value.isUnderWay }
        droppable = WorkLine()
        emptyChanges = 0
        if isIdle { done = lastChange }
        return released
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
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

    /// Changes that are to be made.
    var changeCount: Int { changes.count + removals.count }

    var isEmpty: Bool { reads.isEmpty && timed.isEmpty && isIdle }

    /// No change is to be made.
    private var isIdle: Bool { changes.isEmpty && removals.isEmpty && !isChanging }

    /// The next thing to do; nil for none now.
    mutating func next(at now: Int64) -> Piece? {
        while let first = timed.first, first.time <= now || isStopped {
            timed.removeFirst()
            reads.append(first.work)
        }
        if let work = reads.popFirst() { return .read(work) }
        guard !isChanging, let change = removals.popFirst() ?? changes.popFirst() else { return nil }
        isChanging = true
        guard case .key(let key) = change.kind else { return .change(change) }
        if key.value == nil {
            if key.then == nil { emptyChanges = max(0, emptyChanges - 1) }
        } else {
            key.isUnderWay = true
        }
        return .change(change)
    }

    /// The same once nobody but the caller is left: where there is nothing, that is the end.
    mutating func nextOrEnd(at now: Int64) -> Piece? {
        if let piece = next(at: now) { return piece }
        isEnded = true
        return nil
    }

    /// A change has been made, or has failed.
    /// - Returns: what was staged for it.
    mutating func changed(_ change: Change, failed: Bool = false) -> Staged? {
        isChanging = false
        defer { if isIdle { done = lastChange } }
        switch change.kind {
        case .key(let key): return changed(key, failed: failed)
        case .clear: clears = max(0, clears - 1)
        case .other: break
        }
        done = max(done, change.number)
        return nil
    }

    private mutating func changed(_ change: StagedChange, failed: Bool) -> Staged? {
        defer { while let first = droppable.first, first.value == nil { _ = droppable.popFirst() } }
        change.isUnderWay = false
        if !change.isUrgent { done = max(done, change.number) }
        if case .removed? = change.value { return removed(change, failed: failed) }
        if change.isWrite { heldBytes -= change.cost }
        if staged[change.key] === change { staged[change.key] = nil }
        return change.takeValue()
    }

    /// An entry that is still on disk is not found again.
    private mutating func removed(_ change: StagedChange, failed: Bool) -> Staged? {
        guard staged[change.key] === change else { return change.takeValue() }
        if failed, failedRemovals < Self.mostFailedRemovals {
            change.hasFailed = true
            failedRemovals += 1
            return nil
        }
        staged[change.key] = nil
        return change.takeValue()
    }
}

package import SDDBase

/// The work of one cache's disk threads, and the changes that are accepted but not yet on disk. A state machine: its
/// caller passes in the time and does the work it returns. It has four lines: reads, the most urgent first, which wait
/// for nothing else; removals, which wait for the change under way; changes, made one at a time in order of arrival; and work scheduled
/// for a certain time.
package struct DiskQueue {
    typealias Work = @Sendable () -> Void
    package typealias Told = @Sendable (CacheError?) -> Void

    /// The value that a key will have on disk once the changes before it are done.
    enum Staged {
        case entry(EntryMetadata, Bytes)
        /// An entry that is created by the thread that writes it.
        case making(Making)
        case removed

        var isWrite: Bool { if case .removed = self { false } else { true } }
    }

    /// Knowledge of a caller about the entry that its own one replaces.
    package enum Older: Sendable {
        /// There may be one. It goes if the new one cannot be written.
        case perhaps
        /// It goes also if the new one is dropped.
        case outdated
        /// It has the same body: it stays if the new one cannot be written.
        case asGood
    }

    package enum Made {
        case entry(EntryMetadata, Bytes)
        /// The key has no entry.
        case nothing
        case impossible
        /// There was no memory to create the entry.
        case noMemory
    }

    package typealias Making = @Sendable () -> Made

    struct Change {
        let number: UInt64
        let kind: Kind

        enum Kind {
            case key(StagedChange)
            /// The completion is called when the clear is done.
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

        /// The value to write; `nil` if a later change has replaced it, or the change does not concern a single key.
        var staged: Staged? {
            if case .key(let change) = kind { change.value } else { nil }
        }
    }

    enum Piece {
        case read(Work)
        case change(Change)
    }

    private struct Reading {
        /// The number of the caller's wish; 0 for none.
        let number: UInt64
        let work: Work
    }

    private struct Timed: Comparable {
        let time: Int64
        let number: UInt64
        let work: Work

        static func < (a: Timed, b: Timed) -> Bool { (a.time, a.number) < (b.time, b.number) }
        static func == (a: Timed, b: Timed) -> Bool { a.number == b.number }
    }

    private var reads = PriorityBuckets<Reading>()
    /// The places of reads for a caller's wish, by its number.
    private var places: [UInt64: PriorityBuckets<Reading>.Place] = [:]
    private var removals = WorkLine<Change>()
    private var changes = WorkLine<Change>()
    private var isChanging = false
    private var timed: [Timed] = []
    /// The newest unfinished change of each key.
    private var staged: [ExactText<String>: StagedChange] = [:]
    /// Writes that may be dropped, oldest first. Some may have been finished or dropped already.
    private var droppable = WorkLine<StagedChange>()
    /// The bytes that staged writes hold.
    private(set) var heldBytes = 0
    private let mostHeldBytes: Int
    /// The number of elements of `changes` that have neither a value nor a completion.
    private var emptyChanges = 0
    /// The last change of each flush that is waiting, in no order.
    private var flushed: [UInt64] = []
    /// The number of failed removals: their entries are still on disk but must not be found.
    private var failedRemovals = 0
    /// The number of unfinished clears. While it is not 0, entries on disk count as removed.
    private var clears = 0
    /// The id of the last change requested, and the id up to which all changes are done.
    private(set) var lastChange: UInt64 = 0
    private(set) var done: UInt64 = 0
    private var lastTimed: UInt64 = 0
    private(set) var isStopped = false
    /// True once no thread is left to do any work.
    private(set) var isEnded = false
    /// The number of threads that take work.
    var threads = 0

    /// The most failed removals that are remembered. Beyond that, an entry whose removal failed is found again.
    static let mostFailedRemovals = 4096
    /// The approximate bytes that a staged write takes in addition to its key and value.
    private static let overhead = 256

    /// - Parameter mostHeldBytes: the most bytes that staged writes may hold before the oldest are dropped.
    init(mostHeldBytes: Int = .max) { self.mostHeldBytes = mostHeldBytes }
}

// MARK: - Requests

/// Values that are replaced are returned, so that the caller releases them without a lock: they may belong to the
/// application.
extension DiskQueue {
    /// - Parameter wish: the caller's; nil for work of the cache itself.
    mutating func read(for wish: DiskRead? = nil, _ work: @escaping Work) {
        let number = wish?.number ?? 0
        let place = reads.append(Reading(number: number, work: work), priority: wish?.priority ?? .normal)
        if wish != nil { places[number] = place }
    }

    /// Moves the waiting read for a wish that has become more urgent.
    mutating func raise(_ wish: DiskRead) {
        guard let place = places[wish.number], let reading = reads.remove(place) else { return }
        places[wish.number] = reads.append(reading, priority: wish.priority)
    }

    /// - Parameters:
    ///   - cost: the bytes that the value holds.
    ///   - isAwaited: true if a caller waits until the value is on disk.
    mutating func stage(
        _ value: Staged, for key: String, cost: Int = 0, isAwaited: Bool = false, older: Older = .perhaps,
        then: Told? = nil
    ) -> ReleasedChanges {
        lastChange += 1
        var released = ReleasedChanges()
        let old = staged[ExactText(key)]
        let change = StagedChange(
            value, for: key, number: lastChange, cost: Self.sum(cost, Self.overhead + key.utf8.count),
            isAwaited: isAwaited, older: older,
            isAfterRemoval: older == .outdated
                || old.map { $0.isAfterRemoval || !$0.isWrite || !$0.isUnderWay } ?? false,
            then: then)
        staged[ExactText(key)] = change
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

    /// Adds other work in order with the changes.
    /// - Parameter isAwaited: true if a caller waits until all earlier changes are on disk.
    mutating func change(isAwaited: Bool = false, _ work: @escaping Work) {
        lastChange += 1
        if isAwaited { keepSoFar() }
        changes.append(Change(number: lastChange, kind: .other(work)))
    }

    /// Adds work for a certain time.
    /// - Parameter time: microseconds of the monotonic clock.
    mutating func at(_ time: Int64, _ work: @escaping Work) {
        lastTimed += 1
        let entry = Timed(time: time, number: lastTimed, work: work)
        let index = timed.firstIndex { entry < $0 } ?? timed.endIndex
        timed.insert(entry, at: index)
    }

    /// Stops the queue: all requested work is still done, and timed work is done at once.
    mutating func stop() { isStopped = true }

    /// Begins a flush: no change requested so far is dropped until `endFlush`.
    /// - Returns: the id of the last change requested.
    mutating func beginFlush() -> UInt64 {
        flushed.append(lastChange)
        return lastChange
    }

    mutating func endFlush(_ last: UInt64) {
        if let index = flushed.firstIndex(of: last) { flushed.remove(at: index) }
    }
}

// MARK: - Dropping

extension DiskQueue {
    /// Gives up a change that a newer one replaces.
    private mutating func give(up change: StagedChange, _ released: inout ReleasedChanges) {
        // The thread that writes the value still holds it, and its cost counts until the write is done.
        if change.isUnderWay { return }
        if change.isWrite { heldBytes -= change.cost }
        if change.hasFailed { failedRemovals -= 1 }
        if let value = change.takeValue() { released.values.append(value) }
        if change.then == nil, !change.isUrgent { emptyChanges += 1 }
    }

    /// Drops the oldest writes that no caller waits for until the limit is met.
    private mutating func dropWhatIsTooMuch(except newest: StagedChange, _ released: inout ReleasedChanges) {
        while heldBytes > mostHeldBytes, let oldest = droppable.first, oldest !== newest {
            _ = droppable.popFirst()
            if oldest.isWrite, !oldest.isUnderWay, !isFlushed(oldest) { drop(oldest, &released) }
        }
        leaveOutEmptyChanges()
    }

    private func isFlushed(_ change: StagedChange) -> Bool { flushed.contains { $0 >= change.number } }

    /// Protects all writes requested so far from being dropped.
    private mutating func keepSoFar() { droppable = WorkLine() }

    private mutating func drop(_ change: StagedChange, _ released: inout ReleasedChanges) {
        heldBytes -= change.cost
        released.droppedCount += 1
        if let value = change.takeValue() { released.values.append(value) }
        if let then = change.takeThen() { released.thens.append(then) }
        if change.isAfterRemoval {
            change.becomeRemoval()
        } else {
            if staged[ExactText(change.key)] === change { staged[ExactText(change.key)] = nil }
            emptyChanges += 1
        }
    }

    /// Removes the empty changes, since they take memory too.
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

    /// Drops all entries and removals, because the time limit of the end is over.
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

// MARK: - Lookups without the disk

extension DiskQueue {
    enum Known {
        case staged(EntryMetadata, Bytes)
        case nothing
        /// The disk can tell once the changes so far are done.
        case later
        /// Only the disk can tell.
        case unknown
    }

    func known(_ key: String) -> Known {
        switch staged[ExactText(key)]?.value {
        case .entry(let metadata, let body)?: .staged(metadata, body)
        case .making?: .later
        case .removed?: .nothing
        case nil: clears > 0 ? .nothing : .unknown
        }
    }
}

// MARK: - Work for the threads

extension DiskQueue {
    /// The time of the next timed work; nil if there is none.
    var nextTime: Int64? { timed.first?.time }

    /// The number of changes that wait to be made.
    var changeCount: Int { changes.count + removals.count }

    var isEmpty: Bool { reads.isEmpty && timed.isEmpty && isIdle }

    /// True if no change waits or is being made.
    private var isIdle: Bool { changes.isEmpty && removals.isEmpty && !isChanging }

    /// Returns the next piece of work; nil if there is none now.
    mutating func next(at now: Int64) -> Piece? {
        while let first = timed.first, first.time <= now || isStopped {
            timed.removeFirst()
            read(first.work)
        }
        if let reading = reads.popFirst() {
            if reading.number != 0 { places[reading.number] = nil }
            return .read(reading.work)
        }
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

    /// Like `next(at:)`, for the last caller once all threads have ended: ends the queue if there is no more work.
    mutating func nextOrEnd(at now: Int64) -> Piece? {
        if let piece = next(at: now) { return piece }
        isEnded = true
        return nil
    }

    /// Turns a write under way that has failed into a removal that fails as well.
    /// - Returns: the value, for the caller to release.
    mutating func becomesRemoval(_ change: StagedChange) -> Staged? {
        if change.isWrite { heldBytes -= change.cost }
        defer { change.becomeRemoval() }
        return change.takeValue()
    }

    /// Records that a change has been made or has failed.
    /// - Returns: the staged value, for the caller to release.
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
        if staged[ExactText(change.key)] === change { staged[ExactText(change.key)] = nil }
        return change.takeValue()
    }

    /// Records a removal. If it failed, the entry on disk is still not found.
    private mutating func removed(_ change: StagedChange, failed: Bool) -> Staged? {
        guard staged[ExactText(change.key)] === change else { return change.takeValue() }
        if failed, failedRemovals < Self.mostFailedRemovals {
            change.hasFailed = true
            failedRemovals += 1
            return nil
        }
        staged[ExactText(change.key)] = nil
        return change.takeValue()
    }
}

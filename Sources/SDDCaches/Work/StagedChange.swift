import SDDBase

/// A change of one key that is accepted but not yet on disk. It is in a line of its `DiskQueue` and in the queue's
/// table of keys. Its value is released as soon as it is replaced, dropped or written.
final class StagedChange: @unchecked Sendable {
    // Safety: the mutable state is touched only under the lock of its queue.
    let key: String
    let number: UInt64
    /// The completion, called once when the change has been made, has failed or has been dropped.
    private(set) var then: DiskQueue.Told?
    /// The value; nil once there is no more work.
    private(set) var value: DiskQueue.Staged?
    /// The bytes that the value holds.
    let cost: Int
    /// True if a caller waits until the change is on disk: it is never dropped to save memory.
    let isAwaited: Bool
    let older: DiskQueue.Older
    /// True if the entry on disk is known to be outdated, an earlier removal of the key was unfinished, or this value replaces one that was not written: if it is not
    /// written itself, no entry may be found, since that on disk is older than both.
    let isAfterRemoval: Bool
    /// True for a removal, which is made before writes.
    let isUrgent: Bool
    /// True while a disk thread makes this change.
    var isUnderWay = false
    /// True for a failed removal: the entry is still on disk but must not be found.
    var hasFailed = false

    init(
        _ value: DiskQueue.Staged, for key: String, number: UInt64, cost: Int, isAwaited: Bool,
        older: DiskQueue.Older = .perhaps,
        isAfterRemoval: Bool, then: DiskQueue.Told?
    ) {
        self.value = value
        self.key = key
        self.number = number
        self.cost = cost
        self.isAwaited = isAwaited
        self.older = older
        self.isAfterRemoval = isAfterRemoval
        self.then = then
        isUrgent = !value.isWrite
    }

    var isWrite: Bool { value?.isWrite ?? false }

    func takeValue() -> DiskQueue.Staged? {
        defer { value = nil }
        return value
    }

    func takeThen() -> DiskQueue.Told? {
        defer { then = nil }
        return then
    }

    /// Turns a write that was dropped or has failed into a removal, because the removal before it is still needed.
    func becomeRemoval() { value = .removed }
}

/// Changes that left a queue without being made. The caller releases them and calls their completions with no lock
/// held.
struct ReleasedChanges {
    var values: [DiskQueue.Staged] = []
    var thens: [DiskQueue.Told] = []
    /// The number of changes that are never made.
    var droppedCount: Int64 = 0

    func tell() {
        for then in thens { then(.dropped) }
    }
}

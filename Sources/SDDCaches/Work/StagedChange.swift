import SDDBase

/// A change of one key that is decided and not yet on disk. It stands in the line of its `DiskQueue` and in its table of
/// keys; its value goes as soon as something newer takes its place, is dropped, or is done.
final class StagedChange: @unchecked Sendable {
    // Safety: what can change is touched under the lock of its queue alone.
    let key: String
    let number: UInt64
    /// To be called once, when it has been made, has failed or has been dropped.
    private(set) var then: DiskQueue.Told?
    /// Nil: there is nothing to be done any more.
    private(set) var value: DiskQueue.Staged?
    /// Bytes that the value holds.
    let cost: Int
    /// Somebody waits until it is on disk: it is never dropped to save memory.
    let isAwaited: Bool
    /// The key was to be removed before, and that had not been done: without this value, nothing may be found.
    let isAfterRemoval: Bool
    /// A removal, which goes in front of writes.
    let isUrgent: Bool
    /// A disk thread is at it.
    var isUnderWay = false
    /// A removal that could not be done: the entry is on disk, and is not to be found.
    var hasFailed = false

    init(
        _ value: DiskQueue.Staged, for key: String, number: UInt64, cost: Int, isAwaited: Bool, isAfterRemoval: Bool,
        then: DiskQueue.Told?
    ) {
        self.value = value
        self.key = key
        self.number = number
        self.cost = cost
        self.isAwaited = isAwaited
        self.isAfterRemoval = isAfterRemoval
        self.then = then
        isUrgent = if case .removed = value { true } else { false }
    }

    var isWrite: Bool {
        switch value {
        case .entry?, .making?: true
        case .removed?, nil: false
        }
    }

    func takeValue() -> DiskQueue.Staged? {
        defer { value = nil }
        return value
    }

    func takeThen() -> DiskQueue.Told? {
        defer { then = nil }
        return then
    }

    /// The write is dropped, but the removal before it is not.
    func becomeRemoval() { value = .removed }
}

/// What has left a queue without being done: the caller lets go of it, and tells those it belonged to, with no lock held.
struct ReleasedChanges {
    var values: [DiskQueue.Staged] = []
    var thens: [DiskQueue.Told] = []
    /// Changes that are never made.
    var droppedCount: Int64 = 0

    func tell() {
        for then in thens { then(.dropped) }
    }
}

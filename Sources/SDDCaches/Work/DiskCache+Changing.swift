package import SDDBase

/// Changing: in line, one after the other, and seen at once.
extension DiskCache {
    /// Stores an entry: seen from now on, written soon.
    /// - Parameter then: called once, on a disk thread.
    package func store(
        _ metadata: EntryMetadata, _ body: Bytes, then: @escaping @Sendable (CacheError?) -> Void = { _ in }
    ) {
        stage(.entry(metadata, body), for: metadata.key, then: then)
    }

    /// The same of an entry that is still to be made.
    /// - Parameter make: called once, on a disk thread.
    package func store(
        _ key: String, then: @escaping @Sendable (CacheError?) -> Void,
        make: @escaping DiskQueue.Making
    ) {
        stage(.making(make), for: key, then: then)
    }

    package func remove(_ key: String) { stage(.removed, for: key, then: nil) }

    package func clear() {
        var old: [DiskQueue.Staged] = []
        if wish({ old = $0.clear() }) { queue.signal() }
        withExtendedLifetime(old) {}
    }

    private func stage(
        _ value: DiskQueue.Staged, for key: String, then: (@Sendable (CacheError?) -> Void)?
    ) {
        var old: DiskQueue.Staged?
        let isTaken = wish { old = $0.stage(value, for: key, then: then) }
        withExtendedLifetime(old) {}
        // A cache that has ended keeps nothing, and that is no failure.
        if isTaken { queue.signal() } else { then?(nil) }
    }

    /// Something else that changes the disk, in line.
    package func change(_ work: @escaping @Sendable () -> Void) {
        let isTaken = wish { $0.change(work) }
        if isTaken { queue.signal() } else { work() }
    }

    /// Waits until all that has been asked for before is done.
    /// - Returns: false when the time is over. Negative: no limit.
    package func flush(milliseconds: Int64) -> Bool {
        let last = queue.withLock { $0.lastChange }
        return queue.wait(milliseconds: milliseconds) { $0.done >= last ? true : nil } ?? false
    }
}

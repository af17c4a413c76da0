package import SDDBase

/// Changing: in line, one after the other, and seen at once.
extension DiskCache {
    /// Stores an entry: seen from now on, written soon. Where too much waits to be written, the oldest entries that
    /// nobody waits for are not.
    /// - Parameters:
    ///   - isAwaited: somebody waits until it is on disk.
    ///   - then: called once, on a disk thread; with `.dropped` on any, for an entry that is not written.
    package func store(
        _ metadata: EntryMetadata, _ body: Bytes, isAwaited: Bool = false,
        then: DiskQueue.Told? = nil
    ) {
        let cost = body.heldBytes + metadata.http.count + metadata.user.count
        stage(.entry(metadata, body), for: metadata.key, cost: cost, isAwaited: isAwaited, then: then)
    }

    /// The same of an entry that is still to be made.
    /// - Parameters:
    ///   - cost: bytes that are held until it has been made.
    ///   - make: called once, on a disk thread, or never.
    package func store(
        _ key: String, cost: Int = 0, isAwaited: Bool = false, then: @escaping DiskQueue.Told,
        make: @escaping DiskQueue.Making
    ) {
        stage(.making(make), for: key, cost: cost, isAwaited: isAwaited, then: then)
    }

    /// The entry is not found from now on, even if its file cannot be removed.
    /// - Parameter then: as for `store`.
    package func remove(_ key: String, then: DiskQueue.Told? = nil) {
        stage(.removed, for: key, cost: 0, isAwaited: true, then: then)
    }

    package func clear(then: DiskQueue.Told? = nil) {
        var old = ReleasedChanges()
        let isTaken = wish { old = $0.clear(then: then) }
        release(old)
        if isTaken { queue.signal() } else { then?(nil) }
    }

    private func stage(
        _ value: DiskQueue.Staged, for key: String, cost: Int, isAwaited: Bool, then: DiskQueue.Told?
    ) {
        var old = ReleasedChanges()
        let isTaken = wish { old = $0.stage(value, for: key, cost: cost, isAwaited: isAwaited, then: then) }
        release(old)
        // A cache that has ended keeps nothing, and that is no failure.
        if isTaken { queue.signal() } else { then?(nil) }
    }

    /// Lets go of what is not done, and tells those it belonged to.
    func release(_ changes: ReleasedChanges) {
        if changes.droppedCount > 0 { counters.add(.writesDropped, changes.droppedCount) }
        changes.tell()
    }

    /// Something else that changes the disk, in line.
    /// - Parameter isAwaited: somebody waits until what was asked for before is on disk.
    package func change(isAwaited: Bool = false, _ work: @escaping @Sendable () -> Void) {
        let isTaken = wish { $0.change(isAwaited: isAwaited, work) }
        if isTaken { queue.signal() } else { work() }
    }

    /// Waits until all that has been asked for before is done.
    /// - Returns: false when the time is over. Negative: no limit.
    package func flush(milliseconds: Int64) -> Bool {
        let last = queue.withLock { $0.beginFlush() }
        defer { queue.withLock { $0.endFlush(last) } }
        return queue.wait(on: progress, milliseconds: milliseconds) { $0.done >= last ? true : nil } ?? false
    }

    /// More changes wait than a disk is done with in a moment.
    package var isBehind: Bool { queue.withLock { $0.changeCount > 16 } }

    /// Bytes that wait to be written.
    package var heldBytes: Int { queue.withLock { $0.heldBytes } }

    /// Asks for a change, and waits for what comes of it; on a disk thread, which would wait for itself, it does not.
    package func waitForChange(_ ask: (@escaping DiskQueue.Told) -> Void) -> CacheError? {
        let outcome = Monitor<CacheError??>(nil)
        ask { error in
            outcome.withLock { $0 = .some(error) }
            outcome.broadcast()
        }
        return isOwnThread ? nil : outcome.wait { $0 }
    }
}

package import SDDBase

/// Changes: made one after the other, and visible to lookups at once.
extension DiskCache {
    /// Stores an entry: visible at once, written soon. If too many bytes wait to be written, the oldest entries that no
    /// caller waits for are dropped.
    /// - Parameters:
    ///   - isAwaited: true if a caller waits until the entry is on disk.
    ///   - older: what is known of the entry that this one replaces.
    ///   - then: called once: on a disk thread, or, with `.dropped`, on any thread if the entry is not written.
    package func store(
        _ metadata: EntryMetadata, _ body: Bytes, isAwaited: Bool = false, older: DiskQueue.Older = .perhaps,
        then: DiskQueue.Told? = nil
    ) {
        let cost = body.heldBytes + metadata.http.count + metadata.user.count
        stage(
            .entry(metadata, body), for: metadata.key, cost: cost, isAwaited: isAwaited, older: older, then: then)
    }

    /// Stores an entry that is created on the disk thread.
    /// - Parameters:
    ///   - cost: the bytes held until the entry has been created.
    ///   - make: called at most once, on a disk thread.
    package func store(
        _ key: String, cost: Int = 0, isAwaited: Bool = false, then: @escaping DiskQueue.Told,
        make: @escaping DiskQueue.Making
    ) {
        stage(.making(make), for: key, cost: cost, isAwaited: isAwaited, then: then)
    }

    /// Removes an entry. From now on it is not found, even if its file cannot be removed.
    /// - Parameter then: as for `store(_:_:isAwaited:then:)`.
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
        _ value: DiskQueue.Staged, for key: String, cost: Int, isAwaited: Bool, older: DiskQueue.Older = .perhaps,
        then: DiskQueue.Told?
    ) {
        var old = ReleasedChanges()
        let isTaken = wish {
            old = $0.stage(value, for: key, cost: cost, isAwaited: isAwaited, older: older, then: then)
        }
        release(old)
        // A stopped cache stores nothing, and that is not an error.
        if isTaken { queue.signal() } else { then?(nil) }
    }

    /// Releases changes that are not made, and calls their completions with `.dropped`.
    func release(_ changes: ReleasedChanges) {
        if changes.droppedCount > 0 { counters.add(.writesDropped, changes.droppedCount) }
        changes.tell()
    }

    /// Runs `work` in order with the changes.
    /// - Parameter isAwaited: true if a caller waits until all earlier changes are on disk.
    package func change(isAwaited: Bool = false, _ work: @escaping @Sendable () -> Void) {
        let isTaken = wish { $0.change(isAwaited: isAwaited, work) }
        if isTaken { queue.signal() } else { work() }
    }

    /// Writes an entry before this returns. If that fails, an older one is removed. Only within the work of `change`,
    /// which keeps it in order with the others.
    package func writeNow(_ metadata: EntryMetadata, _ body: Bytes) {
        let failure = failure { () throws(CacheError) in try write(metadata, body) }
        guard let failure else { return }
        note(failure, of: metadata.key)
        removeNow(metadata.key)
    }

    /// Removes an entry before this returns. Only within the work of `change`.
    package func removeNow(_ key: String) {
        _ = failure { () throws(CacheError) in try store.remove(key) }
    }

    /// Waits until all earlier changes are done.
    /// - Returns: false if the time limit expires. A negative limit means no limit.
    package func flush(milliseconds: Int64) -> Bool {
        let last = queue.withLock { $0.beginFlush() }
        defer { queue.withLock { $0.endFlush(last) } }
        return queue.wait(on: progress, milliseconds: milliseconds) { $0.done >= last ? true : nil } ?? false
    }

    /// Returns the error of the first store that has failed since the last call; nil if none has.
    package func takeFirstFailure() -> CacheError? { failures.withLock { $0.takeFirst() } }

    /// Returns the error of the last store of a key, of the changes made so far; nil if it has not failed.
    package func failure(ofStoring key: String) -> CacheError? { failures.withLock { $0[key] } }

    func note(_ error: CacheError, of key: String, isLost: Bool = true) {
        failures.withLock { $0.failed(key, error, isLost: isLost) }
    }

    /// True if more changes wait than a disk can make in a moment.
    package var isBehind: Bool { queue.withLock { $0.changeCount > 16 } }

    /// The bytes that waiting writes hold.
    package var heldBytes: Int { queue.withLock { $0.heldBytes } }

    /// Requests a change and waits for its result. On a disk thread, which would wait for itself, returns nil at once.
    package func waitForChange(_ ask: (@escaping DiskQueue.Told) -> Void) -> CacheError? {
        let outcome = Monitor<CacheError??>(nil)
        ask { error in
            outcome.withLock { $0 = .some(error) }
            outcome.broadcast()
        }
        return isOwnThread ? nil : outcome.wait { $0 }
    }
}

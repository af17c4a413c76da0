import SDDBase

/// Reads, and other work on the disk threads beside the changes.
extension DiskCache {
    /// Looks a key up; the answer is nil if there is no entry.
    /// - Parameter wish: the caller's, which may make the read more urgent, or withdraw it before it begins; then there
    ///   is no answer.
    package func read(_ key: String, for wish: DiskRead? = nil, then answer: @escaping Answer) {
        let known = queue.withLock { queue -> DiskQueue.Known? in
            if queue.isEnded { return nil }
            let known = queue.known(key)
            switch known {
            case .unknown:
                queue.read(for: wish) { [self] in
                    if wish?.isWithdrawn != true { answer(readNow(key)) }
                }
            // By then another entry may be about to be created.
            case .later:
                queue.change { [self] in
                    if wish?.isWithdrawn != true { read(key, for: wish, then: answer) }
                }
            case .staged, .nothing: break
            }
            return known
        }
        switch known {
        case .staged?, .nothing?: answer(known.flatMap { counted($0) })
        case .unknown?, .later?: queue.signal()
        case nil: answer(readNow(key))
        }
    }

    /// Counts a lookup that the queue could answer without the disk, and returns its answer.
    private func counted(_ known: DiskQueue.Known) -> StoredEntry? {
        guard case .staged(let metadata, let body) = known else {
            counters.add(.diskMisses, 1)
            return nil
        }
        counters.add(.diskHits, 1)
        return StoredEntry(metadata: metadata, body: body)
    }

    /// Looks a key up on the calling thread, which waits for the disk.
    package func read(_ key: String) -> StoredEntry? {
        let known = knownWhenMade(key)
        switch known {
        case .staged, .nothing: return counted(known)
        case .unknown, .later: return readNow(key)
        }
    }

    /// Returns what the queue knows of a key, after waiting for an entry that is being created. A disk thread does not
    /// wait, since it would wait for itself.
    private func knownWhenMade(_ key: String) -> DiskQueue.Known {
        let known = queue.withLock { $0.known(key) }
        guard case .later = known, !isOwnThread else { return known }
        _ = flush(milliseconds: -1)
        return queue.withLock { $0.known(key) }
    }

    private func readNow(_ key: String) -> StoredEntry? {
        Trace.step("read the entry")
        do throws(CacheError) {
            guard let entry = try store.read(key) else {
                counters.add(.diskMisses, 1)
                return nil
            }
            counters.add(.diskHits, 1)
            counters.add(.diskReadBytes, Int64(entry.body.count))
            return entry
        } catch {
            counters.failed(error)
            counters.add(.diskMisses, 1)
            return nil
        }
    }

    package func contains(_ key: String) -> Bool {
        switch knownWhenMade(key) {
        case .staged: return true
        case .nothing: return false
        case .unknown, .later: return counting { () throws(CacheError) in try store.contains(key) } ?? false
        }
    }

    /// Opens the body of an entry. A staged write of the key is finished first.
    package func openBody(_ key: String) -> OpenEntry? {
        switch queue.withLock({ $0.known(key) }) {
        case .staged, .later: if !isOwnThread { _ = flush(milliseconds: -1) }
        case .nothing: return nil
        case .unknown: break
        }
        return counting { () throws(CacheError) in try store.openBody(key) } ?? nil
    }

    /// Runs work that only reads on a disk thread.
    /// - Parameter caller: the caller's wish, as for `read(_:for:then:)`.
    package func read(for caller: DiskRead? = nil, _ work: @escaping @Sendable () -> Void) {
        let wanted = { @Sendable in
            if caller?.isWithdrawn != true { work() }
        }
        let isTaken = wish { $0.read(for: caller, wanted) }
        if isTaken { queue.signal() } else { wanted() }
    }

    /// Runs work that only reads on a disk thread, no earlier than after the given time.
    package func read(afterMilliseconds milliseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        let time = time.monotonicMicroseconds() + milliseconds * 1000
        let isTaken = wish { $0.at(time, work) }
        // Wakes both threads, so that each recomputes the time of the next timed work.
        if isTaken { queue.broadcast() } else { work() }
    }

    /// Changes the queue under its lock.
    /// - Returns: false if the threads have ended. The caller must then do the work itself, so that no caller waits
    ///   forever.
    func wish(_ change: (inout DiskQueue) -> Void) -> Bool {
        queue.withLock { queue in
            if queue.isEnded { return false }
            change(&queue)
            return true
        }
    }

    func counting<Result>(_ body: () throws(CacheError) -> Result) -> Result? {
        do throws(CacheError) {
            return try body()
        } catch {
            counters.failed(error)
            return nil
        }
    }
}

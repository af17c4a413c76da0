import SDDBase

/// Reading, and what is to be done on a disk thread beside it.
extension DiskCache {
    /// What the disk has of a key; nil for nothing.
    package func read(_ key: String, then answer: @escaping Answer) {
        let known = queue.withLock { queue -> DiskQueue.Known? in
            if queue.isEnded { return nil }
            let known = queue.known(key)
            switch known {
            case .unknown: queue.read { [self] in answer(readNow(key)) }
            case .later: queue.change { [self] in answer(readNow(key)) }
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

    /// What is known without the disk.
    private func counted(_ known: DiskQueue.Known) -> StoredEntry? {
        guard case .staged(let metadata, let body) = known else {
            counters.add(.diskMisses, 1)
            return nil
        }
        counters.add(.diskHits, 1)
        return StoredEntry(metadata: metadata, body: body)
    }

    /// The same on the calling thread, which waits for the disk.
    package func read(_ key: String) -> StoredEntry? {
        let known = knownWhenMade(key)
        switch known {
        case .staged, .nothing: return counted(known)
        case .unknown, .later: return readNow(key)
        }
    }

    /// What is being made of a key is made first; but where a disk thread asks, it must not wait for itself.
    private func knownWhenMade(_ key: String) -> DiskQueue.Known {
        let known = queue.withLock { $0.known(key) }
        guard case .later = known, !isOwnThread else { return known }
        _ = flush(milliseconds: -1)
        return queue.withLock { $0.known(key) }
    }

    private func readNow(_ key: String) -> StoredEntry? {
        do throws(CacheError) {
            guard let entry = try store.read(key) else {
                counters.add(.diskMisses, 1)
                return nil
            }
            counters.add(.diskHits, 1)
            counters.add(.diskReadBytes, Int64(entry.body.count))
            planTrim()
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

    /// Writes what is staged of it first.
    package func openBody(_ key: String) -> OpenEntry? {
        switch queue.withLock({ $0.known(key) }) {
        case .staged, .later: if !isOwnThread { _ = flush(milliseconds: -1) }
        case .nothing: return nil
        case .unknown: break
        }
        return counting { () throws(CacheError) in try store.openBody(key) } ?? nil
    }

    /// Something that only reads, on a disk thread.
    package func read(_ work: @escaping @Sendable () -> Void) {
        let isTaken = wish { $0.read(work) }
        if isTaken { queue.signal() } else { work() }
    }

    /// The same, but not before so much time has passed.
    package func read(afterMilliseconds milliseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        let time = time.monotonicMicroseconds() + milliseconds * 1000
        let isTaken = wish { $0.at(time, work) }
        // Both look anew at when the next thing is to be done.
        if isTaken { queue.broadcast() } else { work() }
    }

    /// - Returns: false when the threads have ended: whoever calls sees to it alone, so that nobody waits in vain.
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

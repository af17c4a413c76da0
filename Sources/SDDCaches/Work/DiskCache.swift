package import SDDBase
import Synchronization

/// The disk level of a cache: a store, two threads that work on it, `sdd-disk-N`, and what is decided but not yet on disk,
/// which queries see already. Any thread; what is called back is called on a disk thread with no lock held, or, where
/// the answer is known, at once.
package final class DiskCache: Sendable {
    package typealias Answer = @Sendable (StoredEntry?) -> Void

    package let store: DiskStore
    package let counters: CacheCounters
    private let queue = Monitor(DiskQueue())
    private let time: any TimeSource
    /// Microseconds; nil: only over the limit.
    private let trimInterval: Int64?
    private let threads = Monitor<[NativeThread]>([])
    private let identities = Monitor<[ThreadIdentity]>([])
    private let isTrimPlanned = Atomic(false)
    /// Bytes, since the limit was last looked at.
    private let written = Monitor<Int64>(0)

    private init(_ store: DiskStore, counters: CacheCounters, trimInterval: Int64?, time: any TimeSource) {
        self.store = store
        self.counters = counters
        self.time = time
        self.trimInterval = trimInterval
    }

    /// Starts the threads: all of them or, with an error, none.
    package static func make(
        _ store: DiskStore, counters: CacheCounters, trimInterval: Int64?, time: any TimeSource = SystemTime()
    ) throws(SystemError) -> DiskCache {
        let cache = DiskCache(store, counters: counters, trimInterval: trimInterval, time: time)
        for number in 0..<2 {
            do throws(SystemError) {
                let thread = try NativeThread(name: "sdd-disk-\(number)") { cache.work() }
                cache.threads.withLock { $0.append(thread) }
            } catch {
                cache.endThreads()
                throw error
            }
        }
        if trimInterval != nil { cache.change { cache.trimIfDue() } }
        return cache
    }

    /// Does what has been asked for, trims, and ends the threads. Waits for it. Once; on none of the threads.
    package func stop() {
        if trimInterval != nil { change { [self] in trimIfDue() } }
        endThreads()
        store.flushUses()
    }

    private func endThreads() {
        queue.withLock { $0.stop() }
        queue.broadcast()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.join() }
        doTheRest()
    }

    /// What has come as the threads were ending. From then on nothing is put in line any more.
    private func doTheRest() {
        identities.withLock { $0 = [.current] }
        while let piece = queue.withLock({ $0.nextOrEnd(at: time.monotonicMicroseconds()) }) { perform(piece) }
        identities.withLock { $0 = [] }
    }

    /// It is about to end: nothing is worth waiting for.
    package var isStopping: Bool { queue.withLock { $0.isStopped } }

    /// Waiting for the disk here would be waiting for itself.
    package var isOwnThread: Bool { identities.withLock { $0.contains(.current) } }
}

// MARK: - Reading

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
    private func wish(_ change: (inout DiskQueue) -> Void) -> Bool {
        queue.withLock { queue in
            if queue.isEnded { return false }
            change(&queue)
            return true
        }
    }

    private func counting<Result>(_ body: () throws(CacheError) -> Result) -> Result? {
        do throws(CacheError) {
            return try body()
        } catch {
            counters.failed(error)
            return nil
        }
    }
}

// MARK: - Changing

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

// MARK: - The threads

extension DiskCache {
    /// Thread: sdd-disk-N.
    private func work() {
        identities.withLock { $0.append(.current) }
        while let piece = nextPiece() { perform(piece) }
    }

    private func perform(_ piece: DiskQueue.Piece) {
        switch piece {
        case .read(let work): work()
        case .change(let change, let staged):
            let failure = make(change, staged)
            let old = queue.withLock { $0.changed(change) }
            withExtendedLifetime(old) {}
            // Whoever waits for it, and the other thread, which had to wait.
            queue.broadcast()
            // Not before it is what the disk has.
            if case .key(_, let then?) = change.kind { then(failure) }
        }
    }

    /// Waits; nil at the end.
    private func nextPiece() -> DiskQueue.Piece? {
        while true {
            let (deadline, now) = (queue.withLock { $0.nextTime }, time.monotonicMicroseconds())
            let limit = deadline.map { max(0, ($0 - now + 999) / 1000) } ?? -1
            let outcome = queue.wait(milliseconds: limit) { queue -> Outcome? in
                if let piece = queue.next(at: time.monotonicMicroseconds()) { return .piece(piece) }
                if queue.isStopped, queue.isEmpty { return .end }
                return queue.nextTime == deadline ? nil : .again
            }
            switch outcome {
            case .piece(let piece)?: return piece
            case .end?: return nil
            case .again?, nil: continue
            }
        }
    }

    private enum Outcome {
        case piece(DiskQueue.Piece)
        case again, end
    }

    private func make(_ change: DiskQueue.Change, _ staged: DiskQueue.Staged?) -> CacheError? {
        switch change.kind {
        case .key(let key, _):
            planTrim()
            return apply(staged, to: key)
        case .clear: _ = counting { () throws(CacheError) in try store.clear() }
        case .other(let work): work()
        }
        return nil
    }

    /// nil: a later change has taken its place.
    private func apply(_ staged: DiskQueue.Staged?, to key: String) -> CacheError? {
        do throws(CacheError) {
            switch staged {
            case .entry(let metadata, let body)?: try write(metadata, body)
            case .making(let make)?:
                switch make() {
                case .entry(let metadata, let body): try write(metadata, body)
                case .nothing: try store.remove(key)
                case .impossible: throw .nothing
                }
            case .removed?: _ = try store.remove(key)
            case nil: break
            }
            return nil
        } catch {
            counters.failed(error)
            return error
        }
    }
}

extension DiskCache {
    private func write(_ metadata: EntryMetadata, _ body: Bytes) throws(CacheError) {
        try store.write(metadata, body: body)
        counters.add(.entriesWritten, 1)
        counters.add(.diskWrittenBytes, Int64(body.count))
        lookAtLimit(after: Int64(body.count))
    }

    /// Not after each write: it costs a look at the disk.
    private func lookAtLimit(after bytes: Int64) {
        guard let most = store.limits.maxBytes else { return }
        let mustLook = written.withLock { written in
            written += bytes + 4096
            guard written > most / 64 else { return false }
            written = 0
            return true
        }
        if mustLook { trimIfDue() }
    }
}

// MARK: - Trimming

extension DiskCache {
    /// Removes what is too old or too much. Waits for it; any thread.
    /// - Returns: false after a failure.
    @discardableResult
    package func trim() -> Bool {
        guard let outcome = counting({ () throws(CacheError) in try store.trim() }) else { return false }
        guard let trimmed = outcome else { return true }
        counters.add(.trims, 1)
        counters.add(.entriesTrimmed, trimmed.removed.count)
        counters.add(.trimmedBytes, trimmed.removed.bytes)
        return true
    }

    /// Of all processes; nil if the disk does not tell.
    package var totals: DiskTotals? { counting { () throws(CacheError) in try store.totals() } }

    private func trimIfDue() { if counting({ () throws(CacheError) in try store.isTrimDue() }) ?? false { trim() } }

    /// Where something happens, there will be something to trim; where nothing does, nobody wakes up for it.
    private func planTrim() {
        guard let trimInterval else { return }
        if isTrimPlanned.exchange(true, ordering: .relaxed) || isStopping { return }
        read(afterMilliseconds: max(1, trimInterval / 1000)) { [self] in
            isTrimPlanned.store(false, ordering: .relaxed)
            store.flushUses()
            if !isStopping { change { [self] in trimIfDue() } }
        }
    }
}

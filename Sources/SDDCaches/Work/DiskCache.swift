package import SDDBase
import Synchronization

/// The disk level of a cache: a store, two threads `sdd-disk-N` that work on it, and the changes that are accepted but
/// not yet on disk, which lookups already see. Thread-safe. Completions are called on a disk thread with no lock held,
/// or at once if the answer is known.
package final class DiskCache: Sendable {
    package typealias Answer = @Sendable (StoredEntry?) -> Void

    package let store: DiskStore
    package let counters: CacheCounters
    /// The work of the disk threads, which wait on this monitor.
    let queue: Monitor<DiskQueue>
    /// A condition of the queue, for threads that wait for changes to be made or for the disk threads to end.
    let progress = Condition()
    let time: any TimeSource
    /// The interval between trims in microseconds; nil means that entries are trimmed only over the size limit.
    let trimInterval: Int64?
    private let threads = Monitor<[NativeThread]>([])
    private let identities = Monitor<[ThreadIdentity]>([])
    /// Whether a thread of this process trims, and whether another trim must follow.
    let trimming = Monitor(Trimming())
    /// The bytes written since the last check of the size limit.
    let written = Monitor<Int64>(0)
    let failures = Monitor(StoreFailures())
    /// True once the time limit of `stop` is over: work that can be skipped is skipped.
    private let hasNoTime = Atomic(false)

    /// The milliseconds that the end of a cache waits for system calls that do not return, for instance on a hanging
    /// disk.
    private static let lastCall: Int64 = 500

    private init(
        _ store: DiskStore, counters: CacheCounters, trimInterval: Int64?, mostHeldBytes: Int, time: any TimeSource
    ) {
        self.store = store
        self.counters = counters
        self.time = time
        self.trimInterval = trimInterval
        queue = Monitor(DiskQueue(mostHeldBytes: mostHeldBytes))
    }

    /// Creates a cache and starts its threads: all of them or, if it throws, none.
    /// - Parameter mostHeldBytes: the most bytes that waiting writes may hold.
    package static func make(
        _ store: DiskStore, counters: CacheCounters, trimInterval: Int64?, mostHeldBytes: Int = .max,
        time: any TimeSource = SystemTime()
    ) throws(SystemError) -> DiskCache {
        let cache = DiskCache(
            store, counters: counters, trimInterval: trimInterval, mostHeldBytes: mostHeldBytes, time: time)
        for number in 0..<2 {
            cache.queue.withLock { $0.threads += 1 }
            do throws(SystemError) {
                let thread = try NativeThread(name: "sdd-disk-\(number)") { cache.work() }
                cache.threads.withLock { $0.append(thread) }
            } catch {
                cache.queue.withLock { $0.threads -= 1 }
                cache.endThreads(milliseconds: -1)
                throw error
            }
        }
        cache.begin()
        return cache
    }

    /// Without a ledger the totals are unknown. A directory with few entries is counted at once, so that every later
    /// user of a new cache finds a ledger; a larger one is counted beside other work.
    private func begin() {
        if !store.knowsTotals { countFirstPieces() }
        read { [self] in
            if trimInterval != nil || !store.knowsTotals { trimIfDue() }
        }
        planTrim()
    }

    /// Finishes all requested work, trims, and ends the threads. Waits for that. Call it once, and not on one of the
    /// cache's threads.
    /// - Parameter milliseconds: the time limit, after which unwritten changes are dropped, and a thread that the disk
    ///   blocks is detached and ends later. Negative means no limit.
    package func stop(milliseconds: Int64 = -1) {
        if trimInterval != nil { change { [self] in trimAtTheEnd() } }
        endThreads(milliseconds: milliseconds)
        if !isOutOfTime { flushUses() }
    }

    private func endThreads(milliseconds: Int64) {
        queue.withLock { $0.stop() }
        queue.broadcast()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        if haveEnded(within: milliseconds) || haveEndedWithoutTime() {
            for thread in threads { thread.join() }
        } else {
            for thread in threads { thread.detach() }
        }
        doTheRest()
    }

    private func haveEnded(within milliseconds: Int64) -> Bool {
        queue.wait(on: progress, milliseconds: milliseconds) { $0.threads == 0 ? true : nil } ?? false
    }

    private func haveEndedWithoutTime() -> Bool {
        hasNoTime.store(true, ordering: .relaxed)
        release(queue.withLock { $0.dropAll() })
        queue.broadcast()
        progress.broadcast()
        return haveEnded(within: Self.lastCall)
    }

    /// Does the work that arrived while the threads were ending. After that the queue accepts no more.
    private func doTheRest() {
        identities.withLock { $0.append(.current) }
        while let piece = queue.withLock({ $0.nextOrEnd(at: time.monotonicMicroseconds()) }) { perform(piece) }
        identities.withLock { $0 = [] }
    }

    /// True if work that can be skipped must be skipped.
    var isOutOfTime: Bool { hasNoTime.load(ordering: .relaxed) }

    /// True once the cache is being stopped: nothing is worth waiting for.
    package var isStopping: Bool { queue.withLock { $0.isStopped } }

    /// True on a disk thread, on which waiting for the disk would be waiting for itself.
    package var isOwnThread: Bool { identities.withLock { $0.contains(.current) } }
}

// MARK: - The threads

extension DiskCache {
    /// The body of each disk thread, sdd-disk-N.
    private func work() {
        identities.withLock { $0.append(.current) }
        while let piece = nextPiece() { perform(piece) }
        queue.withLock { $0.threads -= 1 }
        progress.broadcast()
    }

    private func perform(_ piece: DiskQueue.Piece) {
        switch piece {
        case .read(let work): work()
        case .change(let change):
            let failure = make(change)
            let then = finish(change, failed: failure != nil)
            progress.broadcast()
            // Wakes the other thread, which could not make the next change meanwhile.
            queue.broadcast()
            // The completion is called only after the lookups see the new state of the disk.
            then?(failure)
        }
    }

    /// Frees the entry that was written before any caller is told that it is on disk: after `sdd_cache_put_wait` or
    /// `sdd_cache_flush_wait`, no thread of the cache holds the image or the bytes.
    private func finish(_ change: DiskQueue.Change, failed: Bool) -> DiskQueue.Told? {
        let (written, then) = queue.withLock { ($0.changed(change, failed: failed), change.then) }
        withExtendedLifetime(written) {}
        return then
    }

    /// Waits for the next piece of work; returns nil when the thread should end.
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

    private func make(_ change: DiskQueue.Change) -> CacheError? {
        switch change.kind {
        case .key(let key): return apply(queue.withLock { _ in change.staged }, to: key)
        case .clear: return failure { () throws(CacheError) in try store.clear() }
        case .other(let work): work()
        }
        return nil
    }

    /// - Parameter staged: the value; nil if a later change has replaced it.
    private func apply(_ staged: DiskQueue.Staged?, to change: StagedChange) -> CacheError? {
        failure { () throws(CacheError) in
            do throws(CacheError) {
                try apply(staged, to: change.key)
            } catch {
                if staged?.isWrite ?? false {
                    let isLost = change.older != .asGood || change.isAfterRemoval
                    note(error, of: change.key, isLost: isLost)
                    if isLost { removeInstead(of: change) }
                }
                throw error
            }
        }
    }

    /// Removes the entry that a failed write has left, since it is older than the one that was to replace it. If that
    /// fails too, the entry is not found all the same.
    private func removeInstead(of change: StagedChange) {
        if failure(of: { () throws(CacheError) in try store.remove(change.key) }) == nil { return }
        let value = queue.withLock { $0.becomesRemoval(change) }
        withExtendedLifetime(value) {}
    }

    private func apply(_ staged: DiskQueue.Staged?, to key: String) throws(CacheError) {
        switch staged {
        case .entry(let metadata, let body)?: try write(metadata, body)
        case .making(let make)?:
            switch make() {
            case .entry(let metadata, let body): try write(metadata, body)
            case .nothing: try store.remove(key)
            case .impossible: throw .nothing
            case .noMemory: throw .noMemory
            }
        case .removed?: try store.remove(key)
        case nil: break
        }
    }

    func failure(of body: () throws(CacheError) -> Void) -> CacheError? {
        do throws(CacheError) {
            try body()
            return nil
        } catch {
            counters.failed(error)
            return error
        }
    }

    func write(_ metadata: EntryMetadata, _ body: Bytes) throws(CacheError) {
        try store.write(metadata, body: body)
        failures.withLock { $0.stored(metadata.key) }
        counters.add(.entriesWritten, 1)
        counters.add(.diskWrittenBytes, Int64(body.count))
        lookAtLimit(after: Int64(body.count))
    }
}

package import SDDBase
import Synchronization

/// The disk level of a cache: a store, two threads that work on it, `sdd-disk-N`, and what is decided but not yet on disk,
/// which queries see already. Any thread; what is called back is called on a disk thread with no lock held, or, where
/// the answer is known, at once.
package final class DiskCache: Sendable {
    package typealias Answer = @Sendable (StoredEntry?) -> Void

    package let store: DiskStore
    package let counters: CacheCounters
    /// Its threads wait for work.
    let queue: Monitor<DiskQueue>
    /// Of the queue: whoever waits for changes to be made, or for the threads to end.
    let progress = Condition()
    let time: any TimeSource
    /// Microseconds; nil: only over the limit.
    let trimInterval: Int64?
    private let threads = Monitor<[NativeThread]>([])
    private let identities = Monitor<[ThreadIdentity]>([])
    let isTrimPlanned = Atomic(false)
    /// Whether some thread of this process trims, and whether that is to be done once more then.
    let trimming = Monitor(Trimming())
    /// Bytes, since the limit was last looked at.
    let written = Monitor<Int64>(0)
    /// Nothing that can be left is begun any more: the time for the end is over.
    private let hasNoTime = Atomic(false)

    /// Calls to the system that do not come back at the end of a cache, from a disk that hangs, are waited for so long.
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

    /// Starts the threads: all of them or, with an error, none.
    /// - Parameter mostHeldBytes: what entries that wait to be written may hold.
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

    /// Without a ledger nobody knows what there is. A folder of few entries is counted at once, so that everybody who
    /// opens a new cache finds a ledger; a larger one is counted beside all else.
    private func begin() {
        if !store.knowsTotals { countFirstPieces() }
        read { [self] in
            if trimInterval != nil || !store.knowsTotals { trimIfDue() }
        }
    }

    /// Does what has been asked for, trims, and ends the threads. Waits for it; once; on none of the threads.
    /// - Parameter milliseconds: after so long, what has not been written is dropped, and a thread that a disk keeps
    ///   from ending ends later, alone. Negative: no limit.
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

    /// What has come as the threads were ending. From then on nothing is put in line any more.
    private func doTheRest() {
        identities.withLock { $0.append(.current) }
        while let piece = queue.withLock({ $0.nextOrEnd(at: time.monotonicMicroseconds()) }) { perform(piece) }
        identities.withLock { $0 = [] }
    }

    /// What can be left undone is.
    var isOutOfTime: Bool { hasNoTime.load(ordering: .relaxed) }

    /// It is about to end: nothing is worth waiting for.
    package var isStopping: Bool { queue.withLock { $0.isStopped } }

    /// Waiting for the disk here would be waiting for itself.
    package var isOwnThread: Bool { identities.withLock { $0.contains(.current) } }
}

// MARK: - The threads

extension DiskCache {
    /// Thread: sdd-disk-N.
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
            // The other thread, which could not make the next change meanwhile.
            queue.broadcast()
            // Not before it is what the disk has.
            then?(failure)
        }
    }

    /// Frees the entry that was written, before anyone is told that it is on disk: after `sdd_cache_put` or `sdd_cache_flush`
    /// no thread of the cache holds the image or the bytes.
    private func finish(_ change: DiskQueue.Change, failed: Bool) -> DiskQueue.Told? {
        let (written, then) = queue.withLock { ($0.changed(change, failed: failed), change.then) }
        withExtendedLifetime(written) {}
        return then
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

    private func make(_ change: DiskQueue.Change) -> CacheError? {
        switch change.kind {
        case .key(let key):
            planTrim()
            return apply(queue.withLock { _ in change.staged }, to: key)
        case .clear: return failure { () throws(CacheError) in try store.clear() }
        case .other(let work): work()
        }
        return nil
    }

    /// - Parameter staged: nil: a later change has taken its place.
    private func apply(_ staged: DiskQueue.Staged?, to change: StagedChange) -> CacheError? {
        failure { () throws(CacheError) in
            do throws(CacheError) {
                try apply(staged, to: change.key)
            } catch {
                // What was to be removed before must not be found in its place.
                if change.isAfterRemoval { try store.remove(change.key) }
                throw error
            }
        }
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

    private func failure(of body: () throws(CacheError) -> Void) -> CacheError? {
        do throws(CacheError) {
            try body()
            return nil
        } catch {
            counters.failed(error)
            return error
        }
    }

    private func write(_ metadata: EntryMetadata, _ body: Bytes) throws(CacheError) {
        try store.write(metadata, body: body)
        counters.add(.entriesWritten, 1)
        counters.add(.diskWrittenBytes, Int64(body.count))
        lookAtLimit(after: Int64(body.count))
    }
}

package import SDDBase
import Synchronization

/// The disk level of a cache: a store, two threads that work on it, `sdd-disk-N`, and what is decided but not yet on disk,
/// which queries see already. Any thread; what is called back is called on a disk thread with no lock held, or, where
/// the answer is known, at once.
package final class DiskCache: Sendable {
    package typealias Answer = @Sendable (StoredEntry?) -> Void

    package let store: DiskStore
    package let counters: CacheCounters
    let queue = Monitor(DiskQueue())
    let time: any TimeSource
    /// Microseconds; nil: only over the limit.
    let trimInterval: Int64?
    private let threads = Monitor<[NativeThread]>([])
    private let identities = Monitor<[ThreadIdentity]>([])
    let isTrimPlanned = Atomic(false)
    /// Bytes, since the limit was last looked at.
    let written = Monitor<Int64>(0)

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

    private func write(_ metadata: EntryMetadata, _ body: Bytes) throws(CacheError) {
        try store.write(metadata, body: body)
        counters.add(.entriesWritten, 1)
        counters.add(.diskWrittenBytes, Int64(body.count))
        lookAtLimit(after: Int64(body.count))
    }
}

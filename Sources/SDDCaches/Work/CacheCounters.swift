import Glibc
package import SDDBase
import Synchronization

/// Counters of a cache since it was created, reported by `sdd_cache_statistics` of the public header. Thread-safe.
package final class CacheCounters: Sendable {
    package enum Count: Int, CaseIterable, Sendable {
        case diskHits, diskMisses, diskReadBytes, diskWrittenBytes, entriesWritten, entriesDamaged, errors, trims,
            entriesTrimmed, trimmedBytes, httpFresh, httpRevalidated, httpStale, httpMisses, sharedDownloads,
            resumedDownloads, resumedBytes, writesDropped, memoryHits, memoryMisses
    }

    /// Indexed by the raw values of `Count`. Every read of an entry adds to two of them.
    private let counts = InlineArray<20, Atomic<Int64>> { _ in Atomic(0) }
    private let error = Atomic<Int32>(0)
    private let log: FailureLog

    package init(time: any TimeSource = SystemTime()) { log = FailureLog(time: time) }

    /// Sets what is called with the first failure, and later with at most one a minute and the number of failures since
    /// the one before. It is called on the thread that has the failure, with no lock held.
    package func setTeller(_ teller: @escaping FailureLog.Teller) { log.setTeller(teller) }

    package func add(_ count: Count, _ number: Int64) { counts[count.rawValue].add(number, ordering: .relaxed) }

    package subscript(count: Count) -> Int64 { counts[count.rawValue].load(ordering: .relaxed) }

    package func failed(_ error: CacheError) {
        if error == .nothing || error == .dropped { return }
        add(.errors, 1)
        switch error {
        case .system(_, let errno): self.error.store(errno, ordering: .relaxed)
        case .unsafeDirectory: self.error.store(EACCES, ordering: .relaxed)
        case .foreignFile: self.error.store(ENOTEMPTY, ordering: .relaxed)
        case .store: self.error.store(EIO, ordering: .relaxed)
        case .tooLarge, .noMemory, .nothing, .dropped: break
        }
        log.failed(error)
    }

    /// The errno of the last error; 0 if there was none.
    package var lastError: Int32 { error.load(ordering: .relaxed) }
}

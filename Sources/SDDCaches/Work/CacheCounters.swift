import Glibc
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

    package init() {}

    package func add(_ count: Count, _ number: Int64) { counts[count.rawValue].add(number, ordering: .relaxed) }

    package subscript(count: Count) -> Int64 { counts[count.rawValue].load(ordering: .relaxed) }

    package func failed(_ error: CacheError) {
        if error == .nothing || error == .dropped { return }
        add(.errors, 1)
        switch error {
        case .system(_, let errno): self.error.store(errno, ordering: .relaxed)
        case .unsafeDirectory: self.error.store(EACCES, ordering: .relaxed)
        case .store: self.error.store(EIO, ordering: .relaxed)
        case .tooLarge, .noMemory, .nothing, .dropped: break
        }
    }

    /// The errno of the last error; 0 if there was none.
    package var lastError: Int32 { error.load(ordering: .relaxed) }
}

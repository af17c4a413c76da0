import Glibc
import Synchronization

/// What a cache has done since it was made; `sdd_cache_statistics` of the header. Any thread.
package final class CacheCounters: Sendable {
    package enum Count: Int, CaseIterable, Sendable {
        case diskHits, diskMisses, diskReadBytes, diskWrittenBytes, entriesWritten, entriesDamaged, errors, trims,
            entriesTrimmed, trimmedBytes, httpFresh, httpRevalidated, httpStale, httpMisses, sharedDownloads,
            resumedDownloads, resumedBytes, writesDropped, memoryHits, memoryMisses
    }

    /// At the raw values of `Count`; each read of an entry counts twice.
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

    /// The last one's errno; 0 for none.
    package var lastError: Int32 { error.load(ordering: .relaxed) }
}

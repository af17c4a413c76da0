package import SDDBase
import Synchronization

/// A caller's wish to read entries: it may become more urgent, and be withdrawn, while a read waits in the line of a
/// cache. One wish serves several reads, one after the other. Thread-safe.
package final class DiskRead: Sendable {
    private static let last = Atomic<UInt64>(0)

    /// Unique in the process.
    let number: UInt64
    private let wanted: Atomic<Int32>
    private let withdrawn = Atomic(false)

    package init(priority: Priority = .normal) {
        number = Self.last.add(1, ordering: .relaxed).newValue
        wanted = Atomic(priority.rawValue)
    }

    package var priority: Priority { Priority(rawValue: wanted.load(ordering: .relaxed)) ?? .normal }

    /// Reads that have not begun are left out, and their answers are not called.
    package func withdraw() { withdrawn.store(true, ordering: .relaxed) }
    package var isWithdrawn: Bool { withdrawn.load(ordering: .relaxed) }

    /// - Returns: false if the wish is more urgent already.
    func raise(to priority: Priority) -> Bool {
        wanted.max(priority.rawValue, ordering: .relaxed).oldValue <= priority.rawValue
    }
}

extension DiskCache {
    /// Makes a wish more urgent, and with it the read that waits for it in this cache.
    package func raise(_ read: DiskRead, to priority: Priority) {
        guard read.raise(to: priority) else { return }
        queue.withLock { $0.raise(read) }
    }
}

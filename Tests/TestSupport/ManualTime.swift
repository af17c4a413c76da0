import SDDBase
import Synchronization

/// Clocks that stand still until the test moves them. Callable from any thread.
package final class ManualTime: TimeSource {
    private let now: Atomic<Int64>
    private let wall: Atomic<Int64>

    package init(microseconds: Int64 = 0, wallMicroseconds: Int64 = 1_700_000_000_000_000) {
        now = Atomic(microseconds)
        wall = Atomic(wallMicroseconds)
    }

    package func monotonicMicroseconds() -> Int64 { now.load(ordering: .sequentiallyConsistent) }

    package func wallMicroseconds() -> Int64 { wall.load(ordering: .sequentiallyConsistent) }

    /// Moves both clocks forward.
    package func advance(microseconds: Int64) {
        now.add(microseconds, ordering: .sequentiallyConsistent)
        wall.add(microseconds, ordering: .sequentiallyConsistent)
    }

    package func advance(milliseconds: Int64) { advance(microseconds: milliseconds * 1000) }

    /// Sets the wall clock, as a user or NTP may do.
    package func setWall(microseconds: Int64) { wall.store(microseconds, ordering: .sequentiallyConsistent) }
}

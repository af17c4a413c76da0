import SDDBase
import Synchronization

/// A clock that stands still until the test moves it. Any thread.
package final class ManualTime: TimeSource {
    private let now: Atomic<Int64>

    package init(microseconds: Int64 = 0) { now = Atomic(microseconds) }

    package func monotonicMicroseconds() -> Int64 { now.load(ordering: .sequentiallyConsistent) }

    package func advance(microseconds: Int64) { now.add(microseconds, ordering: .sequentiallyConsistent) }

    package func advance(milliseconds: Int64) { advance(microseconds: milliseconds * 1000) }
}

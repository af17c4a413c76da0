import Glibc

/// Where time comes from, so that tests can hand in their own. Any thread.
package protocol TimeSource: Sendable {
    /// Microseconds of a clock that never jumps.
    func monotonicMicroseconds() -> Int64
}

/// The system's CLOCK_MONOTONIC.
package struct SystemTime: TimeSource {
    package init() {}

    package func monotonicMicroseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

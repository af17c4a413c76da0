import Glibc

/// Where time comes from, so that tests can hand in their own. Any thread.
package protocol TimeSource: Sendable {
    /// Microseconds of a clock that never jumps.
    func monotonicMicroseconds() -> Int64
    /// Microseconds since 1970, of a clock that people set: forward, and back.
    func wallMicroseconds() -> Int64
}

/// The system's CLOCK_MONOTONIC and CLOCK_REALTIME.
package struct SystemTime: TimeSource {
    package init() {}

    package func monotonicMicroseconds() -> Int64 { Self.microseconds(of: CLOCK_MONOTONIC, or: CLOCK_MONOTONIC_COARSE) }

    package func wallMicroseconds() -> Int64 { Self.microseconds(of: CLOCK_REALTIME, or: CLOCK_REALTIME_COARSE) }

    /// - Parameter coarse: the same clock to some milliseconds. A sandbox that refuses a clock must not turn time back.
    private static func microseconds(of clock: clockid_t, or coarse: clockid_t) -> Int64 {
        var time = timespec()
        if clock_gettime(clock, &time) != 0 { _ = clock_gettime(coarse, &time) }
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

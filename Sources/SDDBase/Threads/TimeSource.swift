import Glibc

/// A source of time that tests can replace. Safe on any thread.
package protocol TimeSource: Sendable {
    /// Returns the microseconds of a clock that never jumps.
    func monotonicMicroseconds() -> Int64
    /// Returns the microseconds since 1970 of a clock that may be set forward and back.
    func wallMicroseconds() -> Int64
}

/// The system's clocks CLOCK_MONOTONIC and CLOCK_REALTIME.
package struct SystemTime: TimeSource {
    package init() {}

    package func monotonicMicroseconds() -> Int64 { Self.microseconds(of: CLOCK_MONOTONIC, or: CLOCK_MONOTONIC_COARSE) }

    package func wallMicroseconds() -> Int64 { Self.microseconds(of: CLOCK_REALTIME, or: CLOCK_REALTIME_COARSE) }

    /// - Parameter coarse: the same clock with a resolution of some milliseconds, used if a sandbox refuses `clock`.
    ///   Otherwise time would go back to 0.
    private static func microseconds(of clock: clockid_t, or coarse: clockid_t) -> Int64 {
        var time = timespec()
        if clock_gettime(clock, &time) != 0 { _ = clock_gettime(coarse, &time) }
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

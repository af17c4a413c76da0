internal import CHelper
internal import Glibc

/// Limits the CPU time that a thread may spend on all frames of one animation: the same as for one picture with that
/// many bytes. A value, used by that thread only.
struct DecodeClock {
    /// End of the time in microseconds of the thread's CPU clock, with the time of the helpers that it had to wait for;
    /// `nil` means no limit.
    private let end: Int64?

    init(_ limits: DecodeLimits, byteCount: Int) {
        let (base, perMiB) = limits.microseconds
        // Computed in KiB, so that nothing overflows.
        let more = (perMiB >> 10).multipliedReportingOverflow(by: Int64(byteCount >> 10))
        end = base > 0 && !more.overflow ? Self.now &+ base &+ min(more.partialValue, 1 << 50) : nil
    }

    /// Checks the time.
    /// - Throws: `.tooSlow` after the end.
    func check() throws(CoderError) {
        if let end, Self.now > end { throw CoderError(.tooSlow) }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000 &+ sddhelper_time_of_helpers()
    }
}

internal import Glibc

/// How long a thread may be at all frames of one animation together, in processor time of its own: as long as at one
/// picture of so many bytes. A value; that thread alone.
struct DecodeClock {
    /// Microseconds; nil: no limit.
    private let end: Int64?

    init(_ limits: DecodeLimits, byteCount: Int) {
        let (base, perMiB) = limits.microseconds
        // The KiB, so that nothing overflows.
        let more = (perMiB >> 10).multipliedReportingOverflow(by: Int64(byteCount >> 10))
        end = base > 0 && !more.overflow ? Self.now &+ base &+ min(more.partialValue, 1 << 50) : nil
    }

    /// - Throws: once it is over.
    func check() throws(CoderError) {
        if let end, Self.now > end { throw CoderError(.tooSlow) }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

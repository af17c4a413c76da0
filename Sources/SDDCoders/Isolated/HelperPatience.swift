/// How long a helper may take for one reply. Its own clock is the same as in the application's process, CPU time, so that
/// it is over time only if it has been taken over, or is stuck in the code of a coder. A value; it knows no clock.
struct HelperPatience: Equatable {
    /// CPU time after which the helper is killed, in microseconds; `nil` means no limit. The helper itself ends a decode
    /// after half of it.
    let cpu: Int64?
    /// The same for all time, also that in which other processes had the processors; in microseconds.
    let wall: Int64?
    private var begin: Int64?
    /// The helper's CPU time when it was looked at first.
    private var cpuBegin: Int64?

    /// The time in which a helper starts, on a machine that has much else to do.
    static var start: HelperPatience { HelperPatience(cpu: nil, wall: 60_000_000) }

    private init(cpu: Int64?, wall: Int64?) { (self.cpu, self.wall) = (cpu, wall) }

    /// - Parameter byteCount: the size of the body.
    init(_ limits: DecodeLimits, byteCount: Int) {
        let (base, perMiB) = limits.microseconds
        guard base > 0 else {
            self.init(cpu: nil, wall: nil)
            return
        }
        // Computed in KiB; the limits are clamped so that only this product may be too large.
        let more = (perMiB >> 10).multipliedReportingOverflow(by: Int64(byteCount >> 10))
        let budget = base + min(more.overflow ? .max : more.partialValue, 1 << 50)
        self.init(cpu: 2 * budget, wall: 8 * budget + 8_000_000)
    }

    /// Begins to wait.
    mutating func begin(at now: Int64) { (begin, cpuBegin) = (now, nil) }

    /// Whether the helper is over time.
    /// - Parameters:
    ///   - now: microseconds of a clock.
    ///   - cpuTime: microseconds that the helper has taken in its life; negative if that is unknown.
    mutating func isOver(at now: Int64, cpuTime: Int64) -> Bool {
        if let wall, let begin, now - begin > wall { return true }
        guard let cpu, cpuTime >= 0 else { return false }
        let first = cpuBegin ?? cpuTime
        cpuBegin = first
        return cpuTime - first > cpu
    }
}

/// Since when nothing has come over one transfer. libcurl's own limit counts in whole seconds and in bytes
/// per second, not in silence. Microseconds of a clock that never jumps. A value.
struct IdleClock {
    private var lastActivity: Int64

    init(startedAt now: Int64) { lastActivity = now }

    mutating func activity(at now: Int64) { lastActivity = now }

    /// When the silence will have lasted for `limit`; nil if it has.
    func expiry(after limit: Int64, at now: Int64) -> Int64? {
        let (expiry, overflow) = lastActivity.addingReportingOverflow(limit)
        if overflow { return .max }
        return expiry > now ? expiry : nil
    }
}

extension TransportConfiguration {
    var idleTimeoutMicroseconds: Int64 {
        let (product, overflow) = idleTimeoutMilliseconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product
    }
}

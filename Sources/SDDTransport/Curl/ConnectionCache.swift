internal import Glibc

/// The number of idle connections that a network thread keeps for later requests: the configured number, or one learned from bursts of
/// transfers, within the process's limit on descriptors.
struct ConnectionCache {
    private var useful = 8
    private let limit: Int
    private let given: Int?

    init(_ configuration: TransportConfiguration) {
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        limit = max(8, Int(clamping: min(descriptors.rlim_cur / 4, 512)) / configuration.threadCount)
        given = configuration.maxIdleConnections > 0 ? configuration.perThread(configuration.maxIdleConnections) : nil
    }

    var connections: Int { given ?? useful }

    /// Records how many transfers run at the same time.
    /// - Returns: Whether the number of connections to keep has changed.
    mutating func sees(transfers: Int) -> Bool {
        let wanted = min(limit, transfers.multipliedReportingOverflow(by: 2).partialValue)
        guard wanted > useful else { return false }
        useful = wanted
        return true
    }
}

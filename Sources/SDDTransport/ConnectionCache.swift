internal import Glibc

/// How many connections wait for the next request, and handles with them: as many as bursts have shown to
/// be of use, within what the process may open; or, of connections, as many as the configuration says.
struct ConnectionCache {
    private(set) var handles = 8
    private let limit: Int
    private let given: Int?

    init(_ configuration: TransportConfiguration) {
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        limit = max(8, Int(clamping: min(descriptors.rlim_cur / 4, 512)))
        given = configuration.maxIdleConnections > 0 ? Int(configuration.maxIdleConnections) : nil
    }

    var connections: Int { given ?? handles }

    /// - Returns: whether the size has changed.
    mutating func sees(transfers: Int) -> Bool {
        let wanted = min(limit, transfers.multipliedReportingOverflow(by: 2).partialValue)
        guard wanted > handles else { return false }
        handles = wanted
        return true
    }
}

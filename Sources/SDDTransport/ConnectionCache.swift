internal import Glibc

/// How many connections wait for the next request: as many as the configuration says, or as bursts have shown to
/// be of use, within what the process may open.
struct ConnectionCache {
    private var useful = 8
    private let limit: Int
    private let given: Int?

    init(_ configuration: TransportConfiguration) {
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        limit = max(8, Int(clamping: min(descriptors.rlim_cur / 4, 512)))
        given = configuration.maxIdleConnections > 0 ? Int(configuration.maxIdleConnections) : nil
    }

    var connections: Int { given ?? useful }

    /// - Returns: whether the size has changed.
    mutating func sees(transfers: Int) -> Bool {
        let wanted = min(limit, transfers.multipliedReportingOverflow(by: 2).partialValue)
        guard wanted > useful else { return false }
        useful = wanted
        return true
    }
}

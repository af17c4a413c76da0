internal import Glibc

/// How many connections wait for the next request, and handles with them: as many as bursts have shown to
/// be of use, within what the process may open.
struct ConnectionCache {
    private(set) var size = 8
    private let limit: Int

    init() {
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        limit = max(8, Int(clamping: min(descriptors.rlim_cur / 4, 512)))
    }

    /// - Returns: whether the size has changed.
    mutating func sees(transfers: Int) -> Bool {
        let wanted = min(limit, transfers.multipliedReportingOverflow(by: 2).partialValue)
        guard wanted > size else { return false }
        size = wanted
        return true
    }
}

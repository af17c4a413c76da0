import SDDBase

/// The origins over TLS that have answered by HTTP/1 last, so that their requests cannot share a connection. A request to
/// any other origin waits for a connection that is being made, because it may be one that can be shared; with these
/// origins a burst of requests would open one connection after the other. A value.
struct SerialOrigins {
    static let mostOrigins = 1024

    private var origins: Set<UInt64> = []

    /// - Parameter origin: `HTTPRequest.hostKey`.
    func contains(_ origin: UInt64) -> Bool { !origins.isEmpty && origins.contains(origin) }

    /// Records the version of a response.
    /// - Returns: Whether requests that wait need wait no longer.
    mutating func answered(_ origin: UInt64, byHTTP1: Bool) -> Bool {
        if byHTTP1 {
            if origins.count >= Self.mostOrigins { origins.removeAll() }
            return origins.insert(origin).inserted
        }
        if !origins.isEmpty { origins.remove(origin) }
        return false
    }
}

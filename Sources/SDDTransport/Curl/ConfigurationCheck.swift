internal import CCurl
internal import Glibc

/// Checks a configuration when the transport starts, for invalid values and missing libcurl features that libcurl
/// itself would report only when a transfer begins.
enum ConfigurationCheck {
    static func check(_ configuration: TransportConfiguration) throws(TransportError) {
        if case .url(let url, _) = configuration.proxy { try checkProxy(url) }
        for entry in configuration.resolve { try checkResolve(entry) }
        try checkExceptions(configuration)
        if let path = configuration.unixSocketPath { try checkUnixSocket(path) }
        if configuration.httpVersion == .http2 || configuration.httpVersion == .http2PriorKnowledge {
            guard CurlFeatures.hasHTTP2 else { throw .unsupported("http_version", "HTTP/2") }
        }
        if configuration.httpVersion == .http3, !CurlFeatures.hasHTTP3 { throw .unsupported("http_version", "HTTP/3") }
    }

    private static func checkProxy(_ url: String) throws(TransportError) {
        // The error does not include the URL, because it may contain a password.
        guard let parts = URLParts(url, guessesScheme: true), !parts.host.isEmpty else {
            throw .badConfiguration("proxy", "the URL is malformed")
        }
        switch parts.scheme {
        case "http", "socks", "socks4", "socks4a", "socks5", "socks5h": break
        case "https": guard CurlFeatures.hasSecureProxies else { throw .unsupported("proxy", "https proxies") }
        case let scheme: throw .badConfiguration("proxy", "the scheme \(scheme) is none of a proxy")
        }
    }

    /// Checks an entry of the form "host:port:address[,address]". A "+" before it marks an entry that may expire.
    static func checkResolve(_ entry: String) throws(TransportError) {
        let parts = entry.split(separator: Character(":"), maxSplits: 2, omittingEmptySubsequences: false)
        let error = TransportError.badConfiguration("resolve", "\"\(entry)\" is not \"host:port:address[,address]\"")
        guard parts.count == 3, let port = UInt16(parts[1]), port > 0 else { throw error }
        let host = parts[0].hasPrefix("+") ? parts[0].dropFirst() : parts[0]
        guard !host.isEmpty, host.utf8.count < 256 else { throw error }
        for address in parts[2].split(separator: Character(","), omittingEmptySubsequences: false) {
            let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
            guard IPAddress(String(isBracketed ? address.dropFirst().dropLast() : address)) != nil else { throw error }
        }
    }

    private static func checkExceptions(_ configuration: TransportConfiguration) throws(TransportError) {
        if configuration.addressExceptions.isEmpty { return }
        guard configuration.addressPolicy == .publicOnly else {
            throw .badConfiguration(
                "address_exceptions", "there is no address_policy that they could be exceptions of")
        }
        for entry in configuration.addressExceptions where AddressException(entry) == nil {
            throw .badConfiguration(
                "address_exceptions", "\"\(entry)\" is not an address, a block of addresses, \"host\" or \"host:port\"")
        }
    }

    private static func checkUnixSocket(_ path: String) throws(TransportError) {
        guard CurlFeatures.hasUnixSockets else { throw .unsupported("unix_socket_path", "Unix sockets") }
        // `sun_path` must also hold the terminating NUL.
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw .badConfiguration("unix_socket_path", "it is too long for a socket")
        }
    }
}

internal import SDDBase

/// Limits, trust and network options of one transport; constant during its lifetime. The public headers document each
/// value at the field that it comes from.
package struct TransportConfiguration: Sendable {
    package enum Proxy: Sendable {
        case environment
        case none
        /// The URL of a proxy, and the hosts that are reached without it.
        case url(String, except: String?)
    }

    package enum IPVersion: Sendable { case any, v4, v6 }
    package enum HTTPVersion: Sendable { case standard, http1_0, http1_1, http2, http2PriorKnowledge, http3 }
    package enum TLSVersion: Sendable { case tls1_0, tls1_1, tls1_2, tls1_3 }

    package enum AddressPolicy: Sendable {
        case any, publicOnly
    }

    // Limits.
    package var maxBodyBytes: Int64 = 64 << 20
    package var maxHeaderBytes: Int64 = 256 << 10
    package var maxHeaderCount: Int = 1000
    package var maxRedirects: Int32 = 10

    // Trust.
    package var allowsFiles = false
    package var allowsDowngrade = false
    package var caFile: String?
    package var caPath: String?
    package var minTLSVersion = TLSVersion.tls1_2
    package var addressPolicy = AddressPolicy.any
    /// Exceptions to the address policy; see `AddressException`.
    package var addressExceptions: [String] = []
    /// The application's filter for addresses and ports, called on sdd-net after the policy has allowed them; by
    /// several network threads at a time.
    package var addressFilter: (@Sendable (String, Int32) -> Bool)?

    // Network options.
    package var proxy = Proxy.environment
    package var networkInterface: String?
    package var unixSocketPath: String?
    package var ipVersion = IPVersion.any
    package var httpVersion = HTTPVersion.standard
    /// Entries of the form "host:port:address[,address]".
    package var resolve: [String] = []
    package var dnsServers: String?
    /// A negative value means forever.
    package var dnsCacheMilliseconds: Int64 = 60_000
    /// A negative value means no probes.
    package var keepAliveSeconds: Int32 = 60
    /// 0 means no limit; this also applies to the limit per host.
    package var maxConnections: Int32 = 0
    package var maxConnectionsPerHost: Int32 = 0
    /// 0 means as many as bursts of transfers have shown to be useful.
    package var maxIdleConnections: Int32 = 0
    package var receiveBufferBytes: Int32 = 64 << 10
    package var networkThreads: Int32 = 1
    package var cookieFile: String?

    /// Returns the highest level of messages to build. Called on sdd-net.
    package var logs: @Sendable () -> LogLevel = { .none }

    package init() {}

    /// The number of network threads, each of which may open at least one connection.
    package var threadCount: Int {
        let most = maxConnections > 0 ? min(networkThreads, maxConnections) : networkThreads
        return Int(max(1, min(most, NetworkThreads.most)))
    }

    /// Each thread's part of a number of connections; 0 means no number was given.
    func perThread(_ connections: Int32) -> Int { connections > 0 ? max(1, Int(connections) / threadCount) : 0 }

    /// True if a request may have to wait until a connection is free.
    var limitsConnections: Bool { maxConnections > 0 || maxConnectionsPerHost > 0 }

    /// True if requests over TLS may share a connection at a time.
    var mayMultiplex: Bool {
        switch httpVersion {
        case .standard, .http2, .http2PriorKnowledge, .http3: true
        case .http1_0, .http1_1: false
        }
    }

    /// True if HTTP/2 may also be used without TLS.
    var speaksHTTP2Plainly: Bool {
        switch httpVersion {
        case .http2, .http2PriorKnowledge: true
        case .standard, .http1_0, .http1_1, .http3: false
        }
    }
}

extension TransportConfiguration.Proxy {
    /// The user and password of a configured proxy; `nil` if there are none. Those of a proxy from the environment
    /// belong to the machine, and do not identify a caller.
    package var userinfo: String? {
        guard case .url(let url, _) = self else { return nil }
        return Self.rangeOfUserinfo(in: url).map { String(url[$0]) }
    }

    /// Returns a proxy's URL without user and password.
    package static func withoutUserinfo(_ url: String) -> String {
        guard let userinfo = rangeOfUserinfo(in: url) else { return url }
        return String(url[..<userinfo.lowerBound]) + url[userinfo.upperBound...].dropFirst()
    }

    /// Returns the place of "user:password" in "scheme://user:password@host:port", in which the scheme may be missing.
    private static func rangeOfUserinfo(in url: String) -> Range<String.Index>? {
        let text = url.utf8
        let authority = (URLText.schemeEnd(url).map { text[$0...] } ?? text[...]).prefix { $0 != UInt8(ascii: "/") }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { authority.startIndex..<$0 }
    }
}

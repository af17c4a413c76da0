internal import SDDBase

/// Limits, trust and ways of one transport; does not change while it lives. What a field means is said in the
/// header, at the field of `sdd_downloader_config` it comes from.
package struct TransportConfiguration: Sendable {
    package enum Proxy: Sendable {
        case environment
        case none
        /// A URL, and the hosts it is not for.
        case url(String, except: String?)
    }

    package enum IPVersion: Sendable { case any, v4, v6 }
    package enum HTTPVersion: Sendable { case standard, http1_0, http1_1, http2, http2PriorKnowledge }
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
    /// Where to all the same: see `AddressException`.
    package var addressExceptions: [String] = []
    /// The host's say on an address and port, after the policy. Called on sdd-net.
    package var addressFilter: (@Sendable (String, Int32) -> Bool)?

    // Ways.
    package var proxy = Proxy.environment
    package var networkInterface: String?
    package var unixSocketPath: String?
    package var ipVersion = IPVersion.any
    package var httpVersion = HTTPVersion.standard
    /// "host:port:address[,address]"
    package var resolve: [String] = []
    package var dnsServers: String?
    /// Negative: for ever.
    package var dnsCacheMilliseconds: Int64 = 60_000
    /// Negative: never.
    package var keepAliveSeconds: Int32 = 60
    /// 0: no limit of its own.
    package var maxConnections: Int32 = 0
    package var maxConnectionsPerHost: Int32 = 0
    /// 0: as many as bursts have shown to be of use.
    package var maxIdleConnections: Int32 = 0
    package var receiveBufferBytes: Int32 = 64 << 10
    package var cookieFile: String?

    /// Messages up to this level are worth making. Asked on sdd-net.
    package var logs: @Sendable () -> LogLevel = { .none }

    package init() {}

    /// Without TLS, too.
    var speaksHTTP2Plainly: Bool {
        switch httpVersion {
        case .http2, .http2PriorKnowledge: true
        case .standard, .http1_0, .http1_1: false
        }
    }
}

internal import CCurl
internal import SDDBase

/// Options for the way to the server: proxies, addresses, HTTP versions, connections.
extension CurlOptions {
    /// - Parameter resolve: Kept alive by the caller for as long as the handle may be used.
    func setWays(_ easy: EasyHandle, resolve: StringList?) throws(EasyHandle.Refusal) {
        try setProxy(easy)
        try setNames(easy, resolve: resolve)
        try setHTTPVersion(easy)
        try setKeepAlive(easy)
        if let interface = configuration.networkInterface { try easy.set(CURLOPT_INTERFACE, interface) }
        if let path = configuration.unixSocketPath { try easy.set(CURLOPT_UNIX_SOCKET_PATH, path) }
    }

    private func setProxy(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        if let environment {
            try easy.set(CURLOPT_NOPROXY, environment.exceptions)
            try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        } else if case .url(let url, let except) = configuration.proxy, addressPolicy.allowsEverything {
            try setProxy(url, easy)
            // The environment's exceptions do not apply here, because they belong to the environment's proxy.
            try easy.set(CURLOPT_NOPROXY, except ?? "")
            try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        } else {
            // An exception for all hosts. Without it libcurl would look for a proxy in the environment.
            try easy.set(CURLOPT_NOPROXY, "*")
        }
    }

    /// Sets the environment's proxy for the scheme; the environment names one per scheme.
    func setProxy(for scheme: ImageURL.Scheme, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        if let environment { try setProxy(environment[scheme], easy) }
    }

    /// Sets the proxy, and what the configuration says of TLS if that is an https proxy. A request's own CA file is for
    /// its servers alone.
    private func setProxy(_ url: String, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_PROXY, url)
        guard URLText.scheme(url) == "https", CurlFeatures.hasSecureProxies else { return }
        try easy.set(CURLOPT_PROXY_SSLVERSION, configuration.minTLSVersion.curlValue)
        if configuration.caFile == nil && configuration.caPath == nil { return }
        try easy.replace(CURLOPT_PROXY_CAINFO, by: configuration.caFile)
        try easy.replace(CURLOPT_PROXY_CAPATH, by: configuration.caPath)
    }

    private func setNames(_ easy: EasyHandle, resolve: StringList?) throws(EasyHandle.Refusal) {
        switch configuration.ipVersion {
        case .any: break
        case .v4: try easy.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .v6: try easy.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if dnsCacheSeconds != 60 { try easy.set(CURLOPT_DNS_CACHE_TIMEOUT, dnsCacheSeconds) }
        if let resolve { try easy.set(CURLOPT_RESOLVE, list: resolve.first) }
        if let servers = configuration.dnsServers { try easy.set(CURLOPT_DNS_SERVERS, servers) }
    }

    /// The lifetime of resolved names in seconds; -1 means forever. Rounded up, so that a short time does not become 0.
    private var dnsCacheSeconds: Int {
        let milliseconds = configuration.dnsCacheMilliseconds
        if milliseconds < 0 { return -1 }
        return Int(clamping: min(milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0), 1 << 31 - 1))
    }

    private func setHTTPVersion(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        switch configuration.httpVersion {
        // libcurl's default since 7.62: HTTP/2 over TLS, if libcurl was built with it.
        case .standard, .http3: break
        case .http1_0: try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_0))
        case .http1_1: try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .http2: try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_0))
        case .http2PriorKnowledge:
            try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        }
    }

    /// Sets what a way to the origin needs beyond the configuration.
    func setWay(_ way: AlternativeServices.Way, for request: HTTPRequest, _ easy: EasyHandle) throws(EasyHandle.Refusal)
    {
        switch way {
        case .usual: break
        case .trial:
            try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_3))
            try easy.set(CURLOPT_FRESH_CONNECT, true)
        case .http3:
            try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_3ONLY))
            // Enough time must be left for the way over TCP.
            let limit = request.options.values.clocks.connect
            let most = Self.connectLimitOfHTTP3
            try easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: limit > 0 ? max(1, min(limit / 2, most)) : most))
        }
    }

    private static let connectLimitOfHTTP3: Int64 = 3_000

    /// Enables TCP keep-alive. Probes use the idle time as their interval; the kernel decides when to give up.
    private func setKeepAlive(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        let seconds = Int(configuration.keepAliveSeconds)
        guard seconds > 0 else { return }
        try easy.set(CURLOPT_TCP_KEEPALIVE, true)
        guard seconds != 60 else { return }
        try easy.set(CURLOPT_TCP_KEEPIDLE, seconds)
        try easy.set(CURLOPT_TCP_KEEPINTVL, seconds)
    }
}

extension TransportConfiguration.TLSVersion {
    /// The minimum version; libcurl allows everything from there up to the highest version that it supports.
    var curlValue: Int {
        switch self {
        case .tls1_0: Int(CURL_SSLVERSION_TLSv1_0)
        case .tls1_1: Int(CURL_SSLVERSION_TLSv1_1)
        case .tls1_2: Int(CURL_SSLVERSION_TLSv1_2)
        case .tls1_3: Int(CURL_SSLVERSION_TLSv1_3)
        }
    }
}

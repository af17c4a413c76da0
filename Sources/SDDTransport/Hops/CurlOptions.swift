internal import CCurl
internal import Glibc
internal import SDDBase

/// Sets libcurl's options for one hop, on a handle made for it or kept for its shape. An option is left out if its
/// documented default is the wanted value, because each option costs time on every request. A class, so that each
/// transfer has it by reference. Immutable.
final class CurlOptions: Sendable {
    let configuration: TransportConfiguration
    let cookies: CookieJar
    let addressPolicy: AddressPolicy
    private let resolve: StringList?
    private let clientKeys = ClientKeys()
    let knownSpaces = KnownSpaces()
    let alternatives = Monitor(AlternativeServices())
    /// The share for requests without cookies. Requests with cookies use the jar's share.
    private let sessions: CurlShare
    /// The proxies from the environment; `nil` if the environment does not choose the proxy.
    let environment: EnvironmentProxies?

    init(_ configuration: TransportConfiguration, cookies: CookieJar) throws(TransportError) {
        self.configuration = configuration
        self.cookies = cookies
        addressPolicy = AddressPolicy(configuration)
        // An address policy rules proxies out, because a proxy connects to addresses that were not checked.
        if case .environment = configuration.proxy, addressPolicy.allowsEverything {
            environment = EnvironmentProxies()
        } else {
            environment = nil
        }
        resolve = configuration.resolve.isEmpty ? nil : StringList(configuration.resolve)
        guard let sessions = CurlShare(hasCookies: false), resolve != nil || configuration.resolve.isEmpty else {
            throw .notStarted(CURLE_OUT_OF_MEMORY)
        }
        self.sessions = sessions
    }

    /// Sets everything that the configuration sets on each handle, on a handle that transfers nothing.
    func rehearse(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try setBasics(easy)
        try setTrust(easy, file: nil)
        try setWays(easy, resolve: resolve)
    }

    /// Sets the options that are the same for all requests.
    private func setBasics(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // Without this, libcurl would use signals to time out name lookups.
        try easy.set(CURLOPT_NOSIGNAL, true)
        let bufferBytes = Int(configuration.receiveBufferBytes)
        if bufferBytes != Int(CURL_MAX_WRITE_SIZE) { try easy.set(CURLOPT_BUFFERSIZE, bufferBytes) }
        // Without this (7.87 and later), the end of a transfer would wait for a name lookup that is still running.
        try? easy.set(CURLOPT_QUICK_EXIT, true)
    }

    /// Sets the minimum TLS version and the trusted certificates. The application's CA file or path replaces the
    /// system's file and path; a request's file replaces both.
    private func setTrust(_ easy: EasyHandle, file own: String?) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_SSLVERSION, configuration.minTLSVersion.curlValue)
        let (file, path) = own == nil ? (configuration.caFile, configuration.caPath) : (own, nil)
        if file == nil && path == nil {
            // libcurl keeps the parsed file for later connections, but not while a path is also set.
            if Self.hasSystemBundle { try easy.clear(CURLOPT_CAPATH) }
            return
        }
        try easy.replace(CURLOPT_CAINFO, by: file)
        try easy.replace(CURLOPT_CAPATH, by: path)
    }

    private static let hasSystemBundle: Bool = CurlFeatures.trustedFile.map { access($0, R_OK) == 0 } ?? false
}

// MARK: - One hop

extension CurlOptions {
    /// Sets all options of a hop on a new handle.
    func apply(_ request: HTTPRequest, priority: Priority, to easy: EasyHandle) throws(EasyHandle.Refusal) {
        let values = request.options.values
        try setBasics(easy)
        try setWays(easy, resolve: resolve)
        try easy.set(CURLOPT_URL, Self.url(of: request))
        if !values.staysPacked { try easy.set(CURLOPT_ACCEPT_ENCODING, Self.acceptedCoding) }
        try setScheme(request.scheme, caFile: values.caFile, easy)
        try setConnectTimeout(values.clocks.connect, easy)
        if priority != .normal { try setPriority(priority, easy) }
        try setShare(usesCookies: values.usesCookies, request.scheme, easy)
        if let own = request.cookiesBesideJar { try easy.set(CURLOPT_COOKIE, own) }
        if !values.verifiesCertificate {
            try easy.set(CURLOPT_SSL_VERIFYPEER, false)
            try easy.set(CURLOPT_SSL_VERIFYHOST, false)
        }
        if let credential = values.credential {
            try Self.setCredential(credential, isAuthorized: request.authorization != nil, clientKeys, easy)
        }
        try Self.setMethod(request, easy)
    }

    /// Sets what differs between two requests of the same shape, on a handle that was set up for one of them.
    func applyAgain(_ request: HTTPRequest, to easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_URL, Self.url(of: request))
    }

    /// Whether requests go to their hosts themselves, by addresses of the system's resolver.
    func isDirect(_ scheme: ImageURL.Scheme) -> Bool {
        if resolve != nil { return false }
        if let environment { return environment[scheme].isEmpty }
        if case .url = configuration.proxy, addressPolicy.allowsEverything { return false }
        return true
    }

    /// Whether a request may use HTTP/3: if its server is verified, and reached without a proxy.
    func mayUseHTTP3(for request: HTTPRequest) -> Bool {
        configuration.httpVersion == .http3 && request.scheme == .https && request.options.values.verifiesCertificate
            && isDirect(.https) && configuration.unixSocketPath == nil
    }

    /// Only a coding whose end can be verified is accepted.
    static let acceptedCoding = "gzip"

    /// Sets the HTTP/2 weight of a transfer. The transfer may already be running.
    func setPriority(_ priority: Priority, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // A libcurl without HTTP/2 refuses this, and has no weights.
        try? easy.set(CURLOPT_STREAM_WEIGHT, priority.streamWeight)
    }

    private func setScheme(
        _ scheme: ImageURL.Scheme, caFile: String?, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        try setProxy(for: scheme, easy)
        let isFile = scheme == .file && configuration.allowsFiles
        try easy.set(CURLOPT_PROTOCOLS_STR, isFile ? "file" : "http,https")
        if scheme == .https { try setTrust(easy, file: caFile) }
        let isPlainHTTP2 = scheme == .http && configuration.httpVersion == .http2PriorKnowledge
        if isPlainHTTP2, !CurlFeatures.sharesPlainHTTP2 {
            try easy.set(CURLOPT_FRESH_CONNECT, true)
            try easy.set(CURLOPT_FORBID_REUSE, true)
        } else if isPlainHTTP2, CurlFeatures.sharesUnansweredPlainHTTP2 {
            try easy.set(CURLOPT_PIPEWAIT, true)
        }
    }

    /// Sets whether a request waits for a connection to its origin that is being made, to see whether they can share it.
    /// Over plain HTTP/1.1 they never can.
    /// - Parameter isSerial: Whether the origin has answered by HTTP/1: `SerialOrigins`.
    func setWait(isSerial: Bool, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_PIPEWAIT, !isSerial && configuration.mayMultiplex)
    }

    /// Sets the connect timeout in libcurl, which divides the time among the addresses of a name. A clock outside
    /// libcurl could not do that.
    private func setConnectTimeout(_ milliseconds: Int64, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // libcurl takes 0 as 300 seconds.
        let longest: Int64 = 1 << 31 - 1
        try easy.set(
            CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: milliseconds > 0 ? min(milliseconds, longest) : longest))
    }

    private func setShare(
        usesCookies: Bool, _ scheme: ImageURL.Scheme, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        if usesCookies {
            try easy.set(CURLOPT_SHARE, share: cookies.share)
            // An empty name enables the cookie engine without reading a file.
            try easy.set(CURLOPT_COOKIEFILE, "")
        } else if scheme == .https {
            try easy.set(CURLOPT_SHARE, share: sessions)
        }
    }

    private static func setMethod(_ request: HTTPRequest, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        switch (request.method, request.body) {
        case ("GET", nil): return
        case ("HEAD", nil): try easy.set(CURLOPT_NOBODY, true)
        case ("POST", let body): try setBody(body, easy)
        case (let method, let body):
            // RFC 9110 §8.6: these methods announce a length even without a body.
            if body != nil || method == "PUT" || method == "PATCH" { try setBody(body, easy) }
            try easy.set(CURLOPT_CUSTOMREQUEST, method)
        }
    }

    /// Sets the request's body without copying it; the transfer keeps the request alive.
    private static func setBody(_ body: Bytes?, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_POST, true)
        try easy.setLarge(CURLOPT_POSTFIELDSIZE_LARGE, Int64(body?.count ?? 0))
        // Without a pointer libcurl would read the process's standard input.
        try easy.set(CURLOPT_POSTFIELDS, pointer: body?.pointer.baseAddress ?? nothing)
    }

    // Safety: a static string: never written to, and never freed.
    private static var nothing: UnsafeRawPointer { UnsafeRawPointer(("" as StaticString).utf8Start) }
}

extension Priority {
    /// The HTTP/2 weight (RFC 7540 §5.3.2), which decides a transfer's share of a connection. 16 is HTTP/2's default.
    fileprivate var streamWeight: Int {
        switch self {
        case .veryLow: 2
        case .low: 8
        case .normal: 16
        case .high: 64
        case .veryHigh: 256
        }
    }
}

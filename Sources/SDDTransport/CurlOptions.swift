internal import CCurl
internal import Glibc
internal import SDDBase

/// What libcurl is told: once for a handle (`prepare`), and for each hop of a transfer (`apply`). With its extensions
/// the only file that names options.
struct CurlOptions: Sendable {
    /// What a handle was told for the hop before, so that the next one has to name differences only.
    struct Applied {
        fileprivate var scheme: ImageURL.Scheme?
        fileprivate var connectMilliseconds: Int64?
        fileprivate var priority = Priority.normal
        fileprivate var usesCookies = false
    }

    let configuration: TransportConfiguration
    let cookies: CookieJar
    let addressPolicy: AddressPolicy
    private let resolve: StringList?
    private let clientKeys = ClientKeys()
    /// nil where it is not the environment that decides.
    let environment: EnvironmentProxies?

    init(_ configuration: TransportConfiguration, cookies: CookieJar) throws(TransportError) {
        self.configuration = configuration
        self.cookies = cookies
        addressPolicy = AddressPolicy(configuration)
        // A proxy would connect where nobody has looked.
        if case .environment = configuration.proxy, addressPolicy.allowsEverything {
            environment = EnvironmentProxies()
        } else {
            environment = nil
        }
        resolve = configuration.resolve.isEmpty ? nil : StringList(configuration.resolve)
        guard resolve != nil || configuration.resolve.isEmpty else { throw .notStarted(CURLE_OUT_OF_MEMORY) }
    }

    /// Everything that is the same for all requests, on a new handle or one just reset.
    func prepare(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // Without it libcurl would use signals to time out name lookups.
        try easy.set(CURLOPT_NOSIGNAL, true)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        // `Redirects` decides, hop by hop.
        try easy.set(CURLOPT_FOLLOWLOCATION, false)
        // Only what can be checked to its end.
        try easy.set(CURLOPT_ACCEPT_ENCODING, "gzip")
        try easy.set(CURLOPT_HTTP09_ALLOWED, false)
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        try easy.set(CURLOPT_TCP_NODELAY, true)
        try easy.set(CURLOPT_BUFFERSIZE, Int(configuration.receiveBufferBytes))
        // Else the end of a transfer whose name lookup still runs waits for the lookup (7.87 and later).
        try? easy.set(CURLOPT_QUICK_EXIT, true)
        try setTrust(easy)
        try setWays(easy, resolve: resolve)
    }

    /// Back to a handle that nothing was told.
    func reset(_ easy: EasyHandle, _ applied: inout Applied) throws(EasyHandle.Refusal) {
        // libcurl 7.88 would leave cookies on, but forget (and leak) that the engine is still to be started.
        try setCookies(false, easy, &applied)
        curl_easy_reset(easy.raw)
        applied = Applied()
    }

    /// A CA file or path of the host's own replaces the system's, both its file and its path.
    private func setTrust(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_SSLVERSION, configuration.minTLSVersion.curlValue)
        let (file, path) = (configuration.caFile, configuration.caPath)
        if file == nil && path == nil {
            // libcurl keeps the parsed file for later connections, but not while a path is set as well.
            if Self.hasSystemBundle { try easy.clear(CURLOPT_CAPATH) }
            return
        }
        if let file { try easy.set(CURLOPT_CAINFO, file) } else { try easy.clear(CURLOPT_CAINFO) }
        if let path { try easy.set(CURLOPT_CAPATH, path) } else { try easy.clear(CURLOPT_CAPATH) }
    }

    private static let hasSystemBundle: Bool = CurlFeatures.trustedFile.map { access($0, R_OK) == 0 } ?? false
}

// MARK: - One hop

extension CurlOptions {
    func apply(_ request: HTTPRequest, priority: Priority, to easy: EasyHandle, after applied: inout Applied)
        throws(EasyHandle.Refusal)
    {
        let values = request.options.values
        try easy.set(CURLOPT_URL, Self.url(of: request))
        try setScheme(request.url.scheme, easy, &applied)
        try setConnectTimeout(values.clocks.connect, easy, &applied)
        try setPriority(priority, easy, &applied)
        try setCookies(values.usesCookies, easy, &applied)
        if !values.verifiesCertificate {
            try easy.set(CURLOPT_SSL_VERIFYPEER, false)
            try easy.set(CURLOPT_SSL_VERIFYHOST, false)
        }
        if let credential = values.credential { try Self.setCredential(credential, clientKeys, easy) }
        try Self.setMethod(request, easy)
    }

    /// True if `apply` changed something that the next hop must not inherit.
    static func leavesTraces(_ request: HTTPRequest) -> Bool {
        let values = request.options.values
        return request.method != "GET" || request.body != nil || !values.verifiesCertificate
            || request.url.scheme == .file || values.credential?.leavesTraces ?? false
            || request.url.hasUserinfo
    }

    /// Also while the transfer runs.
    func setPriority(_ priority: Priority, _ easy: EasyHandle, _ applied: inout Applied) throws(EasyHandle.Refusal) {
        guard priority != applied.priority else { return }
        applied.priority = priority
        // A libcurl without HTTP/2 has no weights either.
        try? easy.set(CURLOPT_STREAM_WEIGHT, priority.streamWeight)
    }

    private func setScheme(
        _ scheme: ImageURL.Scheme, _ easy: EasyHandle, _ applied: inout Applied
    ) throws(EasyHandle.Refusal) {
        guard scheme != applied.scheme else { return }
        applied.scheme = scheme
        try setProxy(for: scheme, easy)
        // Many requests to a new host: wait and see whether they can share one connection. Over plain HTTP
        // they never can.
        try easy.set(CURLOPT_PIPEWAIT, scheme == .https)
        if scheme == .file && configuration.allowsFiles { try easy.set(CURLOPT_PROTOCOLS_STR, "file") }
    }

    /// libcurl divides the time among the addresses of a name, which a clock of our own cannot.
    private func setConnectTimeout(
        _ milliseconds: Int64, _ easy: EasyHandle, _ applied: inout Applied
    ) throws(EasyHandle.Refusal) {
        guard milliseconds != applied.connectMilliseconds else { return }
        applied.connectMilliseconds = milliseconds
        // To libcurl 0 means 300 seconds.
        let longest: Int64 = 1 << 31 - 1
        try easy.set(
            CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: milliseconds > 0 ? min(milliseconds, longest) : longest))
    }

    private func setCookies(_ use: Bool, _ easy: EasyHandle, _ applied: inout Applied) throws(EasyHandle.Refusal) {
        guard use != applied.usesCookies else { return }
        // No file to read: this switches the engine on. Off it is once there is no share; before that, lest libcurl
        // makes a store of the handle's own.
        if use {
            try easy.set(CURLOPT_SHARE, share: cookies.share.raw)
            try easy.set(CURLOPT_COOKIEFILE, "")
        } else {
            try easy.clear(CURLOPT_COOKIEFILE)
            try easy.set(CURLOPT_SHARE, share: nil)
        }
        applied.usesCookies = use
    }

    private static func setMethod(_ request: HTTPRequest, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        switch (request.method, request.body) {
        case ("GET", nil): return
        case ("HEAD", nil): try easy.set(CURLOPT_NOBODY, true)
        case ("POST", let body): try setBody(body, easy)
        case (let method, let body):
            // RFC 9110 §8.6: these announce a length also if they carry nothing.
            if body != nil || method == "PUT" || method == "PATCH" { try setBody(body, easy) }
            try easy.set(CURLOPT_CUSTOMREQUEST, method)
        }
    }

    /// Not copied: the transfer keeps the request.
    private static func setBody(_ body: Bytes?, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_POST, true)
        try easy.setLarge(CURLOPT_POSTFIELDSIZE_LARGE, Int64(body?.count ?? 0))
        // Without a pointer libcurl would read the host's standard input.
        try easy.set(CURLOPT_POSTFIELDS, pointer: body?.pointer.baseAddress ?? nothing)
    }

    // Safety: a static string: never written to, and never freed.
    private static var nothing: UnsafeRawPointer { UnsafeRawPointer(("" as StaticString).utf8Start) }
}

extension Priority {
    /// RFC 7540 §5.3.2: how much of a connection one transfer gets beside others. 16 is HTTP's own default.
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

internal import CCurl
internal import Glibc
internal import SDDBase

/// What libcurl is told of a hop, on a handle made for it. With its extensions the only file that names options. An
/// option is left out where its documented default is what is wanted, for each one costs every request.
struct CurlOptions: Sendable {
    let configuration: TransportConfiguration
    let cookies: CookieJar
    let addressPolicy: AddressPolicy
    private let resolve: StringList?
    private let clientKeys = ClientKeys()
    /// Of the requests that use no cookies; the others have theirs in the jar's.
    private let sessions: CurlShare
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
        guard let sessions = CurlShare(hasCookies: false), resolve != nil || configuration.resolve.isEmpty else {
            throw .notStarted(CURLE_OUT_OF_MEMORY)
        }
        self.sessions = sessions
    }

    /// Tells a handle that nothing is fetched with what the configuration makes every handle be told.
    func rehearse(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try setBasics(easy)
        try setTrust(easy, file: nil)
        try setWays(easy, resolve: resolve)
    }

    /// What is the same for all requests.
    private func setBasics(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // Without it libcurl would use signals to time out name lookups.
        try easy.set(CURLOPT_NOSIGNAL, true)
        let bufferBytes = Int(configuration.receiveBufferBytes)
        if bufferBytes != Int(CURL_MAX_WRITE_SIZE) { try easy.set(CURLOPT_BUFFERSIZE, bufferBytes) }
        // Else the end of a transfer whose name lookup still runs waits for the lookup (7.87 and later).
        try? easy.set(CURLOPT_QUICK_EXIT, true)
    }

    /// A CA file or path of the application's own replaces the system's, both its file and its path; a request's file
    /// replaces those.
    private func setTrust(_ easy: EasyHandle, file own: String?) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_SSLVERSION, configuration.minTLSVersion.curlValue)
        let (file, path) = own == nil ? (configuration.caFile, configuration.caPath) : (own, nil)
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
    /// On a new handle.
    func apply(_ request: HTTPRequest, priority: Priority, to easy: EasyHandle) throws(EasyHandle.Refusal) {
        let values = request.options.values
        try setBasics(easy)
        try setWays(easy, resolve: resolve)
        try easy.set(CURLOPT_URL, Self.url(of: request))
        // Only what can be checked to its end.
        if !values.staysPacked { try easy.set(CURLOPT_ACCEPT_ENCODING, "gzip") }
        try setScheme(request.url.scheme, caFile: values.caFile, easy)
        try setConnectTimeout(values.clocks.connect, easy)
        if priority != .normal { try setPriority(priority, easy) }
        try setShare(usesCookies: values.usesCookies, request.url.scheme, easy)
        if !values.verifiesCertificate {
            try easy.set(CURLOPT_SSL_VERIFYPEER, false)
            try easy.set(CURLOPT_SSL_VERIFYHOST, false)
        }
        if let credential = values.credential { try Self.setCredential(credential, clientKeys, easy) }
        try Self.setMethod(request, easy)
    }

    /// Also while the transfer runs.
    func setPriority(_ priority: Priority, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // A libcurl without HTTP/2 has no weights either.
        try? easy.set(CURLOPT_STREAM_WEIGHT, priority.streamWeight)
    }

    private func setScheme(
        _ scheme: ImageURL.Scheme, caFile: String?, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        try setProxy(for: scheme, easy)
        let isFile = scheme == .file && configuration.allowsFiles
        try easy.set(CURLOPT_PROTOCOLS_STR, isFile ? "file" : "http,https")
        guard scheme == .https else { return }
        // Many requests to a new host: wait and see whether they can share one connection. Over plain HTTP
        // they never can.
        try easy.set(CURLOPT_PIPEWAIT, true)
        try setTrust(easy, file: caFile)
    }

    /// libcurl divides the time among the addresses of a name, which a clock of our own cannot.
    private func setConnectTimeout(_ milliseconds: Int64, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // To libcurl 0 means 300 seconds.
        let longest: Int64 = 1 << 31 - 1
        try easy.set(
            CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: milliseconds > 0 ? min(milliseconds, longest) : longest))
    }

    private func setShare(
        usesCookies: Bool, _ scheme: ImageURL.Scheme, _ easy: EasyHandle
    ) throws(EasyHandle.Refusal) {
        if usesCookies {
            try easy.set(CURLOPT_SHARE, share: cookies.share)
            // No file to read: this switches the engine on.
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

internal import CCurl
internal import Glibc
internal import SDDBase

/// What libcurl is told: once for a handle (`prepare`), and for each request (`apply`). The only file that
/// names options.
/// thread: sdd-net
struct CurlOptions {
    let configuration: TransportConfiguration

    /// Below glibc's first limit for memory of its own mapping (128 KiB), since libcurl 7.88 allocates the buffer
    /// anew for each transfer: at 256 KiB small pictures cost ten times the page faults.
    private static let receiveBufferBytes = 96 << 10

    init(_ configuration: TransportConfiguration) { self.configuration = configuration }

    /// Everything that is the same for all requests, on a new handle or one just reset.
    func prepare(_ easy: EasyHandle, for transfer: CurlTransfer) throws(EasyHandle.Refusal) {
        // Without it libcurl would use signals to time out name lookups.
        try easy.set(CURLOPT_NOSIGNAL, true)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, true)
        try easy.set(CURLOPT_MAXREDIRS, Int(configuration.maxRedirects))
        // URL and "Authorization" credentials stay with the host, port and scheme they were given for.
        try easy.set(CURLOPT_UNRESTRICTED_AUTH, false)
        try easy.set(CURLOPT_ACCEPT_ENCODING, "")
        try easy.set(CURLOPT_HTTP09_ALLOWED, false)
        // A libcurl without HTTP/2 says no, and speaks HTTP/1.1.
        try? easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        try easy.set(CURLOPT_TCP_NODELAY, true)
        try easy.set(CURLOPT_BUFFERSIZE, Self.receiveBufferBytes)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: min(configuration.idleTimeoutMilliseconds, 1 << 31 - 1)))
        // Else the end of a transfer whose name lookup still runs waits for the lookup (7.87 and later).
        try? easy.set(CURLOPT_QUICK_EXIT, true)
        try easy.setLarge(CURLOPT_MAXFILESIZE_LARGE, announcedLimit)
        try setTrust(easy)
        try transfer.connectCallbacks()
    }

    /// Of the Content-Length, before the body begins. What is counted is the body after unpacking, and packing
    /// can make one a little longer: the exact limit is `CurlTransfer`'s.
    private var announcedLimit: Int64 {
        let limit = configuration.maxBodyBytes
        let (sum, overflow) = limit.addingReportingOverflow(limit / 64 + 65_536)
        return overflow ? .max : sum
    }

    /// A CA file or path of the host's own replaces the system's, both its file and its path.
    private func setTrust(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        let (file, path) = (configuration.caFile, configuration.caPath)
        if file == nil && path == nil {
            // libcurl keeps the parsed file for later connections, but not while a path is set as well.
            if Self.hasSystemBundle { try easy.clear(CURLOPT_CAPATH) }
            return
        }
        if let file { try easy.set(CURLOPT_CAINFO, file) } else { try easy.clear(CURLOPT_CAINFO) }
        if let path { try easy.set(CURLOPT_CAPATH, path) } else { try easy.clear(CURLOPT_CAPATH) }
    }

    private static let hasSystemBundle: Bool = {
        // Safety: libcurl's own static record.
        guard let information = curl_version_info(CURLVERSION_SEVENTH)?.pointee,
            information.age.rawValue >= CURLVERSION_SEVENTH.rawValue, let bundle = information.cainfo
        else { return false }
        return access(bundle, R_OK) == 0
    }()
}

// MARK: - One request

extension CurlOptions {
    /// - Parameter scheme: that of the request the handle had before; nil if it had none.
    func apply(_ request: HTTPRequest, to easy: EasyHandle, after scheme: ImageURL.Scheme?)
        throws(EasyHandle.Refusal)
    {
        try easy.set(CURLOPT_URL, request.url.text)
        if request.url.scheme != scheme { try setScheme(request.url.scheme, easy) }
        if !request.verifiesCertificate {
            try easy.set(CURLOPT_SSL_VERIFYPEER, false)
            try easy.set(CURLOPT_SSL_VERIFYHOST, false)
        }
        try setMethod(request, easy)
    }

    /// True if `apply` changed something that the next request must not inherit.
    static func leavesTraces(_ request: HTTPRequest) -> Bool {
        request.method != "GET" || request.body != nil || !request.verifiesCertificate
            || request.url.scheme == .file || URLText.hasCredentials(request.url.text)
    }

    private func setScheme(_ scheme: ImageURL.Scheme, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        // A redirect never leads to a file, nor from a connection that nobody can read to one that all can.
        try easy.set(CURLOPT_REDIR_PROTOCOLS_STR, scheme == .https ? "https" : "http,https")
        // Many requests to a new host: wait and see whether they can share one connection. Over plain HTTP
        // they never can.
        try easy.set(CURLOPT_PIPEWAIT, scheme == .https)
        if scheme == .file && configuration.allowsFiles { try easy.set(CURLOPT_PROTOCOLS_STR, "file") }
    }

    private func setMethod(_ request: HTTPRequest, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        switch (request.method, request.body) {
        case ("GET", nil): return
        case ("HEAD", nil):
            try easy.set(CURLOPT_NOBODY, true)
            // The length it announces is that of a body which does not come.
            try easy.setLarge(CURLOPT_MAXFILESIZE_LARGE, 0)
        case ("POST", let body):
            try setBody(body, easy)
        case (let method, let body):
            // RFC 9110 §8.6: these announce a length also if they carry nothing.
            if body != nil || method == "PUT" || method == "PATCH" { try setBody(body, easy) }
            try easy.set(CURLOPT_CUSTOMREQUEST, method)
            // libcurl would drop the body and keep the method, after a redirect by 301, 302 or 303.
            try easy.set(CURLOPT_POSTREDIR, 7)
        }
    }

    /// Not copied: the transfer keeps the request.
    private func setBody(_ body: Bytes?, _ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_POST, true)
        try easy.setLarge(CURLOPT_POSTFIELDSIZE_LARGE, Int64(body?.count ?? 0))
        // Without a pointer libcurl would read the host's standard input.
        try easy.set(CURLOPT_POSTFIELDS, pointer: body?.pointer.baseAddress ?? Self.nothing)
    }

    // Safety: a static string: never written to, and never freed.
    private static var nothing: UnsafeRawPointer { UnsafeRawPointer(("" as StaticString).utf8Start) }
}

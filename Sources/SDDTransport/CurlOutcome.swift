internal import CCurl
internal import Glibc
internal import SDDBase

/// How one hop ended, as libcurl tells it: the code, and what the handle knows besides.
/// thread: sdd-net
struct CurlOutcome {
    let code: CURLcode
    let easy: EasyHandle
    let request: HTTPRequest
    /// libcurl's sentence on this failure; "" if it had none.
    let words: String
    /// errno of a socket() that failed; 0 if none did.
    let socketError: Int32
    let configuration: TransportConfiguration
    let environment: EnvironmentProxies?
    /// A response's header was complete.
    let hasHead: Bool
    /// The last one, where the policy refused every address.
    let refusedAddress: AddressRefusal?

    /// Where the transfer was when it ended: after a redirect not where it began.
    var host: String {
        let host = URLText.host(request.url.text)
        return host.isEmpty ? "the server" : host
    }

    var systemError: Int32 {
        socketError != 0 ? socketError : Int32(clamping: easy.number(CURLINFO_OS_ERRNO))
    }

    var limitOnBody: Int64 { request.limitOnBody(else: configuration.maxBodyBytes) }

    /// Name lookup, connect and TLS handshake are done.
    var isConnected: Bool { easy.large(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Of a scheme that libcurl was told to fetch: then a complaint about the protocol is one about the answer.
    var isAtAllowedScheme: Bool {
        switch request.url.scheme {
        case .http, .https: true
        case .file: configuration.allowsFiles
        case .data, .other: false
        }
    }

    /// What a proxy answered to CONNECT: something else than yes.
    var isProxyRefusal: Bool {
        let status = easy.number(CURLINFO_HTTP_CONNECTCODE)
        return code == CURLE_PROXY || status != 0 && status / 100 != 2
    }

    /// As a sentence shows it, without user and password; nil where none is configured. Whether it was used, only the
    /// words tell.
    var proxy: String? {
        let url: String
        if let environment {
            url = environment[request.url.scheme]
        } else if case .url(let own, _) = configuration.proxy {
            url = own
        } else {
            return nil
        }
        guard !url.isEmpty, let parts = URLParts(url, guessesScheme: true) else { return nil }
        // libcurl's own, if none is given: CURLOPT_PROXYPORT.
        let port = parts[CURLUPART_PORT] ?? (parts.scheme == "https" ? "443" : "1080")
        return "\(parts.scheme)://\(parts.host):\(port)"
    }

    /// It was the proxy that could not be connected to. libcurl's words name it: up to 7.88 as the place that it failed to
    /// connect to, later as the one that it went "via".
    var isProxyUnreachable: Bool {
        guard let proxy, let parts = URLParts(proxy) else { return false }
        return wordsHave(" to \(parts.host) port \(parts.port)") || wordsHave(" via \(parts.host)")
    }

    /// It was the proxy's name. Of a SOCKS proxy libcurl says so in words alone.
    var isProxyUnknown: Bool {
        if code == CURLE_COULDNT_RESOLVE_PROXY { return true }
        guard code == CURLE_COULDNT_RESOLVE_HOST, let proxy, let parts = URLParts(proxy) else { return false }
        return wordsHave(": \(parts.host)") && parts.host != host
    }

    /// libcurl 7.88 as Debian has it ends a header of over 300 KiB as a failure to receive.
    var isHeaderFlood: Bool { easy.number(CURLINFO_HEADER_SIZE) > 250 << 10 }

    /// Chunks of a size that is no number are, to libcurl, a failure to receive.
    var isBadChunk: Bool { wordsHave("chunk") }

    /// strstr: String's own search would bring Swift's regular expressions into the library, 1.4 MB.
    private func wordsHave(_ part: String) -> Bool { strstr(words, part) != nil }

    /// libcurl's own words, as one line, whatever a server may have put into them.
    var detail: String {
        let text = words.isEmpty ? curl_easy_strerror(code).map { String(cString: $0) } ?? "" : words
        let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }
        let line = String(String.UnicodeScalarView(scalars))
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }

    /// The system's words if it gave a reason, else libcurl's.
    var systemDetail: String {
        // Safety: glibc's strerror gives a string of this thread's own, or a static one.
        guard systemError != 0, let text = strerror(systemError) else { return detail }
        return String(cString: text)
    }
}

internal import CCurl
internal import Glibc
internal import SDDBase

/// The outcome of one hop as libcurl reports it: the result code, and further details from the handle.
/// thread: sdd-net
struct CurlOutcome {
    let code: CURLcode
    let easy: EasyHandle
    let request: HTTPRequest
    /// libcurl's error message for this failure; "" if there is none.
    let words: String
    /// The errno of a failed socket() call; 0 if none failed.
    let socketError: Int32
    let configuration: TransportConfiguration
    let environment: EnvironmentProxies?
    /// Whether name lookup, connect and TLS handshake were complete. libcurl's times do not tell: 8.23 also sets
    /// CURLINFO_PRETRANSFER_TIME_T for a connection that failed.
    let isConnected: Bool
    /// Whether a response's header was complete.
    let hasHead: Bool
    /// The last refusal, if the address policy refused every address.
    let refusedAddress: AddressRefusal?

    /// The host at which the transfer ended, which after a redirect is not the first one.
    var host: String {
        let host = URLText.host(request.url.text)
        return host.isEmpty ? "the server" : host
    }

    var systemError: Int32 {
        socketError != 0 ? socketError : Int32(clamping: easy.number(CURLINFO_OS_ERRNO))
    }

    var limitOnBody: Int64 { request.limitOnBody(else: configuration.maxBodyBytes) }

    /// Whether libcurl was allowed to fetch the URL's scheme. If so, its error about the protocol concerns the
    /// response.
    var isAtAllowedScheme: Bool {
        switch request.scheme {
        case .http, .https: true
        case .file: configuration.allowsFiles
        case .data, .other: false
        }
    }

    /// Whether the proxy refused: its response to CONNECT is not 2xx.
    var isProxyRefusal: Bool {
        let status = easy.number(CURLINFO_HTTP_CONNECTCODE)
        return status != 0 && status / 100 != 2
    }

    /// Whether a connection that broke was one to a proxy, which had not led on to the host yet.
    var breaksOffAtProxy: Bool { !isConnected && proxy != nil }

    /// Whether a TLS handshake that failed was that with an https proxy. libcurl sets the result of a handshake to 1
    /// when it begins, and to 0 when it has succeeded.
    var isProxysHandshake: Bool { proxy != nil && easy.number(CURLINFO_PROXY_SSL_VERIFYRESULT) != 0 }

    /// Whether the directory of trusted certificates cannot be read, which OpenSSL takes for an empty one.
    var isTrustedPathUnreadable: Bool {
        guard let path = configuration.caPath, isProxysHandshake || request.options.values.caFile == nil else {
            return false
        }
        return access(path + "/.", R_OK | X_OK) != 0
    }

    /// Whether the server ended the connection because of the client's certificate, or of the lack of one: RFC 8446 §6.2.
    var blamesClientCertificate: Bool {
        guard request.scheme == .https, !hasHead, !isProxysHandshake else { return false }
        // libcurl takes the alert that the client's certificate has expired for a flaw of the server's, and names none.
        if code == CURLE_PEER_FAILED_VERIFICATION { return wordsHave("SSL certificate verification failed") }
        let reasons = [
            "certificate required", "bad certificate", "unsupported certificate", "certificate revoked",
            "certificate expired", "certificate unknown", "unknown ca",
        ]
        return reasons.contains { wordsHave("alert " + $0) }
    }

    /// The proxy's URL for a message, without user and password; `nil` if none is configured. Only `words` shows
    /// whether it was used.
    var proxy: String? {
        let url: String
        if let environment {
            url = environment[request.scheme]
        } else if case .url(let own, _) = configuration.proxy {
            url = own
        } else {
            return nil
        }
        guard !url.isEmpty, let parts = URLParts(url, guessesScheme: true) else { return nil }
        // libcurl's default ports for proxies; see CURLOPT_PROXYPORT.
        let port = parts[CURLUPART_PORT] ?? (parts.scheme == "https" ? "443" : "1080")
        return "\(parts.scheme)://\(parts[CURLUPART_HOST] ?? ""):\(port)"
    }

    /// Whether the connection to the proxy failed. libcurl's message names the proxy: up to 7.88 as the host that it
    /// failed to connect to, later as the one that it went "via", and 8.23 as the one "over" which it went. An IPv6
    /// address has no brackets there.
    var isProxyUnreachable: Bool {
        guard let proxy, let parts = URLParts(proxy), let host = parts[CURLUPART_HOST] else { return false }
        let name = String(host.drop { $0 == "[" }.prefix { $0 != "]" })
        return wordsHave(" to \(name) port \(parts.port)") || wordsHave(" via \(name)")
            || wordsHave(" over proxy \(name)") || wordsHave(" via [\(name)") || wordsHave(" over proxy [\(name)")
    }

    /// Whether the proxy's name could not be resolved. For a SOCKS proxy only libcurl's message shows that.
    var isProxyUnknown: Bool {
        if code == CURLE_COULDNT_RESOLVE_PROXY { return true }
        guard code == CURLE_COULDNT_RESOLVE_HOST, let proxy, let parts = URLParts(proxy) else { return false }
        return wordsHave(": \(parts[CURLUPART_HOST] ?? "")") && parts.host != host
    }

    /// Whether there was no thread to look a name up on.
    var lacksThreadForLookup: Bool { wordsHave("thread failed") }

    /// Whether libcurl refuses the URL of the proxy, which then comes from the environment: `ConfigurationCheck`.
    var isProxyUnusable: Bool { wordsHave("Unsupported proxy") }

    /// Whether the header was too large for libcurl. Debian's libcurl 7.88 reports a header of over 300 KiB as a
    /// failure to receive.
    var isHeaderFlood: Bool { easy.number(CURLINFO_HEADER_SIZE) > 250 << 10 }

    /// Whether a GOAWAY may have ended the request's stream: libcurl says that it has reset the stream itself. Of a stream
    /// that the server has reset it says so.
    var mayHaveGoneAway: Bool {
        code == CURLE_HTTP2
            || code == CURLE_HTTP2_STREAM && CurlFeatures.endsStreamsByGoAway && wordsHave(" reset by curl ")
    }

    /// Whether a chunk had an invalid size, which libcurl reports as a failure to receive.
    var isBadChunk: Bool { wordsHave("chunk") }

    /// Whether libcurl's message contains `part`. String's own search would link Swift's regular expressions into the
    /// library, 1.4 MB.
    private func wordsHave(_ part: String) -> Bool { strstr(words, part) != nil }

    /// libcurl's message as one line, without the control characters that a server may have put into it.
    var detail: String {
        let text = words.isEmpty ? curl_easy_strerror(code).map { String(cString: $0) } ?? "" : words
        let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }
        let line = String(String.UnicodeScalarView(scalars))
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }

    /// The system's error text if there is a system error, otherwise libcurl's message.
    var systemDetail: String {
        // Safety: glibc's strerror gives a string of this thread's own, or a static one.
        guard systemError != 0, let text = strerror(systemError) else { return detail }
        return String(cString: text)
    }
}

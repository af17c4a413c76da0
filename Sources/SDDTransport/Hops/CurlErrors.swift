internal import CCurl
internal import Glibc
internal import SDDBase

/// Translates libcurl's result codes. The meaning of each was tested with libcurl 7.88 against servers that misbehave.
extension CurlOutcome {
    var error: TransportError {
        if let error = lookupWithoutResources { return error }
        let (kind, message) = verdict
        return TransportError(kind, curlCode: Int32(code.rawValue), systemError: systemError, message: message)
    }

    private typealias Verdict = (TransportError.Kind, String)

    private var verdict: Verdict {
        switch code {
        case _ where refusedAddress != nil && !isConnected:
            (.addressRefused, refusedAddress?.sentence(host: host) ?? "")
        case CURLE_PROXY: socksVerdict
        case _ where isProxyRefusal: (proxyRefusal, "\(shownProxy) on the way to \(host) \(proxyAnswer).")
        case CURLE_SEND_ERROR where breaksOffAtProxy, CURLE_RECV_ERROR where breaksOffAtProxy,
            CURLE_GOT_NOTHING where breaksOffAtProxy:
            proxyBrokeOff
        case CURLE_URL_MALFORMAT: (.malformedURL, "The URL is malformed; check its host and port.")
        case CURLE_UNSUPPORTED_PROTOCOL: protocolVerdict
        case CURLE_FILE_COULDNT_READ_FILE: (.fileNotReadable, PlainFile.message)
        case CURLE_OPERATION_TIMEDOUT: timeoutVerdict
        // libcurl 8.23 has this code for a client key that it cannot use.
        case CURLE_BAD_FUNCTION_ARGUMENT where !isConnected && hasClientCertificate: clientCertificateVerdict
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_BAD_FUNCTION_ARGUMENT, .tooLarge: resourceVerdict
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
            CURLE_INTERFACE_FAILED:
            connectVerdict
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            tlsVerdict
        default: responseVerdict
        }
    }

    /// libcurl has one code for three errors: an unsupported scheme, a response whose first line is not HTTP, and, from
    /// 8.9 on, a socket that the system does not make non-blocking.
    private var protocolVerdict: Verdict {
        if !isAtAllowedScheme { return (.unsupportedScheme, "The URL's scheme is not http or https.") }
        return isConnected || proxy != nil
            ? (.notHTTP, "What \(host) sent is not HTTP; check the URL's port and scheme.") : resourceVerdict
    }

    /// libcurl's own time limit is used only for the connect.
    private var timeoutVerdict: Verdict {
        let limit = request.options.values.clocks.connect
        let error = TransportError.expired(isConnected ? .stall : .connectTimeout, after: limit, host: host)
        return (error.kind, error.message)
    }

    /// The proxy, as the beginning of a sentence.
    private var shownProxy: String { proxy.map { "The proxy \($0)" } ?? "The proxy" }

    /// The proxy's response to CONNECT, with a remedy.
    private var proxyAnswer: String {
        switch easy.number(CURLINFO_HTTP_CONNECTCODE) {
        case 407:
            "wants a user and password, or others (status 407): name them in its URL, as http://user:password@proxy:port"
        case 403: "does not let this through (status 403): its rules name the hosts and ports that it connects to"
        case 502, 503, 504: "does not reach it (status \(easy.number(CURLINFO_HTTP_CONNECTCODE))): try again later"
        case let status where status != 0 && status / 100 != 2: "refused with status \(status)"
        default: "refused: \(detail)"
        }
    }

    /// The kind of a response to CONNECT. Those that a server sends for a while only, a proxy does, too.
    private var proxyRefusal: TransportError.Kind {
        switch easy.number(CURLINFO_HTTP_CONNECTCODE) {
        case 408, 425, 429, 500, 502, 503, 504: .proxyUnavailable
        default: .proxy
        }
    }

    private var proxyBrokeOff: Verdict {
        (
            .connect,
            "There is no connection to \(host): \(proxy.map { "the proxy \($0)" } ?? "the proxy") broke off: \(detail)."
        )
    }

    /// Translates libcurl's reasons for CURLE_PROXY, which only SOCKS proxies have.
    private var socksVerdict: Verdict {
        switch CURLproxycode(rawValue: UInt32(clamping: easy.number(CURLINFO_PROXY_ERROR))) {
        case CURLPX_RESOLVE_HOST:
            (
                .resolve,
                "The name \(host) could not be resolved, which a proxy of the kind socks4a or socks5h would do itself; "
                    + "check its spelling and the network."
            )
        case CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK,
            CURLPX_SEND_AUTH, CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST:
            proxyBrokeOff
        // RFC 1928 §6. SOCKS4 has one answer for hosts that it does not reach and for those that it refuses.
        case CURLPX_REPLY_GENERAL_SERVER_FAILURE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_HOST_UNREACHABLE,
            CURLPX_REPLY_CONNECTION_REFUSED, CURLPX_REPLY_TTL_EXPIRED, CURLPX_REQUEST_FAILED:
            (.connect, "\(shownProxy) has no connection to \(host): \(detail).")
        default: (.proxy, "\(shownProxy) on the way to \(host) refused: \(detail).")
        }
    }

    private var resourceVerdict: Verdict {
        // libcurl before 8.6 reports a header line of over 100 KiB as a lack of memory.
        if code == .tooLarge && isConnected || code == CURLE_OUT_OF_MEMORY && isConnected && !hasHead {
            return (.headersTooLarge, "\(host) sent a header line that is too long.")
        }
        // libcurl reports this for a header line without a name or a colon, and for a folded line with nothing before
        // it.
        if code == CURLE_BAD_FUNCTION_ARGUMENT && isConnected {
            return (.notHTTP, "\(host) sent a header line that is not HTTP.")
        }
        return (.noResources, "libcurl could not make the transfer: \(detail).")
    }
}

// MARK: - Connecting

extension CurlOutcome {
    private static let outOfDescriptors: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    /// The error of a name that could not be looked up for lack of a thread or a descriptor, which libcurl reports like one
    /// that has no address. getaddrinfo() does not tell why it failed: it counts if there is no descriptor now.
    private var lookupWithoutResources: TransportError? {
        guard code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY else { return nil }
        let (missing, number): (String, Int32)
        let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0, Self.outOfDescriptors.contains(errno) {
            (missing, number) = ("descriptor", errno)
        } else {
            close(descriptor)
            guard lacksThreadForLookup else { return nil }
            (missing, number) = ("thread", EAGAIN)
        }
        return TransportError(
            .noResources, curlCode: Int32(code.rawValue), systemError: number,
            message: "A name on the way to \(host) could not be looked up: the system gave no \(missing) for it.")
    }

    private var connectVerdict: Verdict {
        switch code {
        case _ where isProxyUnknown:
            (
                .resolve,
                "The name of \(proxy.map { "the proxy \($0)" } ?? "the proxy") could not be resolved; check "
                    + "its URL, or http_proxy and https_proxy in the environment."
            )
        // libcurl's message has the whole URL.
        case _ where isProxyUnusable:
            (
                .connect,
                "There is no connection to \(host): the proxy \(proxy ?? "") is of a kind that libcurl does not know; "
                    + "check http_proxy and https_proxy in the environment."
            )
        case CURLE_COULDNT_RESOLVE_HOST:
            (.resolve, "The name \(host) could not be resolved; check its spelling and the network.")
        case _ where Self.outOfDescriptors.contains(systemError):
            (.noResources, "The system gave no socket for \(host): \(systemDetail).")
        case _ where isProxyUnreachable:
            (
                .connect,
                "There is no connection to the proxy \(proxy ?? "") on the way to \(host): \(systemDetail); check "
                    + "its URL, or http_proxy and https_proxy in the environment."
            )
        case _ where configuration.unixSocketPath != nil:
            (
                .connect,
                "There is no connection to the Unix socket \(configuration.unixSocketPath ?? ""), on the way to \(host): "
                    + "\(systemDetail)."
            )
        default: (.connect, "There is no connection to \(host): \(systemDetail).")
        }
    }

    /// The other end of a TLS handshake that failed: the host, or the proxy.
    private var tlsPeer: String { isProxysHandshake ? proxy.map { "the proxy \($0)" } ?? host : host }

    private var tlsVerdict: Verdict {
        switch code {
        case CURLE_SSL_CLIENTCERT: unwantedClientVerdict
        case _ where blamesClientCertificate: unwantedClientVerdict
        case CURLE_PEER_FAILED_VERIFICATION: certificateVerdict
        case CURLE_SSL_CACERT_BADFILE: caFileVerdict
        case CURLE_SSL_CERTPROBLEM: clientCertificateVerdict
        case CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ISSUER_ERROR:
            (.certificateBad, "The certificate of \(tlsPeer) is not valid: \(detail).")
        default: (.tlsHandshake, "The TLS handshake with \(tlsPeer) failed: \(detail).")
        }
    }

    private var hasClientCertificate: Bool { request.options.values.credential?.clientCertificate != nil }

    private var clientCertificateVerdict: Verdict {
        (.clientCertificate, "The client certificate or its key cannot be used: \(detail).")
    }

    private var unwantedClientVerdict: Verdict {
        (.clientCertificate, "\(tlsPeer) wants a client certificate, or another one: \(detail).")
    }

    private var caFileVerdict: Verdict {
        let own = request.options.values.caFile.map { [$0] }
        let names = own ?? [configuration.caFile, configuration.caPath].compactMap { $0 }
        let place = names.isEmpty ? "the system's file or path" : names.joined(separator: " or ")
        return (
            .caFile,
            "No trusted certificates can be read from \(place); check that it is there, and that it is PEM."
        )
    }

    /// Translates OpenSSL's reasons, which x509_vfy.h defines.
    private var certificateVerdict: Verdict {
        switch easy.number(isProxysHandshake ? CURLINFO_PROXY_SSL_VERIFYRESULT : CURLINFO_SSL_VERIFYRESULT) {
        case 10: (.certificateExpired, "The certificate of \(tlsPeer), or one above it, has expired.")
        case 9:
            (.certificateExpired, "The certificate of \(tlsPeer), or one above it, is not valid yet; check the clock.")
        case let reason where [2, 18, 19, 20, 21].contains(reason) && isTrustedPathUnreadable: caFileVerdict
        case 18:
            (
                .certificateSelfSigned,
                "The certificate of \(tlsPeer) is signed by itself; to trust it, name it as the CA file."
            )
        case 2, 19, 20, 21:
            (
                .certificateUnknownIssuer,
                "The certificate of \(tlsPeer) is signed by an unknown issuer; to trust that issuer, name it as the CA "
                    + "file."
            )
        // libcurl 7.88 checks the name itself, and leaves a 1 (no reason) behind.
        case 0, 1, 62: (.certificateWrongHost, "The certificate that \(tlsPeer) shows is for another host.")
        case let reason: (.certificateBad, "The certificate of \(tlsPeer) is not valid (OpenSSL's reason \(reason)).")
        }
    }
}

// MARK: - The answer

extension CurlOutcome {
    private var responseVerdict: Verdict {
        switch code {
        case _ where isHeaderFlood && !hasHead: (.headersTooLarge, "\(host) sent more header than libcurl takes.")
        case CURLE_RECV_ERROR where isBadChunk: (.notHTTP, "\(host) broke the rules of chunked encoding.")
        case CURLE_PARTIAL_FILE where !hasHead && request.scheme != .file:
            (.connectionLost, TransportError.cutHeader(host: host).message)
        case CURLE_PARTIAL_FILE:
            (.truncatedBody, "The connection to \(host) ended before the announced end of the body.")
        case CURLE_GOT_NOTHING: (.connectionLost, "\(host) closed the connection without an answer.")
        // With TLS 1.3 the server refuses the client's certificate after the handshake.
        case CURLE_RECV_ERROR where blamesClientCertificate: unwantedClientVerdict
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_SSL_SHUTDOWN_FAILED:
            (.connectionLost, "The connection to \(host) broke: \(systemDetail).")
        case CURLE_HTTP2_STREAM: (.connectionLost, "\(host) broke off the HTTP/2 stream.")
        // libcurl has this code for a stream that was reset; a broken rule ends the connection, with CURLE_RECV_ERROR.
        case CURLE_HTTP3: (.connectionLost, "\(host) broke off the HTTP/3 stream.")
        case CURLE_HTTP2: (.notHTTP, "\(host) broke the rules of HTTP/2.")
        case CURLE_WEIRD_SERVER_REPLY: (.notHTTP, "What \(host) sent is not HTTP.")
        case CURLE_FILESIZE_EXCEEDED:
            (.bodyTooLarge, TransportError.bodyTooLarge(limit: limitOnBody).message)
        // libcurl 8 has the same code for a transfer coding that it does not know, and only its message tells that from
        // a decoder that had no memory.
        case CURLE_BAD_CONTENT_ENCODING where !hasHead && !words.hasPrefix("Error while processing content"):
            (.notHTTP, TransportError.badHeader(.transferCoding, host: host).message)
        case CURLE_BAD_CONTENT_ENCODING:
            (.contentEncoding, "The packed body from \(host) does not unpack.")
        // The callbacks take all bytes, or record why not. So the decoder has found bytes after the end of its data.
        case CURLE_WRITE_ERROR:
            (.contentEncoding, "The packed body from \(host) goes on behind the end of its data.")
        default: (.other, "The transfer from \(host) failed: \(detail).")
        }
    }
}

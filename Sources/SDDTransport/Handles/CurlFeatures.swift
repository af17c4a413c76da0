internal import CCurl

/// The version and features of the libcurl that is loaded, and what the library believes of that version. Behaviour is
/// asked of the version here and nowhere else; docs/libcurl-state.md lists what each version does.
enum CurlFeatures {
    static let version: String = information?.version.map { String(cString: $0) } ?? "0"

    /// Whether libcurl includes request bodies in the request size, as it does since 8.8.
    static let countsBodiesWithRequests = isAtLeast(0x08_08_00)
    /// Whether libcurl fails the streams of an HTTP/2 connection that breaks, as it does since 8.1. Earlier versions
    /// take the end of the connection for the end of the body. No version distinguishes a stream that ended from one
    /// that the server reset with NO_ERROR.
    static let failsBrokenStreams = isAtLeast(0x08_01_00)
    /// Whether libcurl reports that it has given up an HTTP/2 connection only when it is called once more, although
    /// nothing more arrives. 7.88 and 8.0 report it at once; every later version is taken for one that does not.
    static let reportsBrokenConnectionsLate = isAtLeast(0x08_01_00)
    /// Whether a turn ends although more bytes wait at the sockets, so that a flood is a row of turns and not one turn
    /// that does not end. Seen with 8.14; known to be otherwise only with 7.88 and 8.0.
    static let turnsEndInFloods = isAtLeast(0x08_01_00)
    /// Whether a GOAWAY with an error ends the streams above it with CURLE_HTTP2_STREAM, as it does since 8.23. 7.88 has
    /// CURLE_HTTP2 for this, and versions between them ask again by themselves.
    static let endsStreamsByGoAway = isAtLeast(0x08_17_00)
    /// Whether a handle may be used for a second request. In 8.0 and earlier versions a reply that begins with white
    /// space is then joined to a line of the previous one, whose memory was freed.
    static let mayKeepHandles = isAtLeast(0x08_01_00)
    /// Whether a connection of HTTP/2 without TLS may be used by more than one request, if the server is known to speak it.
    /// Versions before 8.0 begin with HTTP/2 once more on it, which breaks it (curl's pull request 10643).
    static let sharesPlainHTTP2 = isAtLeast(0x08_00_00)
    /// Whether a request that waits for such a connection gets it as soon as it is made. From 8.13 to 8.15 it waits for the
    /// first response there, and if the first request was cancelled, until its own time limit.
    static let sharesUnansweredPlainHTTP2 = !isAtLeast(0x08_0d_00) || isAtLeast(0x08_10_00)
    /// Whether a request that libcurl keeps back until a connection is free may be forgotten there. From 8.14 on all of them
    /// are looked at whenever something happens.
    static let forgetsWaitingRequests = !isAtLeast(0x08_0e_00)
    /// Whether libcurl sends a request over a connection on which bytes have arrived that nobody asked for. They would be
    /// its response. Versions since 8.0 close such a connection.
    static let usesConnectionsWithInput = !isAtLeast(0x08_00_00)
    static let hasHTTP2 = has(CURL_VERSION_HTTP2)
    /// Whether libcurl has HTTP/3 by ngtcp2. That of OpenSSL's own QUIC, an experiment that ended with 8.19, takes bodies
    /// that were cut off for complete ones.
    static let hasHTTP3 = has(CURL_VERSION_HTTP3) && quic.hasPrefix("ngtcp2/")
    static let hasUnixSockets = has(CURL_VERSION_UNIX_SOCKETS)
    static let hasSecureProxies = has(CURL_VERSION_HTTPS_PROXY)
    static let hasNegotiate = has(CURL_VERSION_SPNEGO)
    static let hasNTLM = has(CURL_VERSION_NTLM)
    /// Whether libcurl was built with zlib, which decompresses deflate and gzip.
    static let hasDeflate = has(CURL_VERSION_LIBZ)
    static let hasBrotli = has(CURL_VERSION_BROTLI)
    static let hasZstandard = has(CURL_VERSION_ZSTD)

    /// The path of libcurl's file of trusted certificates.
    static let trustedFile: String? = {
        guard let information, information.age.rawValue >= CURLVERSION_SEVENTH.rawValue else { return nil }
        return information.cainfo.map { String(cString: $0) }
    }()

    private static let quic = information?.quic_version.map { String(cString: $0) } ?? ""

    private static func isAtLeast(_ version: UInt32) -> Bool { (information?.version_num ?? 0) >= version }

    private static func has(_ feature: Int32) -> Bool { (information?.features ?? 0) & feature != 0 }

    private static var information: curl_version_info_data? {
        // Safety: libcurl's own static record.
        curl_version_info(CURLVERSION_SEVENTH)?.pointee
    }
}

/// Result codes that the headers of libcurl 7.88 do not have.
extension CURLcode {
    /// CURLE_TOO_LARGE, since 8.6: a header line is longer than libcurl takes. Earlier versions report a lack of
    /// memory.
    static let tooLarge = CURLcode(rawValue: 100)
}

internal import CCurl

/// The version and features of the libcurl that is loaded.
enum CurlFeatures {
    static let version: String = information?.version.map { String(cString: $0) } ?? "0"

    /// Whether libcurl includes request bodies in the request size, as it does since 8.8.
    static let countsBodiesWithRequests = (information?.version_num ?? 0) >= 0x08_08_00
    /// Whether libcurl checks how streams end, as it does since 8.1. Earlier versions treat a stream as complete even
    /// if it was reset without an error, or if the server broke its connection.
    static let knowsEndsOfStreams = (information?.version_num ?? 0) >= 0x08_01_00
    static let hasHTTP2 = has(CURL_VERSION_HTTP2)
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

    private static func has(_ feature: Int32) -> Bool { (information?.features ?? 0) & feature != 0 }

    private static var information: curl_version_info_data? {
        // Safety: libcurl's own static record.
        curl_version_info(CURLVERSION_SEVENTH)?.pointee
    }
}

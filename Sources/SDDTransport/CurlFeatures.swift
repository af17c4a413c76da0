internal import CCurl

/// What the libcurl that is loaded was built with.
enum CurlFeatures {
    static let version: String = information?.version.map { String(cString: $0) } ?? "0"

    /// Since 8.8.
    static let countsBodiesWithRequests = (information?.version_num ?? 0) >= 0x08_08_00
    static let hasHTTP2 = has(CURL_VERSION_HTTP2)
    static let hasUnixSockets = has(CURL_VERSION_UNIX_SOCKETS)
    static let hasSecureProxies = has(CURL_VERSION_HTTPS_PROXY)
    static let hasNegotiate = has(CURL_VERSION_SPNEGO)
    static let hasNTLM = has(CURL_VERSION_NTLM)

    /// The path of its file of trusted certificates.
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

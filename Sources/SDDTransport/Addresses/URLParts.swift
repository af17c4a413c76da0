internal import CCurl

/// A URL parsed by libcurl, which also fetches it, so that there is only one interpretation of where a host begins.
/// Owns libcurl's handle. Used by one thread at a time.
final class URLParts {
    private let handle: OpaquePointer

    /// - Parameter guessesScheme: Accepts "host:port" too, as libcurl does for a proxy.
    /// - Returns: `nil` if the text is not a URL, or if there is no memory.
    init?(_ url: String, guessesScheme: Bool = false) {
        guard let handle = curl_url() else { return nil }
        let flags = CURLU_NON_SUPPORT_SCHEME | (guessesScheme ? CURLU_GUESS_SCHEME : 0)
        guard curl_url_set(handle, CURLUPART_URL, url, UInt32(flags)) == CURLUE_OK else {
            curl_url_cleanup(handle)
            return nil
        }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    /// Replaces the URL with the target of `reference`, relative or absolute: RFC 3986 §5.2.
    /// - Returns: `false` if the reference is malformed.
    func follow(_ reference: String) -> Bool {
        // Servers send spaces and bytes over 0x7f, and browsers accept them.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        // RFC 3986 §4.4: this refers to the same document. libcurl 7.88 would drop the end of its path.
        if reference.isEmpty || reference.utf8.first == UInt8(ascii: "#") {
            let fragment = reference.dropFirst()
            return curl_url_set(handle, CURLUPART_FRAGMENT, fragment.isEmpty ? nil : String(fragment), flags)
                == CURLUE_OK
        }
        // libcurl 8.23 would encode control characters, which 7.88 refuses.
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { return false }
        return curl_url_set(handle, CURLUPART_URL, reference, flags) == CURLUE_OK
    }

    var url: String? { self[CURLUPART_URL] }
    var scheme: String { self[CURLUPART_SCHEME]?.lowercased() ?? "" }
    var host: String { self[CURLUPART_HOST]?.lowercased() ?? "" }
    /// The host, with a name outside ASCII converted.
    var asciiHost: String? { text(CURLUPART_HOST, UInt32(CURLU_PUNYCODE)) }
    /// The port; the default port of the scheme if none is given.
    var port: String { text(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) ?? "" }
    var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

    /// An origin (RFC 6454), with the host in lower case.
    struct Origin: Equatable {
        let scheme: String
        let host: String
        let port: String
    }

    /// The part, or `nil` if there is none. Setting `nil` removes the part.
    subscript(part: CURLUPart) -> String? {
        get { text(part, 0) }
        set { _ = curl_url_set(handle, part, newValue, 0) }
    }

    private func text(_ part: CURLUPart, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

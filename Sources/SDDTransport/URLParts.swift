internal import CCurl

/// A URL taken apart by libcurl, the parser that also fetches it, so that there are no two opinions on where a
/// host begins. Owns libcurl's handle. One thread at a time.
final class URLParts {
    private let handle: OpaquePointer

    /// - Parameter guessesScheme: takes "host:port" too, as libcurl does for a proxy.
    /// - Returns: nil for what is no URL, and when there is no memory.
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

    /// Becomes what `reference` leads to, relative or absolute, RFC 3986 §5.2.
    /// - Returns: false for a malformed one.
    func follow(_ reference: String) -> Bool {
        // Servers send spaces, and bytes over 0x7f, and browsers bear it.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        // RFC 3986 §4.4: the same document, of whose path libcurl 7.88 would drop the end.
        if reference.isEmpty || reference.utf8.first == UInt8(ascii: "#") {
            let fragment = reference.dropFirst()
            return curl_url_set(handle, CURLUPART_FRAGMENT, fragment.isEmpty ? nil : String(fragment), flags)
                == CURLUE_OK
        }
        return curl_url_set(handle, CURLUPART_URL, reference, flags) == CURLUE_OK
    }

    var url: String? { self[CURLUPART_URL] }
    var scheme: String { self[CURLUPART_SCHEME]?.lowercased() ?? "" }
    var host: String { self[CURLUPART_HOST]?.lowercased() ?? "" }
    /// The standard one of the scheme if none is given.
    var port: String { text(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) ?? "" }
    var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

    /// RFC 6454, with the host in lower case.
    struct Origin: Equatable {
        let scheme: String
        let host: String
        let port: String
    }

    /// nil where there is none, and none on nil.
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

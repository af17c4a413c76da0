/// Reads a URL as far as messages and bookkeeping need it. What is fetched is libcurl's to decide.
enum URLText {
    /// The host as it stands there, without port and credentials; "" for a URL that has none.
    static func host(_ url: String) -> String {
        let authority = authority(url)
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[authority.index(after: $0)...] } ?? authority
        if host.first == UInt8(ascii: "["), let end = host.firstIndex(of: UInt8(ascii: "]")) {
            return String(decoding: host[...end], as: UTF8.self)
        }
        return String(decoding: host.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }

    static func hasCredentials(_ url: String) -> Bool { authority(url).contains(UInt8(ascii: "@")) }

    /// In lower case.
    static func scheme(_ url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }

    private static func authority(_ url: String) -> Substring.UTF8View {
        let text = url.utf8
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return text.prefix(0) }
        return text[text.index(after: colon)...]
            .drop { $0 == UInt8(ascii: "/") }
            .prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    }
}

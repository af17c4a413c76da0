/// Reads a URL as far as messages and bookkeeping need it. libcurl alone decides what is fetched.
enum URLText {
    /// Returns the host as written, without port and credentials; "" for a URL that has none.
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

    /// Returns the URL without user and password.
    static func withoutCredentials(_ url: String) -> String {
        let authority = authority(url)
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return url }
        let text = url.utf8
        return String(decoding: text[..<authority.startIndex], as: UTF8.self)
            + String(decoding: text[text.index(after: at)...], as: UTF8.self)
    }

    /// Returns the index after "scheme://"; `nil` if there is none.
    static func schemeEnd(_ url: String) -> String.Index? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")),
            url.utf8[colon...].dropFirst().prefix(2).elementsEqual("//".utf8)
        else { return nil }
        return url.utf8.index(colon, offsetBy: 3)
    }

    /// Returns the scheme in lower case.
    static func scheme(_ url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }

    /// Returns the path of a file: URL, percent-decoded: the bytes of a name, which need not be UTF-8.
    static func filePath(_ url: String) -> [UInt8] {
        let text = url.utf8
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return [] }
        // The path begins after the host, which libcurl requires to be empty or this machine.
        let rest = text[text.index(after: colon)...].dropFirst(2).drop { $0 != UInt8(ascii: "/") }
        return decoded(rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    }

    private static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func authority(_ url: String) -> Substring.UTF8View {
        let text = url.utf8
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return text.prefix(0) }
        return text[text.index(after: colon)...]
            .drop { $0 == UInt8(ascii: "/") }
            .prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    }
}

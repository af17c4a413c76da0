/// Resolves the values of Location and Content-Location with libcurl's URL parser, the one that also fetches the URLs.
/// Any thread.
package enum URLReference {
    /// Resolves a reference against a base URL: RFC 3986 §5.2.
    /// - Returns: `nil` if the reference is malformed, or leads to something other than http or https.
    package static func resolve(_ reference: String, against base: String) -> String? {
        guard namesAllowedScheme(reference), let url = URLParts(base), url.follow(reference) else { return nil }
        return url.scheme == "http" || url.scheme == "https" ? url.url : nil
    }

    /// Whether both URLs have the same scheme, host and port: RFC 9110 §4.3.1. False if one of them is not a URL.
    package static func sameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = URLParts(one), let other = URLParts(other), !one.host.isEmpty else { return false }
        return one.origin == other.origin
    }

    /// Whether the reference is relative, or has the scheme http or https. An absolute reference begins with a scheme
    /// (RFC 3986 §4.3). libcurl's parser would treat some of them that have no host as a path.
    static func namesAllowedScheme(_ reference: String) -> Bool {
        let name = reference.utf8.prefix { isSchemeCharacter($0) }
        guard let first = name.first, isLetter(first), reference.utf8.dropFirst(name.count).first == UInt8(ascii: ":")
        else { return true }
        let scheme = String(decoding: name, as: UTF8.self).lowercased()
        return scheme == "http" || scheme == "https"
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

internal import Glibc

/// One cookie, RFC 6265, and its line in the Netscape format, which is how libcurl takes and gives cookies. A value.
package struct Cookie: Sendable, Equatable {
    package var name: String
    package var value: String
    /// Without a dot before it.
    package var domain: String
    package var path = "/"
    /// Seconds since 1970; 0: it ends with its jar.
    package var expires: Int64 = 0
    package var includeSubdomains = false
    package var secure = false
    package var httpOnly = false

    package init(name: String, value: String, domain: String) {
        self.name = name
        self.value = value
        self.domain = domain
    }

    /// RFC 6265 §6.1.
    static let maxBytes = 4096

    /// Whether its parts are what a cookie's may be. TAB, CR and LF would be the ends of fields and lines.
    package var isWellFormed: Bool {
        let parts = [name, value, domain, path]
        return parts.allSatisfy { $0.utf8.allSatisfy(Self.isAllowed) }
            && !name.isEmpty && !name.utf8.contains(UInt8(ascii: "="))
            && isDomainWellFormed && path.hasPrefix("/") && expires >= 0
            && name.utf8.count + value.utf8.count <= Self.maxBytes && path.utf8.count <= Self.maxBytes
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f && byte != UInt8(ascii: ";")
    }

    /// A "#" would make the line a comment.
    private var isDomainWellFormed: Bool {
        !domain.isEmpty && domain.utf8.count <= 255 && domain.utf8.first != UInt8(ascii: ".")
            && domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "/") }
    }

    /// libcurl keeps a path as the server wrote it, and goes by "/" where that does not begin with one.
    var normalized: Cookie {
        var cookie = self
        if !path.hasPrefix("/") { cookie.path = "/" }
        return cookie
    }

    /// Where it is in a jar: a cookie replaces the one that had its place.
    struct Place: Hashable {
        let name: String
        let domain: String
        let path: Substring
        let includeSubdomains: Bool
    }

    var place: Place {
        Place(
            name: name.lowercased(), domain: domain.lowercased(), path: Self.withoutLastSlash(path),
            includeSubdomains: includeSubdomains)
    }

    func hasSamePlace(as other: Cookie) -> Bool { place == other.place }

    private static func withoutLastSlash(_ path: String) -> Substring {
        path.utf8.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
    }

    /// Whether the domain is that one or below it.
    func belongs(to parent: String) -> Bool {
        let (domain, parent) = (domain.lowercased(), parent.lowercased())
        return domain == parent || domain.hasSuffix("." + parent)
    }
}

// MARK: - The Netscape format

extension Cookie {
    static let httpOnlyMark = "#HttpOnly_"

    /// One that takes another's place in a jar, and is over: this is how one is deleted.
    var deletion: Cookie {
        var deletion = self
        deletion.value = "deleted"
        deletion.expires = 1
        return deletion
    }

    /// Seven fields with TABs between them.
    var line: String {
        let fields = [
            (httpOnly ? Self.httpOnlyMark : "") + (includeSubdomains ? "." : "") + domain,
            includeSubdomains ? "TRUE" : "FALSE", path, secure ? "TRUE" : "FALSE", String(expires), name, value,
        ]
        return fields.joined(separator: "\t")
    }

    /// Takes what libcurl takes: whoever has the line from elsewhere looks at `isWellFormed`.
    /// - Returns: nil for a comment, and for what is no cookie.
    init?(line: some StringProtocol) {
        var text = Substring(line)
        let isHTTPOnly = text.hasPrefix(Self.httpOnlyMark)
        if isHTTPOnly { text = text.dropFirst(Self.httpOnlyMark.count) }
        let fields = text.split(separator: Character("\t"), maxSplits: 6, omittingEmptySubsequences: false)
        guard fields.count >= 6, !text.hasPrefix("#"), let expires = Int64(fields[4]) else { return nil }
        self.init(
            name: String(fields[5]), value: fields.count > 6 ? String(fields[6]) : "",
            domain: String(fields[0].drop { $0 == "." }))
        path = fields[2].isEmpty ? "/" : String(fields[2])
        includeSubdomains = fields[1].uppercased() == "TRUE"
        secure = fields[3].uppercased() == "TRUE"
        self.expires = expires
        httpOnly = isHTTPOnly
    }
}

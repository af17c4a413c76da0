internal import Glibc
internal import SDDBase

/// A cookie (RFC 6265), and its line in the Netscape format, in which libcurl takes and lists cookies.
package struct Cookie: Sendable, Equatable {
    // Bytes that are not UTF-8 are the characters that `LosslessText` has for them.
    package var name: String
    package var value: String
    /// The domain, without a leading dot.
    package var domain: String
    package var path = "/"
    /// The time of expiry in seconds since 1970; 0 means that the cookie ends with its jar.
    package var expires: Int64 = 0
    package var includeSubdomains = false
    package var secure = false
    package var httpOnly = false

    package init(name: String, value: String, domain: String) {
        self.name = name
        self.value = value
        self.domain = domain
    }

    /// The maximum size of name and value together, and of the path: RFC 6265 §6.1.
    static let maxBytes = 4096

    /// Whether each part has a valid form. TAB, CR and LF would end fields and lines of the Netscape format.
    package var isWellFormed: Bool {
        let parts = [name, value, domain, path]
        return parts.allSatisfy { $0.utf8.allSatisfy(Self.isAllowed) }
            && !name.isEmpty && !name.utf8.contains(UInt8(ascii: "="))
            && isDomainWellFormed && path.hasPrefix("/") && expires >= 0
            && LosslessText.bytes(of: name + value).count <= Self.maxBytes
            && LosslessText.bytes(of: path).count <= Self.maxBytes
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f && byte != UInt8(ascii: ";")
    }

    /// Whether the domain is well-formed. A "#" would turn the line into a comment.
    private var isDomainWellFormed: Bool {
        !domain.isEmpty && domain.utf8.count <= 255 && domain.utf8.first != UInt8(ascii: ".")
            && domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "/") }
    }

    /// The cookie with a usable path. libcurl keeps a path as the server wrote it, but uses "/" if it does not begin
    /// with "/".
    var normalized: Cookie {
        var cookie = self
        if !path.hasPrefix("/") { cookie.path = "/" }
        return cookie
    }

    /// The position of a cookie in a jar: a cookie replaces the one with the same place.
    struct Place: Hashable {
        /// In lower case, as far as ASCII has one.
        let name: [UInt8]
        let domain: String
        let path: [UInt8]
        let includeSubdomains: Bool
    }

    var place: Place {
        Place(
            name: name.utf8.map(HTTPFields.lowered), domain: domain.lowercased(),
            path: Self.withoutLastSlash(path.utf8), includeSubdomains: includeSubdomains)
    }

    func hasSamePlace(as other: Cookie) -> Bool { place == other.place }

    private static func withoutLastSlash(_ path: String.UTF8View) -> [UInt8] {
        Array(path.count > 1 && path.last == UInt8(ascii: "/") ? path.dropLast() : path[...])
    }

    /// Whether the cookie's domain is `parent` or a subdomain of it.
    func belongs(to parent: String) -> Bool {
        let (domain, parent) = (domain.lowercased(), parent.lowercased())
        return domain == parent || domain.hasSuffix("." + parent)
    }
}

// MARK: - The Netscape format

extension Cookie {
    static let httpOnlyMark = "#HttpOnly_"

    /// An expired cookie with the same place in a jar; adding it deletes this one.
    var deletion: Cookie {
        var deletion = self
        deletion.value = "deleted"
        deletion.expires = 1
        return deletion
    }

    /// The cookie's line in the Netscape format: seven fields separated by TABs.
    var line: String {
        let fields = [
            (httpOnly ? Self.httpOnlyMark : "") + (includeSubdomains ? "." : "") + domain,
            includeSubdomains ? "TRUE" : "FALSE", path, secure ? "TRUE" : "FALSE", String(expires), name, value,
        ]
        return fields.joined(separator: "\t")
    }

    /// The line as libcurl and a file have it.
    var bytes: [UInt8] { LosslessText.bytes(of: line) }

    init?(bytes: [UInt8]) { self.init(line: LosslessText.decoded(bytes)) }

    /// Parses a line as leniently as libcurl. Check `isWellFormed` if the line does not come from libcurl.
    /// - Returns: `nil` for a comment, and for a line that is not a cookie.
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

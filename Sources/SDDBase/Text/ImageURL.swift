import Glibc

/// A URL whose outer form has been checked: UTF-8, within the length limit, without spaces (except in data: URLs) and
/// control characters, with a known scheme and, for HTTP, a host. The text is ASCII throughout. Ports, brackets and
/// percent signs are left to libcurl, so that there is only one parser.
package struct ImageURL: Hashable, Sendable {
    /// `other` is a scheme of one of the application's transports; `data` contains its own body, see `DataURL`.
    package enum Scheme: Sendable { case http, https, file, data, other }

    package enum Flaw: Error { case missing, empty, tooLong, notUTF8, malformed, scheme }

    /// 64 KiB, to reject requests that no server accepts. The limit does not apply to data: URLs, which are not sent
    /// anywhere.
    package static let maxLength = 65_536

    package let text: String
    package let scheme: Scheme
    /// A hash of host and port: equal for all URLs of one host and port; 0 for a URL without a host. Two hosts collide
    /// with a probability of 1 in 2^64, so use it for limits and not for trust decisions.
    package let hostKey: UInt64
    /// True if a user name, and perhaps a password, precedes the host.
    package let hasUserinfo: Bool
    /// A hash of the text: equal for equal URLs, and almost always different for different ones.
    package let hashKey: UInt64

    /// Random in each process, so that an attacker cannot choose URLs whose hashes collide.
    private static let seed = UInt64.random(in: 1...UInt64.max)

    package static func == (a: ImageURL, b: ImageURL) -> Bool { a.hashKey == b.hashKey && a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(hashKey) }

    /// - Parameters:
    ///   - allowsFiles: whether `file:` is accepted.
    ///   - others: schemes of the application's own transports, in lower case; "*" accepts any scheme.
    package init(
        checking bytes: UnsafeBufferPointer<UInt8>, allowsFiles: Bool, others: [String] = []
    ) throws(Flaw) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maxLength else { throw .tooLong }
        guard let given = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { throw .malformed }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .malformed }
        guard let scheme = Self.scheme(named: bytes[..<colon], allowsFiles: allowsFiles, others: others) else {
            throw .scheme
        }
        let rest = bytes[(colon + 1)...]
        self.scheme = scheme
        var text = bytes.allSatisfy { $0 < 0x80 } ? given : Self.percentEncoded(bytes)
        // Hashed after percent-encoding, since two spellings of one URL are equal.
        hashKey = text.withUTF8 { Self.hashKey(of: $0) }
        self.text = text
        if scheme == .other {
            guard !rest.isEmpty else { throw .malformed }
            hostKey = 0
            hasUserinfo = false
            return
        }
        guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { throw .malformed }
        let host = rest.dropFirst(2).prefix { !Self.endsAuthority($0) }
        guard scheme == .file || !host.isEmpty else { throw .malformed }
        // A host name outside ASCII would need IDNA, which has rules of its own; the application must pass punycode.
        guard host.allSatisfy({ $0 < 0x80 }) else { throw .malformed }
        hasUserinfo = host.contains(UInt8(ascii: "@"))
        hostKey = scheme == .file ? 0 : Self.hashKey(of: host, standardPort: scheme == .https ? 443 : 80)
    }

    /// User name and password as written before the host; nil if the URL has none.
    package var userinfo: String? { userinfoRange.map { String(decoding: text.utf8[$0], as: UTF8.self) } }

    /// The text without user name, password and the "@" behind them.
    package var textWithoutUserinfo: String {
        guard let range = userinfoRange else { return text }
        return String(decoding: text.utf8[..<range.lowerBound], as: UTF8.self)
            + String(decoding: text.utf8[text.utf8.index(after: range.upperBound)...], as: UTF8.self)
    }

    private var userinfoRange: Range<String.Index>? {
        guard hasUserinfo, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        // Two slashes follow the colon, as `init` has checked.
        let authority = text.utf8[colon...].dropFirst(3).prefix { !Self.endsAuthority($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { authority.startIndex..<$0 }
    }

    /// Wraps a key in place of a URL, for loads that never use the network.
    package init(key: String) { self.init(hostless: key, .other) }

    /// - Parameter text: printable ASCII.
    init(dataText text: String) { self.init(hostless: text, .data) }

    private init(hostless text: String, _ scheme: Scheme) {
        var text = text
        hashKey = text.withUTF8 { Self.hashKey(of: $0) }
        self.text = text
        self.scheme = scheme
        hostKey = 0
        hasUserinfo = false
    }

    private static func scheme(
        named name: Slice<UnsafeBufferPointer<UInt8>>, allowsFiles: Bool, others: [String]
    ) -> Scheme? {
        // Setting bit 0x20 could turn a control character into one of these letters, but `init` has rejected control
        // characters.
        func has(_ text: StaticString) -> Bool {
            name.count == text.utf8CodeUnitCount && zip(name, 0...).allSatisfy { $0 | 0x20 == text.utf8Start[$1] }
        }
        if has("http") { return .http }
        if has("https") { return .https }
        if allowsFiles && has("file") { return .file }
        if others.isEmpty { return nil }
        let scheme = String(decoding: name, as: UTF8.self).lowercased()
        return others.contains(scheme) || (others.contains("*") && isScheme(scheme)) ? .other : nil
    }

    /// Whether the text is a scheme (RFC 3986 §3.1) in lower case.
    package static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    /// Returns the FNV-1a hash of the host in lower case and the port, without any user info before an "@".
    private static func hashKey(of authority: Slice<UnsafeBufferPointer<UInt8>>, standardPort: UInt64) -> UInt64 {
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        var host = authority[start...]
        var port = standardPort
        if let colon = host.lastIndex(of: UInt8(ascii: ":")) {
            let digits = host[(colon + 1)...]
            // A colon within brackets is part of an IPv6 address.
            if digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
                host = host[..<colon]
                if !digits.isEmpty { port = digits.reduce(0) { ($0 &* 10) &+ UInt64($1 & 15) } }
            }
        }
        var hashKey = seed
        for byte in host {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            hashKey = (hashKey ^ UInt64(lower)) &* 0x100_0000_01b3
        }
        hashKey = (hashKey ^ port) &* 0x100_0000_01b3
        return hashKey == 0 ? 1 : hashKey
    }

    /// Returns the FNV-1a hash of the whole text.
    private static func hashKey(of url: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hashKey = seed
        for byte in url { hashKey = (hashKey ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hashKey
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Percent-encodes control characters and all bytes from 0x7f on (RFC 3986 §2.5).
    static func percentEncoded(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if (0x20...0x7e).contains(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

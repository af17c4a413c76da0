import Glibc

/// A URL whose outside has been checked: UTF-8, within the length limit, free of spaces (but for data:) and control
/// characters, of a scheme we know, with a host. ASCII throughout. What is inside (ports, brackets,
/// percent signs) is libcurl's to judge, so that there is one parser and not two.
package struct ImageURL: Hashable, Sendable {
    /// `other` is one of the host's own transports; `data` has its body in it, see `DataURL`.
    package enum Scheme: Sendable { case http, https, file, data, other }

    package enum Flaw: Error { case missing, empty, tooLong, notUTF8, malformed, scheme }

    /// 64 KiB, as a limit against requests that no server takes; not of data: URLs, which go to none.
    package static let maxLength = 65_536

    package let text: String
    package let scheme: Scheme
    /// The same for all URLs of one host and port; 0 for a URL without a host. Two hosts may share one, by a
    /// chance of 1 in 2^64, so it is good for limits and not for trust.
    package let hostNumber: UInt64
    /// A user, and perhaps a password, stand before the host.
    package let hasUserinfo: Bool
    /// The same for equal URLs, and mostly another for others.
    package let number: UInt64

    /// Another one in each process, so that nobody can choose URLs whose numbers meet.
    private static let seed = UInt64.random(in: 1...UInt64.max)

    package static func == (a: ImageURL, b: ImageURL) -> Bool { a.number == b.number && a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// - Parameters:
    ///   - allowsFiles: whether `file:` is a scheme we know.
    ///   - others: schemes of the host's own transports, in lower case; "*" for all there can be.
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
        // Of the text, since two ways to write one URL are equal.
        number = text.withUTF8 { Self.number(of: $0) }
        self.text = text
        if scheme == .other {
            guard !rest.isEmpty else { throw .malformed }
            hostNumber = 0
            hasUserinfo = false
            return
        }
        guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { throw .malformed }
        let host = rest.dropFirst(2).prefix { !Self.endsAuthority($0) }
        guard scheme == .file || !host.isEmpty else { throw .malformed }
        // A host outside ASCII needs IDNA, which has rules of its own: the caller writes punycode.
        guard host.allSatisfy({ $0 < 0x80 }) else { throw .malformed }
        hasUserinfo = host.contains(UInt8(ascii: "@"))
        hostNumber = scheme == .file ? 0 : Self.number(of: host, standardPort: scheme == .https ? 443 : 80)
    }

    /// User and password as they stand before the host; nil where there are none.
    package var userinfo: String? { userinfoRange.map { String(decoding: text.utf8[$0], as: UTF8.self) } }

    /// The same text without user, password and the "@" behind them.
    package var textWithoutUserinfo: String {
        guard let range = userinfoRange else { return text }
        return String(decoding: text.utf8[..<range.lowerBound], as: UTF8.self)
            + String(decoding: text.utf8[text.utf8.index(after: range.upperBound)...], as: UTF8.self)
    }

    private var userinfoRange: Range<String.Index>? {
        guard hasUserinfo, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        // Behind the colon stand two slashes: `init` has seen them.
        let authority = text.utf8[colon...].dropFirst(3).prefix { !Self.endsAuthority($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { authority.startIndex..<$0 }
    }

    /// No URL, but a key in its place, for what never goes to a network.
    package init(key: String) { self.init(hostless: key, .other) }

    /// - Parameter text: printable ASCII.
    init(dataText text: String) { self.init(hostless: text, .data) }

    private init(hostless text: String, _ scheme: Scheme) {
        var text = text
        number = text.withUTF8 { Self.number(of: $0) }
        self.text = text
        self.scheme = scheme
        hostNumber = 0
        hasUserinfo = false
    }

    private static func scheme(
        named name: Slice<UnsafeBufferPointer<UInt8>>, allowsFiles: Bool, others: [String]
    ) -> Scheme? {
        // A control character may pass for another here, but none has come so far.
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

    /// RFC 3986 §3.1, in lower case.
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

    /// FNV-1a over the host in lower case and the port, without what may stand before an "@".
    private static func number(of authority: Slice<UnsafeBufferPointer<UInt8>>, standardPort: UInt64) -> UInt64 {
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        var host = authority[start...]
        var port = standardPort
        if let colon = host.lastIndex(of: UInt8(ascii: ":")) {
            let digits = host[(colon + 1)...]
            // Within brackets it is part of an IPv6 address.
            if digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
                host = host[..<colon]
                if !digits.isEmpty { port = digits.reduce(0) { ($0 &* 10) &+ UInt64($1 & 15) } }
            }
        }
        var number = seed
        for byte in host {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            number = (number ^ UInt64(lower)) &* 0x100_0000_01b3
        }
        number = (number ^ port) &* 0x100_0000_01b3
        return number == 0 ? 1 : number
    }

    /// FNV-1a over all of it.
    private static func number(of url: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var number = seed
        for byte in url { number = (number ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return number
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// RFC 3986 §2.5: UTF-8 bytes over 0x7f stand as %XX, and so do control characters.
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

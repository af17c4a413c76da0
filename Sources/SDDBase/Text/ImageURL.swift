import Glibc

/// A URL whose outer form has been checked: UTF-8, within the length limit, without spaces (except in data: URLs) and
/// control characters, with a known scheme and, for HTTP, a host. The text is ASCII throughout. Ports, brackets and
/// percent signs are left to libcurl, so that there is only one parser.
package struct ImageURL: Hashable, Sendable {
    /// `other` is a scheme of one of the application's transports; `data` contains its own body, see `DataURL`.
    package enum Scheme: Sendable {
        case http, https, file, data, other

        package var isHTTP: Bool { self == .http || self == .https }
    }

    package enum Flaw: Error, Equatable {
        case missing, empty, tooLong, notUTF8, malformed, scheme
        /// The range in bytes is that of the host without a port.
        case hostNotASCII(Range<Int>)
    }

    /// 64 KiB, to reject requests that no server accepts. The limit does not apply to data: URLs, which are not sent
    /// anywhere.
    package static let maxLength = 65_536

    /// As it was given, but for percent-encoding and the case of an HTTP URL's scheme and host.
    package let text: String
    package let scheme: Scheme
    /// A hash of host and port: equal for all URLs of one host and port; 0 for a URL without a host. Two hosts collide
    /// with a probability of 1 in 2^64, so use it for limits and not for trust decisions.
    package let hostKey: UInt64
    /// True if a user name, and perhaps a password, precedes the host.
    package let hasUserinfo: Bool
    /// A hash of the text: equal for equal URLs, and almost always different for different ones.
    package let hashKey: UInt64

    /// All of a URL but its text.
    package struct Outline: Sendable {
        package let hostKey: UInt64
        package fileprivate(set) var hashKey: UInt64
        fileprivate let scheme: Scheme
        fileprivate let hasUserinfo: Bool
    }

    /// Random in each process, so that an attacker cannot choose URLs whose hashes collide.
    private static let seed = UInt64.random(in: 1...UInt64.max)
    /// The odd factor of the hash of a text, random for the same reason.
    private static let factor = UInt64.random(in: 1 << 62...UInt64.max) | 1

    package static func == (a: ImageURL, b: ImageURL) -> Bool { a.hashKey == b.hashKey && a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(hashKey) }

    /// - Parameters:
    ///   - allowsFiles: whether `file:` is accepted.
    ///   - others: schemes of the application's own transports, in lower case; "*" accepts any scheme.
    package init(
        checking bytes: UnsafeBufferPointer<UInt8>, allowsFiles: Bool, others: [String] = []
    ) throws(Flaw) {
        var (outline, spelling) = try Self.outline(of: bytes, allowsFiles: allowsFiles, others: others)
        switch spelling {
        case .kept: self.init(String(decoding: bytes, as: UTF8.self), outline)
        case .encoded:
            // Hashed after percent-encoding, since two spellings of one URL are equal.
            var encoded = Self.percentEncoded(bytes)
            outline.hashKey = encoded.withUTF8 { Self.hashed($0).hashKey }
            self.init(encoded, outline)
        case .lowered(let colon, let host):
            let lower = Self.normalized(bytes, colon, host)
            self = try lower.withUnsafeBufferPointer { (bytes) throws(Flaw) in
                try ImageURL(checking: bytes, allowsFiles: allowsFiles, others: others)
            }
        }
    }

    /// - Parameters:
    ///   - bytes: the text of a URL that was checked and is kept as it was given.
    ///   - outline: of that URL.
    package init(checked bytes: UnsafeBufferPointer<UInt8>, _ outline: Outline) {
        self.init(String(decoding: bytes, as: UTF8.self), outline)
    }

    private init(_ text: String, _ outline: Outline) {
        self.text = text
        (scheme, hostKey) = (outline.scheme, outline.hostKey)
        (hasUserinfo, hashKey) = (outline.hasUserinfo, outline.hashKey)
    }

    /// Checks a URL without keeping it.
    /// - Returns: nil if `init(checking:allowsFiles:others:)` keeps another text than that given.
    package static func outlineIfKept(
        _ bytes: UnsafeBufferPointer<UInt8>, allowsFiles: Bool, others: [String] = []
    ) throws(Flaw) -> Outline? {
        guard case (let outline, .kept) = try outline(of: bytes, allowsFiles: allowsFiles, others: others) else {
            return nil
        }
        return outline
    }

    /// How the text differs from the one that was given: by percent-encoding, or by a scheme and a host in lower case.
    private enum Spelling {
        case kept, encoded
        case lowered(colon: Int, host: Range<Int>?)
    }

    private static func outline(
        of bytes: UnsafeBufferPointer<UInt8>, allowsFiles: Bool, others: [String]
    ) throws(Flaw) -> (Outline, Spelling) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= maxLength else { throw .tooLong }
        let (hash, isPlain) = hashed(bytes)
        if !isPlain { try checkText(bytes) }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .malformed }
        guard let scheme = scheme(named: bytes[..<colon], allowsFiles: allowsFiles, others: others) else {
            throw .scheme
        }
        let authority = scheme == .other ? nil : Authority(in: bytes, after: colon)
        if let authority {
            guard scheme == .file || !authority.all.isEmpty else { throw .malformed }
            guard authority.isASCII else { throw scheme.isHTTP ? authority.flawOutsideASCII(in: bytes) : .malformed }
        } else {
            guard scheme == .other, colon + 1 < bytes.count else { throw .malformed }
        }
        let hostKey =
            if let authority, scheme != .file {
                hashKey(of: bytes[authority.host], standardPort: scheme == .https ? 443 : 80)
            } else {
                UInt64(0)
            }
        let outline = Outline(
            hostKey: hostKey, hashKey: hash, scheme: scheme, hasUserinfo: authority?.hasUserinfo ?? false)
        if scheme.isHTTP, authority?.hasCapitals == true || bytes[..<colon].contains(where: isCapital) {
            return (outline, .lowered(colon: colon, host: authority?.host))
        }
        return (outline, isPlain ? .kept : .encoded)
    }

    /// Returns a text with scheme and host in lower case: they are equal in any case (RFC 3986 §6.2.2.1).
    private static func normalized(_ bytes: UnsafeBufferPointer<UInt8>, _ colon: Int, _ host: Range<Int>?) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let isPart = index < colon || host?.contains(index) ?? false
            return isPart && isCapital(byte) ? byte | 0x20 : byte
        }
    }

    /// Refuses a text that is not UTF-8, or has a space or a control character.
    private static func checkText(_ bytes: UnsafeBufferPointer<UInt8>) throws(Flaw) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { throw .malformed }
    }

    /// The part of a URL between "//" and the path, by indexes into its bytes.
    private struct Authority {
        var all: Range<Int>
        /// `all` without the user info and the "@" behind it.
        var host: Range<Int>
        var isASCII = true
        /// The host has letters in upper case.
        var hasCapitals = false
        var hasUserinfo: Bool { host.lowerBound > all.lowerBound }

        /// - Parameter colon: the index of the colon behind the scheme.
        /// - Returns: nil if no "//" follows the colon.
        init?(in bytes: UnsafeBufferPointer<UInt8>, after colon: Int) {
            let slash = UInt8(ascii: "/")
            guard colon + 2 < bytes.count, bytes[colon + 1] == slash, bytes[colon + 2] == slash else { return nil }
            let start = colon + 3
            var (host, end) = (start, start)
            while end < bytes.count, !endsAuthority(bytes[end]) {
                if bytes[end] == UInt8(ascii: "@") { (host, hasCapitals) = (end + 1, false) }
                if isCapital(bytes[end]) { hasCapitals = true }
                if bytes[end] >= 0x80 { isASCII = false }
                end += 1
            }
            all = start..<end
            self.host = host..<end
        }

        /// Only a host name has an ASCII form: user name and password must be percent-encoded, a port has digits.
        func flawOutsideASCII(in bytes: UnsafeBufferPointer<UInt8>) -> Flaw {
            let name = host.lowerBound..<(bytes[host].firstIndex(of: UInt8(ascii: ":")) ?? host.upperBound)
            let isElsewhere = all.contains { bytes[$0] >= 0x80 && !name.contains($0) }
            return isElsewhere ? .malformed : .hostNotASCII(name)
        }
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
        let authority = text.utf8[colon...].dropFirst(3).prefix { !endsAuthority($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { authority.startIndex..<$0 }
    }

    /// Wraps a key in place of a URL, for loads that never use the network.
    package init(key: String) { self.init(hostless: key, .other) }

    /// - Parameter text: printable ASCII.
    init(dataText text: String) { self.init(hostless: text, .data) }

    private init(hostless text: String, _ scheme: Scheme) {
        var text = text
        let hashKey = text.withUTF8 { Self.hashed($0).hashKey }
        self.init(text, Outline(hostKey: 0, hashKey: hashKey, scheme: scheme, hasUserinfo: false))
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

    /// Returns the FNV-1a hash of the host and the port.
    /// - Parameter authority: host and port, without user info, in lower case.
    private static func hashKey(of authority: Slice<UnsafeBufferPointer<UInt8>>, standardPort: UInt64) -> UInt64 {
        var host = authority
        var port = standardPort
        var digits = authority.endIndex
        while digits > authority.startIndex, isDigit(authority[digits - 1]) { digits -= 1 }
        // A colon within brackets is part of an IPv6 address; only digits follow that of a port.
        if digits > authority.startIndex, authority[digits - 1] == UInt8(ascii: ":") {
            host = authority[..<(digits - 1)]
            let number = authority[digits...]
            if !number.isEmpty { port = number.reduce(0) { ($0 &* 10) &+ UInt64($1 & 15) } }
        }
        var hashKey = seed
        for byte in host {
            hashKey = (hashKey ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        hashKey = (hashKey ^ port) &* 0x100_0000_01b3
        return hashKey == 0 ? 1 : hashKey
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

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

private func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

private func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
}

// MARK: - One pass over a text

extension ImageURL {
    /// Returns the hash of a text, and whether all of it is printable ASCII without spaces. Looks at eight bytes at a
    /// time.
    package static func hashed(_ bytes: UnsafeBufferPointer<UInt8>) -> (hashKey: UInt64, isPlain: Bool) {
        let (raw, seed, factor) = (UnsafeRawBufferPointer(bytes), seed, factor)
        // The length is hashed too, since the last word may have fewer bytes than eight.
        var hash = seed &+ UInt64(raw.count) &* factor
        var flaws: UInt64 = 0
        var place = 0
        while place &+ 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            flaws |= Self.flaws(in: word)
            hash = mixed(hash ^ word, factor)
            place &+= 8
        }
        if place < raw.count {
            let word = lastWord(raw, from: place)
            flaws |= Self.flaws(in: word)
            hash = mixed(hash ^ word, factor)
        }
        return (hash, flaws == 0)
    }

    /// Returns the fewer than eight bytes at the end, filled up with a printable character.
    private static func lastWord(_ bytes: UnsafeRawBufferPointer, from place: Int) -> UInt64 {
        var word = everyByte &* 0x30
        for byte in bytes[place...].reversed() { word = word << 8 | UInt64(byte) }
        return word
    }

    private static let everyByte: UInt64 = 0x0101_0101_0101_0101

    /// Returns 0 if each of the eight bytes is in 0x21...0x7e, and another number otherwise.
    private static func flaws(in word: UInt64) -> UInt64 {
        // The first term has the high bit of a byte set if the byte, or one below it, is less than 0x21; the second
        // does the same for 0x7f, which is less than 1 once its bits are inverted.
        let small = (word &- everyByte &* 0x21) & ~word
        let other = word ^ (everyByte &* 0x7f)
        let delete = (other &- everyByte) & ~other
        return (small | delete | word) & (everyByte &* 0x80)
    }

    /// Folds the product of 128 bits to 64, so that all bits of the word reach all bits of the hash.
    private static func mixed(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }
}

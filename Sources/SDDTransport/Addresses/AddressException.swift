internal import SDDBase

/// An exception to a downloader's address policy: a block of addresses or a host name to which it may connect although
/// the policy refuses the address, on one port or on any port.
struct AddressException: Sendable, Equatable {
    private enum Place: Equatable {
        case block(IPAddress, bits: Int)
        /// The host name, in lower case.
        case host(String)
    }

    private let place: Place
    /// The port that the exception applies to; `nil` means any port.
    private let port: Int32?

    /// Parses "10.1.0.0/16", "fd00::/8", "10.1.2.3", "10.1.2.3:8080", "fd00::1", "[fd00::1]:8080", "host" or
    /// "host:8080".
    /// - Returns: `nil` for text in any other form.
    init?(_ text: String) {
        if let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) {
            let bits = Self.number(text.utf8[text.utf8.index(after: slash)...], most: 128)
            guard let bits, let address = IPAddress(String(text[..<slash])), address.isPrefix(bits: bits) else {
                return nil
            }
            (place, port) = (.block(address, bits: bits), nil)
            return
        }
        // An IPv6 address without brackets has no port.
        let isBare = text.utf8.lazy.filter { $0 == UInt8(ascii: ":") }.count > 1 && text.utf8.first != UInt8(ascii: "[")
        guard let (host, port) = isBare ? (text, nil) : Self.split(text) else { return nil }
        self.port = port
        if let address = IPAddress(Self.withoutBrackets(host)) {
            place = .block(address, bits: address.width)
        } else if Self.isName(host) {
            place = .host(Self.plain(host))
        } else {
            return nil
        }
    }

    /// - Parameter host: The URL's host, as normalized by `plain`.
    func allows(_ address: IPAddress, port: Int32, host: String) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        return switch place {
        case .block(let prefix, let bits): address.unmapped.hasPrefix(prefix, bits: bits)
        case .host(let name): name == host
        }
    }

    /// Returns the host in lower case, without the dot that it may end with.
    static func plain(_ host: String) -> String {
        let host = host.lowercased()
        return host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    }
}

// MARK: - Reading

extension AddressException {
    /// Splits "host:port" into host and port. Returns `nil` if the port is not valid.
    private static func split(_ text: String) -> (String, Int32?)? {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") else {
            return (text, nil)
        }
        guard let port = number(text.utf8[text.utf8.index(after: colon)...], most: 65535), port > 0 else { return nil }
        return (String(text[..<colon]), Int32(port))
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func number(_ text: Substring.UTF8View, most: Int) -> Int? {
        guard (1...5).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(Substring(text)).flatMap { $0 <= most ? $0 : nil }
    }

    /// Whether the text consists of letters, digits, hyphens, underscores and dots. Digits and dots alone are refused,
    /// because such text is a malformed address.
    private static func isName(_ host: String) -> Bool {
        let bytes = host.utf8
        let isOfDigits = bytes.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard (1...253).contains(bytes.count), bytes.first != UInt8(ascii: "."), !isOfDigits else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }
}

// MARK: - Blocks of addresses

extension IPAddress {
    var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The address itself, or the IPv4 address that an IPv4-mapped one (::ffff:0:0/96) stands for.
    var unmapped: IPAddress {
        if case .v6(0, let low) = self, low >> 32 == 0xffff { return .v4(UInt32(truncatingIfNeeded: low)) }
        return self
    }

    /// Whether the address is a prefix of `bits` bits, with only zeros after them.
    func isPrefix(bits: Int) -> Bool {
        guard bits <= width else { return false }
        return switch self {
        case .v4(let number): number & ~Self.mask(bits) == 0
        case .v6(let high, let low): high & ~Self.longMask(bits) == 0 && low & ~Self.longMask(bits - 64) == 0
        }
    }

    func hasPrefix(_ prefix: IPAddress, bits: Int) -> Bool {
        switch (self, prefix) {
        case (.v4(let number), .v4(let other)): (number ^ other) & Self.mask(bits) == 0
        case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
            (high ^ otherHigh) & Self.longMask(bits) == 0 && (low ^ otherLow) & Self.longMask(bits - 64) == 0
        default: false
        }
    }

    // `<<` does not trap in Swift: shifting by the whole width or more gives 0.
    private static func mask(_ bits: Int) -> UInt32 { bits <= 0 ? 0 : ~0 << (32 - bits) }
    private static func longMask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? ~0 : ~0 << (64 - bits) }
}

internal import Glibc

/// An IP address, and whether it belongs to the public Internet.
enum IPAddress: Equatable {
    case v4(UInt32)
    case v6(high: UInt64, low: UInt64)

    /// - Returns: `nil` for an address family other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        // Safety: the family comes first and tells which struct it is; its creator gave it the memory of that struct.
        let raw = UnsafeRawPointer(address)
        switch Int32(raw.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET: self = .v4(UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
            self.init(v6: raw + offset)
        default: return nil
        }
    }

    init?(_ text: String) {
        var bytes: (UInt64, UInt64) = (0, 0)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self = .v4(withUnsafeBytes(of: bytes) { UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)) })
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self = withUnsafeBytes(of: bytes) { $0.baseAddress.map { IPAddress(v6: $0) } } ?? .v4(0)
        } else {
            return nil
        }
    }

    private init(v6 bytes: UnsafeRawPointer) {
        self = .v6(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// The address as text, such as "192.0.2.1" or "2001:db8::1".
    var text: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let number):
            var bytes = number.bigEndian
            inet_ntop(AF_INET, &bytes, &buffer, socklen_t(buffer.count))
        case .v6(let high, let low):
            var bytes = (high.bigEndian, low.bigEndian)
            inet_ntop(AF_INET6, &bytes, &buffer, socklen_t(buffer.count))
        }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

// MARK: - The public Internet

extension IPAddress {
    var isPublic: Bool {
        switch self {
        case .v4(let number): !Self.special.contains { $0.contains(number) }
        case .v6(let high, let low): Self.isPublic(high, low)
        }
    }

    /// A block of IPv4 addresses with the same leading bits.
    private struct Block {
        let prefix: UInt32
        let bits: UInt32
        /// The purpose of the block, as worded in a message.
        let use: StaticString

        init(_ a: UInt32, _ b: UInt32, _ c: UInt32, bits: UInt32, _ use: StaticString) {
            prefix = a << 24 | b << 16 | c << 8
            self.bits = bits
            self.use = use
        }

        func contains(_ number: UInt32) -> Bool { (number ^ prefix) >> (32 - bits) == 0 }
    }

    /// IANA's registry of special-purpose IPv4 addresses (RFC 6890), and multicast.
    private static let special = [
        Block(0, 0, 0, bits: 8, "this network"),
        Block(10, 0, 0, bits: 8, "a private network"),
        Block(100, 64, 0, bits: 10, "a carrier's customers"),
        Block(127, 0, 0, bits: 8, "this machine itself"),
        Block(169, 254, 0, bits: 16, "one link, or the metadata of a cloud"),
        Block(172, 16, 0, bits: 12, "a private network"),
        Block(192, 0, 0, bits: 24, "protocols"),
        Block(192, 0, 2, bits: 24, "documentation"),
        Block(192, 88, 99, bits: 24, "6to4 relays"),
        Block(192, 168, 0, bits: 16, "a private network"),
        Block(198, 18, 0, bits: 15, "benchmarks"),
        Block(198, 51, 100, bits: 24, "documentation"),
        Block(203, 0, 113, bits: 24, "documentation"),
        Block(224, 0, 0, bits: 4, "multicast"),
        Block(240, 0, 0, bits: 4, "no use yet, or broadcast"),
    ]

    /// The purpose of an address that is not public, as worded in a message.
    var use: StaticString {
        switch self {
        case .v4(let number): return Self.special.first { $0.contains(number) }?.use ?? "the Internet"
        case .v6(let high, let low):
            if high == 0, low == 1 { return "this machine itself" }
            // ::ffff:0:0/96 holds IPv4-mapped addresses.
            if high == 0, low >> 32 == 0xffff { return IPAddress.v4(UInt32(truncatingIfNeeded: low)).use }
            if high >> 57 == 0xfc >> 1 { return "a private network" }
            if high >> 54 == 0xfe80 >> 6 { return "one link" }
            if high >> 56 == 0xff { return "multicast" }
            if Self.isOfSiteTunnel(low) { return "a tunnel within a site" }
            return "something else than the Internet"
        }
    }

    /// Whether the interface identifier is that of ISATAP, 0:5efe or 200:5efe and an IPv4 address: RFC 5214 §6.1. Routers
    /// of a site send such packets to that IPv4 address within the site.
    private static func isOfSiteTunnel(_ low: UInt64) -> Bool { low >> 32 & ~0x0200_0000 == 0x5efe }

    private static func isPublic(_ high: UInt64, _ low: UInt64) -> Bool {
        let v4 = IPAddress.v4(UInt32(truncatingIfNeeded: low))
        switch high {
        // ::/96, except for :: and ::1, and ::ffff:0:0/96 hold IPv4 addresses.
        case 0: return (low >> 32 == 0 && low > 1 || low >> 32 == 0xffff) && v4.isPublic
        // 64:ff9b::/96 (NAT64) holds IPv4 addresses behind a translator.
        case 0x0064_ff9b_0000_0000: return low >> 32 == 0 && v4.isPublic
        default: break
        }
        // IANA assigns only 2000::/3 to the Internet, which excludes fc00::/7, fe80::/10, fec0::/10, ff00::/8, 100::/64
        // and 64:ff9b:1::/48.
        guard high >> 61 == 0b001, !isOfSiteTunnel(low) else { return false }
        switch high >> 48 {
        // 2001::/23 is for protocols, such as Teredo; 2001:db8::/32 is for documentation.
        case 0x2001: return high >> 41 != 0x2001_0000 >> 9 && high >> 32 != 0x2001_0db8
        // 6to4: an IPv4 address follows the prefix.
        case 0x2002: return IPAddress.v4(UInt32(truncatingIfNeeded: high >> 16)).isPublic
        // 3fff::/20 is for documentation.
        case 0x3fff: return high >> 44 != 0x3fff0
        default: return true
        }
    }
}

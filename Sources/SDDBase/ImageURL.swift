import Glibc

/// A URL whose outside has been checked: UTF-8, within the length limit, free of spaces and control
/// characters, of a scheme we know, with a host. ASCII throughout. What is inside (ports, brackets,
/// percent signs) is libcurl's to judge, so that there is one parser and not two.
package struct ImageURL: Hashable, Sendable {
    package enum Scheme: Sendable { case http, https, file }

    package enum Flaw: Error { case missing, empty, tooLong, notUTF8, malformed, scheme }

    /// 64 KiB, as a limit against requests that no server takes.
    package static let maxLength = 65_536

    package let text: String
    package let scheme: Scheme

    /// - Parameter allowsFiles: whether `file:` is a scheme we know.
    package init(checking bytes: UnsafeBufferPointer<UInt8>, allowsFiles: Bool) throws(Flaw) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maxLength else { throw .tooLong }
        guard let given = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { throw .malformed }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .malformed }
        guard let scheme = Self.scheme(named: bytes[..<colon], allowsFiles: allowsFiles) else { throw .scheme }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { throw .malformed }
        let host = rest.dropFirst(2).prefix { !Self.endsAuthority($0) }
        guard scheme == .file || !host.isEmpty else { throw .malformed }
        // A host outside ASCII needs IDNA, which has rules of its own: the caller writes punycode.
        guard host.allSatisfy({ $0 < 0x80 }) else { throw .malformed }
        self.scheme = scheme
        self.text = bytes.allSatisfy { $0 < 0x80 } ? given : Self.percentEncoded(bytes)
    }

    private static func scheme(named name: Slice<UnsafeBufferPointer<UInt8>>, allowsFiles: Bool) -> Scheme? {
        switch String(decoding: name, as: UTF8.self).lowercased() {
        case "http": .http
        case "https": .https
        case "file": allowsFiles ? .file : nil
        default: nil
        }
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// RFC 3986 §2.5: UTF-8 bytes over 0x7f stand as %XX.
    private static func percentEncoded(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 3)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

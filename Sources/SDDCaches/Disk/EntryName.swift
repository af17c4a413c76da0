internal import SDDBase

/// The name of an entry's file: the MD5 of its key, and the extension that the key suggests, so that other programs
/// know what to open it with. A function of the key alone, for ever: a change would empty every cache.
package struct EntryName: Equatable, Sendable {
    /// 32 digits: what an entry without an extension is called.
    package let digits: String
    package let full: String

    /// A file's name may have 255 bytes: 32 digits, the dot, and the rest.
    private static let longestExtension = 222

    package init(key: String) {
        digits = MD5.hex(of: key)
        let suffix = Self.fileExtension(of: key)
        full = suffix.isEmpty ? digits : digits + "." + suffix
    }

    /// Where an entry may be, too; nil if it has no extension.
    package var other: String? { full.utf8.count > 32 ? digits : nil }

    private static func fileExtension(of key: String) -> String {
        var key = key
        let bytes = key.withUTF8 { key -> [UInt8] in
            let path = Self.path(key)
            let last = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex)...]
            guard let dot = last.lastIndex(of: UInt8(ascii: ".")) else { return [] }
            return last[(dot + 1)...].filter { $0 != 0 && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        }
        return bytes.count > longestExtension ? "" : String(decoding: bytes, as: UTF8.self)
    }

    /// Of a URL, without scheme, host, query and fragment; all of a key that is none. Up to a control character: what
    /// stands behind one tells an entry from others of its URL.
    private static func path(_ key: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        guard let start = authority(of: key) else { return key.prefix { !isControl($0) } }
        let rest = key[start...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") && !isControl($0) }
        return rest[(rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex)...]
    }

    /// RFC 3986 §3.1: behind a scheme and "://".
    private static func authority(of key: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let colon = key.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
        let isScheme = key[..<colon].allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            }
        }
        let slashes = key[(colon + 1)...].prefix(2)
        return isScheme && slashes.elementsEqual([UInt8(ascii: "/"), UInt8(ascii: "/")]) ? colon + 3 : nil
    }

    /// But for NUL, which is left out (SDWebImage does so).
    private static func isControl(_ byte: UInt8) -> Bool { (1..<0x20).contains(byte) || byte == 0x7F }

    /// Whether a file in the directory may be an entry, by its name alone.
    package static func isEntry(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.prefix(32).count == 32, bytes.prefix(32).allSatisfy(isDigit) else { return false }
        let rest = bytes.dropFirst(32)
        return rest.isEmpty || rest.count > 1 && rest.first == UInt8(ascii: ".")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

internal import SDDBase

/// The name of an entry's file: the MD5 of its key, and the extension that the key suggests, so that other programs can
/// recognise the format. It depends on the key alone and must never change, since a change would empty every cache.
package struct EntryName: Equatable, Sendable {
    package let full: String

    private static let digitCount = 32
    /// The longest extension: a file name has at most 255 bytes, for 32 digits, a dot and the extension.
    private static let longestExtension = 222

    /// Makes the name with a single allocation, since every lookup on disk needs one.
    package init(key: String) {
        var key = key
        full = key.withUTF8 { key in
            let suffix = ExtensionBytes(Self.fileExtension(of: key), isOfURL: Self.authority(of: key) != nil)
            let length = suffix.reduce(0) { count, _ in count + 1 }
            let isUsed = (1...Self.longestExtension).contains(length)
            let count = isUsed ? Self.digitCount + 1 + length : Self.digitCount
            return String(unsafeUninitializedCapacity: count) { place in
                MD5.writeHex(of: UnsafeRawBufferPointer(key), to: place)
                guard isUsed else { return count }
                place[Self.digitCount] = UInt8(ascii: ".")
                var end = Self.digitCount + 1
                for byte in suffix {
                    place[end] = byte
                    end += 1
                }
                return end
            }
        }
    }

    /// The name of an entry without an extension.
    package var digits: String { String(decoding: full.utf8.prefix(Self.digitCount), as: UTF8.self) }

    /// A second name under which the entry may be stored; nil if it has no extension.
    package var other: String? { full.utf8.count > Self.digitCount ? digits : nil }

    /// Returns the extension as it is in the key; empty if there is none.
    private static func fileExtension(of key: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        let path = path(key)
        let last = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex)...]
        guard let dot = last.lastIndex(of: UInt8(ascii: ".")) else { return last.suffix(0) }
        return last[(dot + 1)...]
    }

    /// Returns the path of a URL, without scheme, host, query and fragment, or the whole key if it is not a URL. Ends
    /// before the first control character: the bytes from there on distinguish the entry from others of its URL.
    private static func path(_ key: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        guard let start = authority(of: key) else { return key.prefix { !isControl($0) } }
        let rest = key[start...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") && !isControl($0) }
        return rest[(rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex)...]
    }

    /// Returns the index behind a scheme (RFC 3986 §3.1) and "://"; nil if the key has none.
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

    /// Whether the byte is a control character other than NUL, which is removed (as in SDWebImage).
    private static func isControl(_ byte: UInt8) -> Bool { (1..<0x20).contains(byte) || byte == 0x7F }

    /// Whether a file in the directory may be an entry, by its name alone.
    package static func isEntry(_ name: String) -> Bool {
        guard MD5.begins(name) else { return false }
        let rest = name.utf8.dropFirst(digitCount)
        return rest.isEmpty || rest.count > 1 && rest.first == UInt8(ascii: ".")
    }
}

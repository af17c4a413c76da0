package import SDDBase

/// A text in a picture's metadata. All its parts are UTF-8 and end with a NUL. Immutable; callable from any thread.
package struct MetadataText: Sendable {
    package let keyword: Bytes
    package let text: Bytes
    package let language: Bytes
    package let translatedKeyword: Bytes

    /// Bytes of all parts.
    var byteCount: Int { keyword.count + text.count + language.count + translatedKeyword.count }

    /// Converts the parts from Latin-1, except for those that `isUTF8` applies to and that are valid UTF-8.
    init(
        keyword: UnsafeRawBufferPointer, text: UnsafeRawBufferPointer, isUTF8: Bool = false,
        language: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        translatedKeyword: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) throws(CoderError) {
        self.keyword = try Self.line(keyword, isUTF8: false)
        self.text = try Self.line(text, isUTF8: isUTF8)
        self.language = try Self.line(language, isUTF8: isUTF8)
        self.translatedKeyword = try Self.line(translatedKeyword, isUTF8: isUTF8)
    }

    private static func line(_ bytes: UnsafeRawBufferPointer, isUTF8: Bool) throws(CoderError) -> Bytes {
        let isReady = isUTF8 ? Self.isUTF8(bytes) : bytes.allSatisfy { $0 < 0x80 }
        // Each Latin-1 byte beyond ASCII becomes two bytes.
        let count = isReady ? bytes.count : bytes.reduce(0) { $0 + ($1 < 0x80 ? 1 : 2) }
        let made = ByteBuilder()
        guard count < Int.max, let start = made.grow(by: count + 1) else { throw CoderError(.noMemory) }
        var place = start
        for byte in bytes {
            if isReady || byte < 0x80 {
                place.storeBytes(of: byte, as: UInt8.self)
                place += 1
            } else {
                place.storeBytes(of: 0xc0 | byte >> 6, as: UInt8.self)
                place.storeBytes(of: 0x80 | byte & 0x3f, toByteOffset: 1, as: UInt8.self)
                place += 2
            }
        }
        place.storeBytes(of: 0, as: UInt8.self)
        return made.take()
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}

internal import Glibc
package import SDDBase

/// The content of a data: URL (RFC 2397), parsed like the "data: URL processor" of the Fetch Standard. A value type;
/// safe on any thread.
package struct DataURL {
    package enum Flaw: Error {
        /// The URL has no comma, or its base64 is invalid.
        case malformed
        case tooLarge
        case noMemory
    }

    /// The media type as given if it is valid; otherwise the default for a URL that names none.
    package let mediaType: String
    package let body: Bytes

    private typealias Text = Slice<UnsafeBufferPointer<UInt8>>

    /// - Parameters:
    ///   - url: a URL with the scheme data.
    ///   - limit: the largest body, in bytes.
    package init(_ url: ImageURL, limit: Int64) throws(Flaw) {
        var text = url.text
        let parts = text.withUTF8 { bytes in
            Result { () throws(Flaw) in try Self.read(bytes, limit: limit) }
        }
        (mediaType, body) = try parts.get()
    }

    private static func read(_ url: UnsafeBufferPointer<UInt8>, limit: Int64) throws(Flaw) -> (String, Bytes) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed }
        // The fragment is not part of the data.
        let rest = url[(colon + 1)...].prefix { $0 != UInt8(ascii: "#") }
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { throw .malformed }
        let (type, isBase64) = withoutBase64(trimmedEnd(rest[..<comma].drop { $0 == space }))
        let body = try body(rest[(comma + 1)...], isBase64: isBase64)
        guard Int64(body.count) <= limit else { throw .tooLarge }
        return (mediaType(type), body)
    }

    private static func body(_ text: Text, isBase64: Bool) throws(Flaw) -> Bytes {
        guard let memory = malloc(max(text.count, 1)) else { throw .noMemory }
        let place = UnsafeMutableBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self), count: text.count)
        var count = percentDecode(text, to: place)
        if isBase64 {
            guard let decoded = ForgivingBase64.decode(.init(rebasing: place[..<count])) else {
                free(memory)
                throw .malformed
            }
            count = decoded
        }
        // The unused rest may be large: two thirds if the text is all "%00".
        let fitted = realloc(memory, max(count, 1)) ?? memory
        return Bytes(adopting: fitted, count: count)
    }

    /// Decodes percent escapes (RFC 3986 §2.1). A percent sign without two hexadecimal digits behind it stays as it is.
    /// - Parameter place: a buffer as long as the text.
    /// - Returns: the number of bytes written.
    private static func percentDecode(_ text: Text, to place: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let text = UnsafeBufferPointer(rebasing: text)
        var (next, count) = (0, 0)
        while next < text.count {
            var byte = text[next]
            next += 1
            if byte == UInt8(ascii: "%"), text.count - next >= 2, let high = hexDigit(text[next]),
                let low = hexDigit(text[next + 1])
            {
                byte = high << 4 | low
                next += 2
            }
            place[count] = byte
            count += 1
        }
        return count
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

// MARK: - The media type

extension DataURL {
    private static var standardType: String { "text/plain;charset=US-ASCII" }
    private static var space: UInt8 { 0x20 }

    /// Splits "; base64" off the end. It may be in any case, with or without spaces behind the semicolon.
    private static func withoutBase64(_ type: Text) -> (rest: Text, isBase64: Bool) {
        let name = "base64".utf8
        guard type.count > name.count, zip(type.suffix(name.count), name).allSatisfy({ $0 | 0x20 == $1 }) else {
            return (type, false)
        }
        let before = trimmedEnd(type.dropLast(name.count))
        guard before.last == UInt8(ascii: ";") else { return (type, false) }
        return (before.dropLast(), true)
    }

    private static func mediaType(_ given: Text) -> String {
        let type = trimmedEnd(given)
        let text = String(decoding: type, as: UTF8.self)
        if type.first == UInt8(ascii: ";") { return "text/plain" + text }
        return isMediaType(type) ? text : standardType
    }

    /// Whether the type begins with two tokens (RFC 9110 §8.3.1). Parameters need no check, since the whole text is
    /// printable.
    private static func isMediaType(_ type: Text) -> Bool {
        let essence = trimmedEnd(type.prefix { $0 != UInt8(ascii: ";") })
        guard let slash = essence.firstIndex(of: UInt8(ascii: "/")) else { return false }
        return HTTPFields.isToken(UnsafeBufferPointer(rebasing: essence[..<slash]))
            && HTTPFields.isToken(UnsafeBufferPointer(rebasing: essence[(slash + 1)...]))
    }

    private static func trimmedEnd(_ text: Text) -> Text {
        var text = text
        while text.last == space { text = text.dropLast() }
        return text
    }
}

internal import Glibc

/// What a data: URL has in it: RFC 2397, read as the "data: URL processor" of the Fetch Standard reads it. A value; any
/// thread.
package struct DataURL {
    package enum Flaw: Error {
        /// It has no comma, or what should be base64 is not.
        case malformed
        case tooLarge
        case noMemory
    }

    /// As given, where it is one; else as if none had been given.
    package let mediaType: String
    package let body: Bytes

    private typealias Text = Slice<UnsafeBufferPointer<UInt8>>

    /// - Parameters:
    ///   - url: of the scheme data.
    ///   - limit: of the body, in bytes.
    package init(_ url: ImageURL, limit: Int64) throws(Flaw) {
        var text = url.text
        let parts = text.withUTF8 { bytes in
            Result { () throws(Flaw) in try Self.read(bytes, limit: limit) }
        }
        (mediaType, body) = try parts.get()
    }

    private static func read(_ url: UnsafeBufferPointer<UInt8>, limit: Int64) throws(Flaw) -> (String, Bytes) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed }
        // A fragment is none of what is fetched.
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
        // The rest may be much: of %00, two thirds.
        let fitted = realloc(memory, max(count, 1)) ?? memory
        return Bytes(adopting: fitted, count: count)
    }

    /// RFC 3986 §2.1; a percent sign without two digits behind it stands for itself.
    /// - Parameter place: as long as the text.
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

    /// Without "; base64" at the end, in any case, with spaces behind the semicolon or not.
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

    /// RFC 9110 §8.3.1: two tokens. What follows a semicolon is printable, as all of the text is.
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

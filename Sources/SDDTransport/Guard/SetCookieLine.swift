internal import SDDBase

/// A Set-Cookie field in which libcurl differs from RFC 6265 §5.2: an attribute is recognized by its name alone, but
/// libcurl ignores Secure and HttpOnly if they have a value. No version up to 8.21.0 ends this reason.
struct SetCookieLine {
    /// The name of the cookie, as libcurl lists it.
    let name: String
    let isSecure: Bool
    let isHTTPOnly: Bool

    /// - Parameter value: The value of the field.
    /// - Returns: `nil` if libcurl gets the same result.
    init?(_ value: UnsafeRawBufferPointer) {
        let parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = parts.first, let sign = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        var (isSecure, isHTTPOnly) = (false, false)
        for part in parts.dropFirst() {
            guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
            switch Self.trimmed(part[..<sign]).lowercased() {
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            default: break
            }
        }
        guard isSecure || isHTTPOnly else { return nil }
        name = Self.trimmed(first[..<sign])
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return String(decoding: text.drop(while: isSpace).reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    }
}

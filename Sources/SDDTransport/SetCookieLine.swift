internal import SDDBase

/// One Set-Cookie field, as far as libcurl 7.88 and RFC 6265 §5.2 differ on it: an attribute is known by its name alone,
/// but libcurl passes over Secure and HttpOnly if they have a value. Pure.
struct SetCookieLine {
    /// As libcurl has it in its list.
    let name: String
    let isSecure: Bool
    let isHTTPOnly: Bool

    /// - Parameter value: of the field.
    /// - Returns: nil where libcurl comes to the same.
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

internal import SDDBase

/// A Set-Cookie field in which libcurl differs from RFC 6265: an attribute is recognized by its name alone, but libcurl
/// ignores Secure and HttpOnly if they have a value; and the year 70 of a date is 1970, but for libcurl 2070. No version
/// up to 8.21.0 ends this reason.
struct SetCookieLine {
    /// The name of the cookie, as libcurl lists it.
    let name: String
    /// The attributes Domain, in lower case and without a leading dot, and Path; `nil` if they are missing or empty.
    let domain: String?
    let path: String?
    let isSecure: Bool
    let isHTTPOnly: Bool
    /// Whether the cookie has expired in 1970.
    let isOver: Bool

    /// - Parameter value: The value of the field.
    /// - Returns: `nil` if libcurl gets the same result.
    init?(_ value: UnsafeRawBufferPointer) {
        let parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = parts.first, let sign = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        // Of attributes of the same name the last one counts: RFC 6265 §5.2.
        var (isSecure, isHTTPOnly, endsIn1970, hasMaxAge) = (false, false, false, false)
        var domain = ""
        var path = ""
        for part in parts.dropFirst() {
            guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = part[part.index(after: sign)...]
            switch Self.trimmed(part[..<sign]).lowercased() {
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            case "domain": domain = String(Self.trimmed(value).lowercased().drop { $0 == "." })
            case "path": path = Self.trimmed(value)
            case "max-age": hasMaxAge = true
            case "expires": endsIn1970 = Self.isOf1970(value)
            default: break
            }
        }
        isOver = endsIn1970 && !hasMaxAge
        guard isSecure || isHTTPOnly || isOver else { return nil }
        name = Self.trimmed(first[..<sign])
        self.domain = domain.isEmpty ? nil : domain
        self.path = path.isEmpty ? nil : path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return LosslessText.decoded(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    /// Whether a date has the year "70": its second number, after the day (RFC 6265 §5.1.1).
    private static func isOf1970(_ date: Slice<UnsafeRawBufferPointer>) -> Bool {
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let words = date.split { byte in
            !(isDigit(byte) || byte == UInt8(ascii: ":")
                || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")))
        }
        let numbers = words.filter { $0.allSatisfy(isDigit) }
        return numbers.count > 1 && numbers[1].elementsEqual("70".utf8)
    }
}

/// Parses a SHA-256 digest as in Subresource Integrity (W3C Recommendation of 2016, section 3.5), or one in hexadecimal
/// digits.
func sha256(_ text: String) -> [UInt8]? {
    let bytes = Array(text.utf8)
    let prefix = Array("sha256-".utf8)
    guard bytes.starts(with: prefix) else { return nil }
    let digits = bytes.dropFirst(prefix.count)
    let digest = digits.count == 64 ? hexadecimal(digits) : base64(digits)
    return digest?.count == 32 ? digest : nil
}

private func hexadecimal(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits {
        let value: UInt8
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
        default: return nil
        }
        guard let first = high else {
            high = value
            continue
        }
        bytes.append(first << 4 | value)
        high = nil
    }
    return high == nil ? bytes : nil
}

/// Decodes base64, RFC 4648 section 4.
private func base64(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard digits.count % 4 == 0, padding <= 2 else { return nil }
    var bytes: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for digit in digits.dropLast(padding) {
        let value: UInt8
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        default: return nil
        }
        (bits, count) = (bits << 6 | UInt32(value), count + 6)
        guard count >= 8 else { continue }
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
    }
    return bits == 0 ? bytes : nil
}

internal import SDDEngine

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
    let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard values.count == digits.count else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}

/// Decodes the base64 of 32 bytes, RFC 4648 section 4: 43 digits, of which the last has two bits that are 0, and
/// padding.
private func base64(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    guard digits.count == 44, digits.last == UInt8(ascii: "="), let last = digits.dropLast().last,
        "AEIMQUYcgkosw048".utf8.contains(last)
    else { return nil }
    var bytes = Array(digits)
    return bytes.withUnsafeMutableBufferPointer { ForgivingBase64.decode($0) }.map { Array(bytes[..<$0]) }
}

/// Base64 as web pages use it: "forgiving-base64 decode" of the Infra Standard §8, which is RFC 4648 §4 with white
/// space ignored and padding optional. A pure function; callable from any thread.
package enum ForgivingBase64 {
    /// Decodes in place.
    /// - Returns: the number of decoded bytes, from the start of `place`; nil if the text is not valid base64.
    package static func decode(_ place: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        var (group, digits, padding, written): (UInt32, Int, Int, Int) = (0, 0, 0, 0)
        for index in place.indices {
            let byte = place[index]
            if isSpace(byte) { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: byte) else { return nil }
            group = group << 6 | value
            digits += 1
            guard digits == 4 else { continue }
            // The three bytes overwrite characters that have been read already.
            written = write(group, bytes: 3, to: place, at: written)
            (group, digits) = (0, 0)
        }
        guard digits != 1, padding == 0 || (padding <= 2 && digits + padding == 4) else { return nil }
        // Leftover bits are dropped.
        if digits == 2 { written = write(group << 12, bytes: 1, to: place, at: written) }
        if digits == 3 { written = write(group << 6, bytes: 2, to: place, at: written) }
        return written
    }

    private static func write(
        _ group: UInt32, bytes: Int, to place: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) -> Int {
        for index in 0..<bytes {
            place[start + index] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))
        }
        return start + bytes
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x0a, 0x0c, 0x0d, 0x20: true
        default: false
        }
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

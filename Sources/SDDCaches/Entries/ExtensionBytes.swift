/// The extension of a key as used in a file name, byte by byte: without NUL, ":" and "/". In a URL, escaped letters and
/// digits are decoded (RFC 3986 §6.2.2.2), and the escapes of those three are left out, too. Any other escape stays as
/// it is, so that the name contains nothing that is special to a file system. A value type.
struct ExtensionBytes: Sequence, IteratorProtocol {
    private var rest: Slice<UnsafeBufferPointer<UInt8>>
    private let isOfURL: Bool

    /// - Parameter bytes: the extension as it is in the key, valid as long as this is used.
    init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, isOfURL: Bool) {
        rest = bytes
        self.isOfURL = isOfURL
    }

    mutating func next() -> UInt8? {
        while let byte = rest.popFirst() {
            if isOfURL, byte == UInt8(ascii: "%"), let meant = escaped() {
                rest = rest.dropFirst(2)
                if Self.isLeftOut(meant) { continue }
                return meant
            }
            if !Self.isLeftOut(byte) { return byte }
        }
        return nil
    }

    private static func isLeftOut(_ byte: UInt8) -> Bool {
        byte == 0 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }

    /// Returns the letter, the digit or the character to leave out whose hexadecimal digits come next; nil for anything
    /// else.
    private func escaped() -> UInt8? {
        guard rest.count >= 2, let high = Self.digit(rest[rest.startIndex]),
            let low = Self.digit(rest[rest.startIndex + 1])
        else { return nil }
        let meant = high << 4 | low
        switch meant {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return meant
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return meant
        default: return Self.isLeftOut(meant) ? meant : nil
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

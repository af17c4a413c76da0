/// The extension of a key as it stands in a file's name, byte by byte. In a URL letters and digits may be escaped (RFC 3986,
/// 6.2.2.2), and mean the same then; any other escape stays as it is, so that nothing is decoded into a name that could
/// mean something to a file system. A value.
struct ExtensionBytes: Sequence, IteratorProtocol {
    private var rest: Slice<UnsafeBufferPointer<UInt8>>
    private let isOfURL: Bool

    /// - Parameter bytes: as they stand in the key, valid as long as this is used.
    init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, isOfURL: Bool) {
        rest = bytes
        self.isOfURL = isOfURL
    }

    mutating func next() -> UInt8? {
        while let byte = rest.popFirst() {
            if isOfURL, byte == UInt8(ascii: "%"), let meant = escaped() {
                rest = rest.dropFirst(2)
                return meant
            }
            if byte != 0, byte != UInt8(ascii: ":"), byte != UInt8(ascii: "/") { return byte }
        }
        return nil
    }

    /// The letter or digit whose number comes next.
    private func escaped() -> UInt8? {
        guard rest.count >= 2, let high = Self.digit(rest[rest.startIndex]),
            let low = Self.digit(rest[rest.startIndex + 1])
        else { return nil }
        let meant = high << 4 | low
        switch meant {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return meant
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return meant
        default: return nil
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

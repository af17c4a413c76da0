/// Text that keeps every byte, also of what is not UTF-8, such as some cookies. Pure.
package enum LosslessText {
    /// The characters that stand for the bytes from 0x80 on, where these are not UTF-8: private-use characters.
    private static let marks: ClosedRange<UInt32> = 0x10ff80...0x10ffff
    private static let markBase: UInt32 = 0x10ff00
    /// The first byte of each of these characters in UTF-8.
    private static let firstOfMark: UInt8 = 0xf4

    /// Never returns the same text for different bytes: where the bytes have such a character, it is taken as bytes, too.
    package static func decoded(_ bytes: some Collection<UInt8>) -> String {
        if !bytes.contains(firstOfMark), let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        var (parser, iterator) = (UTF8.ForwardParser(), bytes.makeIterator())
        var rest = bytes[...]
        while !rest.isEmpty {
            let count: Int
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                count = encoded.count
                let scalar = UTF8.decode(encoded)
                if marks.contains(scalar.value) {
                    text += rest.prefix(count).compactMap(mark)
                } else {
                    text.append(scalar)
                }
            case .error(let length):
                count = length
                text += rest.prefix(count).compactMap(mark)
            case .emptyInput: count = rest.count
            }
            rest = rest.dropFirst(count)
        }
        return String(text)
    }

    package static func bytes(of text: String) -> [UInt8] {
        guard text.utf8.contains(firstOfMark) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            marks.contains(scalar.value) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    private static func mark(_ byte: UInt8) -> Unicode.Scalar? { Unicode.Scalar(markBase + UInt32(byte)) }
}

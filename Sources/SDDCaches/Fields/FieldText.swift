internal import SDDBase

/// Helpers for the text of header fields, treated as ASCII: only ASCII letters have a case. Pure.
enum FieldText {
    static func lowered(_ text: some Sequence<UInt8>) -> String {
        String(decoding: text.map { isUpper($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    static func lowered(_ text: UnsafePointer<CChar>) -> String { lowered(String(cString: text).utf8) }

    /// Returns the members of a comma-separated list (RFC 9110 §5.6.1), without surrounding white space and without
    /// empty members.
    static func members(of values: [String]) -> [Substring.UTF8View] {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty } }
    }

    static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let start = text.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start.prefix(0) }
        return start[...last]
    }

    /// Whether the byte is OWS (RFC 9110 §5.6.3).
    static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    static func isToken(_ text: Substring.UTF8View) -> Bool { !text.isEmpty && text.allSatisfy(isOfToken) }

    static func isOfToken(_ byte: UInt8) -> Bool {
        withUnsafePointer(to: byte) { HTTPFields.isToken(UnsafeBufferPointer(start: $0, count: 1)) }
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}

/// The range of a body that a 206 response carries: the Content-Range field of RFC 9110 §14.4.
package struct ContentRange: Equatable {
    package let first: Int64
    /// The position of the last byte, inclusive.
    package let last: Int64
    /// The size of the whole body; `nil` if the server does not know it.
    package let total: Int64?

    /// - Returns: `nil` for another unit, malformed text, or an impossible range.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        self.first = first
        self.last = last
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]), number > last else { return nil }
            total = number
        }
    }

    /// Reads the field of a response.
    /// - Returns: `nil` if there is none, or several, which need not agree, and for a response with several ranges, whose
    ///   fields are within its body (RFC 9110 §15.3.7.2).
    package init?(of fields: ResponseFields) {
        let texts = fields.values(of: "Content-Range")
        guard texts.count == 1, fields.mimeType != "multipart/byteranges" else { return nil }
        self.init(texts[0])
    }

    /// The positions; `nil` if their end is too large a number.
    package var positions: Range<Int64>? { last < .max ? first..<(last + 1) : nil }

    /// Parses digits only; `Int64.init` would also accept a sign.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(text)
    }
}

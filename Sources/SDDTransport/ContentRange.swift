/// Which bytes of a body a 206 brings: the Content-Range of RFC 9110 §14.4. A value.
struct ContentRange: Equatable {
    let first: Int64
    /// With it.
    let last: Int64
    /// Of the whole body; nil where the server does not know.
    let total: Int64?

    /// - Returns: nil for another unit, for what is malformed, and for a range that cannot be.
    init?(_ text: String) {
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

    /// Digits alone, which `Int64.init` would not insist on.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(text)
    }
}

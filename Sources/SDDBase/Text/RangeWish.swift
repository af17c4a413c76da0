/// The one range that a request asks for: its fields Range and If-Range (RFC 9110 §14.2, §13.1.5). A value type.
package struct RangeWish: Equatable, Sendable {
    private enum Bounds: Equatable, Sendable {
        /// Both positions are inclusive; without the last one, the range reaches to the end.
        case from(Int64, to: Int64?)
        /// As many bytes at the end of the body.
        case last(Int64)
    }

    /// The Range field, as sent.
    package let text: String
    /// The validator of the body that a range is wanted of; nil if it may be of any.
    package let ifRange: String?
    private let bounds: Bounds

    /// - Returns: nil if there is no Range, and for one that a cache leaves to the server: several ranges, another unit,
    ///   malformed text.
    package init?(_ headers: HTTPFields) {
        guard let text = headers.combined("Range"), let bounds = Self.bounds(text) else { return nil }
        self.text = text
        self.bounds = bounds
        ifRange = headers.combined("If-Range")
    }

    private static func bounds(_ text: String) -> Bounds? {
        let sides = text.utf8.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        guard sides.count == 2, HTTPFields.isSameName(String(Substring(sides[0])), "bytes") else { return nil }
        let ends = sides[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let (first, last) = (number(ends[0]), number(ends[1]))
        if ends[0].isEmpty { return last.map { .last($0) } }
        guard let first, ends[1].isEmpty || last != nil, first <= last ?? .max else { return nil }
        return .from(first, to: last)
    }

    /// Parses digits only; `Int64.init` would also accept a sign.
    private static func number(_ text: Substring.UTF8View) -> Int64? {
        guard text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(String(decoding: text, as: UTF8.self))
    }

    /// Returns the positions in a body that the range is of.
    /// - Parameter total: the size of the body; nil if it is not known.
    /// - Returns: nil if the body has none of them (§15.5.17), or if they depend on an unknown size.
    package func positions(in total: Int64?) -> Range<Int64>? {
        switch bounds {
        case .from(let first, let last):
            let wished = last.map { $0 == .max ? .max : $0 + 1 }
            guard let end = total ?? wished, first < end else { return nil }
            return first..<min(end, wished ?? end)
        case .last(let count):
            guard let total, total > 0, count > 0 else { return nil }
            return max(0, total - count)..<total
        }
    }

    /// Whether a 206 with these positions may answer the range. It may bring less than was asked for (§15.3.7), but
    /// not from another place.
    /// - Parameter total: the size of the whole body; nil if it is not known.
    package func allows(_ positions: Range<Int64>, of total: Int64?) -> Bool {
        switch bounds {
        case .from(let first, let last): positions.lowerBound == first && positions.upperBound - 1 <= last ?? .max
        case .last(let count): positions.upperBound == total ?? positions.upperBound && positions.count <= count
        }
    }
}

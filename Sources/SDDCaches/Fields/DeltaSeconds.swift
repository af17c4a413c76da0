/// Delta seconds of header fields (RFC 9111 §1.2.2), and saturating sums of untrusted seconds. Pure.
package enum DeltaSeconds {
    /// The value that larger ones are reduced to, as RFC 9111 says: 68 years.
    package static let largest: Int64 = 2_147_483_648

    /// - Returns: nil unless the text consists of digits only.
    package static func parse(_ text: some Sequence<UInt8>) -> Int64? {
        var number: Int64?
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = min((number ?? 0) * 10 + Int64(byte & 15), largest)
        }
        return number
    }
}

extension Int64 {
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }
}

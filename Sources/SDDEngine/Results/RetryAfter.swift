import SDDBase

/// The Retry-After of a response (RFC 9110 §10.2.3), in seconds or as a date. Pure.
enum RetryAfter {
    /// Longer delays are cut to this: 68 years.
    private static let longest: Int64 = 1 << 31

    /// Returns the delay that a response asks for.
    /// - Parameter now: seconds since 1970, used if the response has no Date of its own; 0: not known.
    /// - Returns: seconds to wait, 0 or more; nil if the field is missing or not valid.
    static func seconds(in response: Response?, now: Int64) -> Int64? {
        guard let fields = response?.fields, let value = unsafe fields.bytes(of: "Retry-After").map(trimmed) else {
            return nil
        }
        return delay(value) ?? date(value, fields, now: now)
    }

    private static func delay(_ value: ArraySlice<UInt8>) -> Int64? {
        if value.isEmpty { return nil }
        var seconds: Int64 = 0
        for byte in value {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            seconds = min(seconds * 10 + Int64(byte & 15), longest)
        }
        return seconds
    }

    /// Computes the delay by the server's own clock if it sent a Date: the local clock may be wrong by years.
    private static func date(_ value: ArraySlice<UInt8>, _ fields: ResponseFields, now: Int64) -> Int64? {
        let shown = unsafe fields.bytes(of: "Date").flatMap { HTTPDate.parse(trimmed($0), now: now) }
        guard let now = shown ?? (now > 0 ? now : nil), let date = HTTPDate.parse(value, now: now) else { return nil }
        // Years in dates have four digits, so the difference does not overflow.
        return max(0, date - min(max(now, 0), 1 << 40))
    }

    private static func trimmed(_ value: [UInt8]) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = value.firstIndex { !isSpace($0) } ?? value.endIndex
        let end = value.lastIndex { !isSpace($0) } ?? start
        return start < value.endIndex ? value[start...end] : []
    }
}

/// Dates of HTTP (RFC 9110 §5.6.7) as seconds since 1970. Pure functions. Parses all three formats, in any letter case
/// (RFC 9111 §4.2), and only GMT; writes the preferred format. The name of the weekday must be valid but need not match
/// the date.
package enum HTTPDate {
    /// - Parameter now: the current time in seconds since 1970, used to interpret a two-digit year.
    /// - Returns: nil if the text is not a valid date.
    package static func parse(_ text: some Collection<UInt8>, now: Int64) -> Int64? {
        guard text.count <= longest else { return nil }
        let bytes = Array(text)
        return fixdate(bytes) ?? rfc850(bytes, now: now) ?? asctime(bytes)
    }

    /// The length of "Wednesday, 06-Nov-94 08:49:37 GMT".
    private static let longest = 33

    /// Parses the preferred format: "Sun, 06 Nov 1994 08:49:37 GMT".
    private static func fixdate(_ bytes: [UInt8]) -> Int64? {
        var cursor = DateCursor(bytes)
        guard cursor.word(of: CalendarNames.days) != nil, cursor.skip(", "),
            let day = cursor.number(digits: 2), cursor.skip(" "),
            let month = cursor.word(of: CalendarNames.months), cursor.skip(" "),
            let year = cursor.number(digits: 4), cursor.skip(" "),
            let time = cursor.timeOfDay(), cursor.skip(" GMT"), cursor.isAtEnd
        else { return nil }
        return seconds(year: year, month: month, day: day, time: time)
    }

    /// Parses the obsolete RFC 850 format: "Sunday, 06-Nov-94 08:49:37 GMT".
    private static func rfc850(_ bytes: [UInt8], now: Int64) -> Int64? {
        var cursor = DateCursor(bytes)
        guard cursor.word(of: CalendarNames.longDays) != nil, cursor.skip(", "),
            let day = cursor.number(digits: 2), cursor.skip("-"),
            let month = cursor.word(of: CalendarNames.months), cursor.skip("-"),
            let lastDigits = cursor.number(digits: 2), cursor.skip(" "),
            let time = cursor.timeOfDay(), cursor.skip(" GMT"), cursor.isAtEnd
        else { return nil }
        return seconds(lastDigits: lastDigits, month: month, day: day, time: time, now: now)
    }

    /// Parses the format of asctime(3): "Sun Nov  6 08:49:37 1994".
    private static func asctime(_ bytes: [UInt8]) -> Int64? {
        var cursor = DateCursor(bytes)
        guard cursor.word(of: CalendarNames.days) != nil, cursor.skip(" "),
            let month = cursor.word(of: CalendarNames.months), cursor.skip(" "),
            let day = cursor.skip(" ") ? cursor.number(digits: 1) : cursor.number(digits: 2), cursor.skip(" "),
            let time = cursor.timeOfDay(), cursor.skip(" "),
            let year = cursor.number(digits: 4), cursor.isAtEnd
        else { return nil }
        return seconds(year: year, month: month, day: day, time: time)
    }

    /// Interprets a two-digit year (RFC 9110 §5.6.7): a date that appears to be more than 50 years in the future is in
    /// the most recent past year with the same last two digits.
    private static func seconds(lastDigits: Int64, month: Int, day: Int64, time: Int64, now: Int64) -> Int64? {
        let today = Calendar.date(of: now)
        let century = today.year - today.year % 100
        for year in [century + 100, century, century - 100].map({ $0 + lastDigits }) {
            if year > today.year + 50 { continue }
            guard let found = seconds(year: year, month: month, day: day, time: time) else { return nil }
            let limit = seconds(year: today.year + 50, month: today.month, day: today.day, time: today.time)
            if year < today.year + 50 || found <= (limit ?? .max) { return found }
        }
        return nil
    }

    private static func seconds(year: Int64, month: Int, day: Int64, time: Int64) -> Int64? {
        guard year >= 1, day >= 1, day <= Calendar.days(in: month, of: year) else { return nil }
        let days = Calendar.days(before: year) + Calendar.days(before: month, of: year) + day - 1
        return (days - Calendar.daysBefore1970) * 86_400 + time
    }

    /// Returns the preferred format: "Sun, 06 Nov 1994 08:49:37 GMT". A time outside the years 1 to 9999 is clamped to
    /// them.
    package static func text(_ seconds: Int64) -> String {
        let date = Calendar.date(of: seconds)
        let time = [date.time / 3600, date.time / 60 % 60, date.time % 60].map { padded($0, digits: 2) }
        return "\(CalendarNames.days[date.weekday]), \(padded(date.day, digits: 2)) "
            + "\(CalendarNames.months[date.month]) \(padded(date.year, digits: 4)) \(time.joined(separator: ":")) GMT"
    }

    private static func padded(_ number: Int64, digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

private enum CalendarNames {
    static let days: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longDays: [StaticString] = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// The proleptic Gregorian calendar from the year 1 to 9999. Months and days of the week count from 0.
private enum Calendar {
    static let daysBefore1970 = days(before: 1970)
    private static let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

    static func days(before year: Int64) -> Int64 {
        let years = year - 1
        return years * 365 + years / 4 - years / 100 + years / 400
    }

    static func days(in month: Int, of year: Int64) -> Int64 { lengths[month] + (month == 1 && isLeap(year) ? 1 : 0) }

    static func days(before month: Int, of year: Int64) -> Int64 {
        (0..<month).reduce(0) { $0 + days(in: $1, of: year) }
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    typealias Date = (year: Int64, month: Int, day: Int64, weekday: Int, time: Int64)

    static func date(of seconds: Int64) -> Date {
        // These bounds are the first second of the year 1 and the last of 9999; they keep the arithmetic below from
        // overflowing.
        let sinceYear1 = min(max(seconds, -62_135_596_800), 253_402_300_799) + daysBefore1970 * 86_400
        let day = sinceYear1 / 86_400
        // 400 years have 146,097 days. The estimate is off by one year at most.
        var year = day * 400 / 146_097 + 1
        while days(before: year) > day { year -= 1 }
        while days(before: year + 1) <= day { year += 1 }
        var rest = day - days(before: year)
        var month = 0
        while month < 11, rest >= days(in: month, of: year) {
            rest -= days(in: month, of: year)
            month += 1
        }
        // 1 January of the year 1 is a Monday.
        return (year, month, rest + 1, Int((day + 1) % 7), sinceYear1 % 86_400)
    }
}

/// Reads a date piece by piece. A value type.
private struct DateCursor {
    private let bytes: [UInt8]
    /// The index of the next byte; never past the end.
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func skip(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            guard bytes.count - place >= text.count,
                text.indices.allSatisfy({ Self.areAlike(bytes[place + $0], text[$0]) })
            else { return false }
            place += text.count
            return true
        }
    }

    /// Reads one of `words` and returns its index, or nil if none of them comes next.
    mutating func word(of words: [StaticString]) -> Int? {
        for (index, word) in words.enumerated() where skip(word) { return index }
        return nil
    }

    mutating func number(digits: Int) -> Int64? {
        guard bytes.count - place >= digits else { return nil }
        var number: Int64 = 0
        for byte in bytes[place..<(place + digits)] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int64(byte & 15)
        }
        place += digits
        return number
    }

    /// Reads a time of day as seconds since midnight. The second 60 is accepted as a leap second (RFC 9110 §5.6.7).
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60,
            skip(":"), let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// Compares two bytes without regard to the case of ASCII letters.
    private static func areAlike(_ a: UInt8, _ b: UInt8) -> Bool {
        if a == b { return true }
        return a | 0x20 == b | 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(a | 0x20)
    }
}

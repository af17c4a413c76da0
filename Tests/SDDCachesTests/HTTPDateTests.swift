import SDDBase
import TestSupport
import Testing

/// The numbers are by Python's datetime.
@Suite struct HTTPDateTests {
    /// Mon, 15 Jun 2026 12:00:00 GMT
    private static let now: Int64 = 1_781_524_800

    private func parse(_ text: String, now: Int64 = now) -> Int64? { HTTPDate.parse(text.utf8, now: now) }

    @Test(
        "9110 §5.6.7: the three formats, and their bounds",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Wednesday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Tue Feb 29 12:00:00 2000", 951_825_600),
            ("Fri Dec 31 23:59:59 1999", 946_684_799),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            ("Thu, 01 Mar 1900 00:00:00 GMT", -2_203_891_200),
            ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            // A leap second is the first of the next minute.
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            // RFC 9111 §4.2: in any case.
            ("sUN, 06 nOV 1994 08:49:37 gmt", 784_111_777),
            ("SUNDAY, 06-NOV-94 08:49:37 GMT", 784_111_777),
            // A wrong day of the week is ignored.
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ] as [(String, Int64)])
    func dates(text: String, seconds: Int64) { #expect(parse(text) == seconds) }

    @Test(
        "9110 §5.6.7: two digits are at most 50 years in the future",
        arguments: [
            ("Monday, 15-Jun-76 12:00:00 GMT", 3_359_448_000),
            ("Tuesday, 15-Jun-76 12:00:01 GMT", 203_688_001),
            ("Saturday, 01-Jan-50 00:00:00 GMT", 2_524_608_000),
            ("Friday, 31-Dec-99 23:59:59 GMT", 946_684_799),
            ("Tuesday, 29-Feb-00 12:00:00 GMT", 951_825_600),
        ] as [(String, Int64)])
    func twoDigits(text: String, seconds: Int64) { #expect(parse(text) == seconds) }

    @Test("9110 §5.6.7: the rule moves with the time")
    func twoDigitsAtOtherTimes() {
        // In 1999, a year of 50 means 1950: 2050 would be 51 years in the future.
        #expect(parse("Sunday, 01-Jan-50 00:00:00 GMT", now: 915_148_800) == -631_152_000)
        // In 2099, a year of 00 means 2100.
        #expect(parse("Sunday, 28-Feb-00 00:00:00 GMT", now: 4_075_920_000) == 4_107_456_000)
        for now in [Int64.min, -62_135_596_800, 0, .max] { _ = parse("Sunday, 06-Nov-94 08:49:37 GMT", now: now) }
        #expect(parse("Sunday, 06-Nov-94 08:49:37 GMT", now: .min) == nil)
    }

    @Test(
        "malformed dates",
        arguments: [
            "", "0", "-1", "now", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTX",
            "Sun 06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 23:60:00 GMT", "Sun, 06 Nov 1994 23:59:61 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
            "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT", "Sunday, 29-Feb-99 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT",
            "Sun Nov 06  08:49:37 1994",
            "Sun Nov  0 08:49:37 1994", "Sun, \u{661}6 Nov 1994 08:49:37 GMT", "S\u{f5}n, 06 Nov 1994 08:49:37 GMT",
            "Sun\u{0c} 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08\u{1a}49:37 GMT", "\u{0}",
        ])
    func noDates(text: String) { #expect(parse(text) == nil) }

    @Test(
        "9110 §5.6.7: written in the first format",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_825_600, "Tue, 29 Feb 2000 12:00:00 GMT"),
            (1_483_228_799, "Sat, 31 Dec 2016 23:59:59 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (.min, "Mon, 01 Jan 0001 00:00:00 GMT"),
        ] as [(Int64, String)])
    func texts(seconds: Int64, text: String) { #expect(HTTPDate.text(seconds) == text) }

    @Test("a time that was written is read back, and any text may be parsed")
    func randomTexts() {
        var random = SeededRandom(seed: 9110)
        let alphabet = Array("SunMonday, 0619Nov-94:37 GMT".utf8)
        for _ in 0..<10_000 {
            let time = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
            var text = Array(HTTPDate.text(time).utf8)
            #expect(HTTPDate.parse(text, now: time) == time)
            for _ in 0...2 {
                let place = text.indices.randomElement(using: &random) ?? 0
                text[place] = alphabet.randomElement(using: &random) ?? 0
            }
            _ = HTTPDate.parse(text, now: .random(in: .min ... .max, using: &random))
        }
    }
}

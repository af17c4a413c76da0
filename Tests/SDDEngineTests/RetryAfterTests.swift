import SDDBase
import Testing

@testable import SDDEngine

/// Retry-After in seconds and as a date, RFC 9110 §10.2.3.
@Suite struct RetryAfterTests {
    /// "Fri, 31 Dec 1999 23:59:59 GMT", the RFC's example; by `date -ud ... +%s`.
    private static let theDate: Int64 = 946_684_799

    private func seconds(_ value: String?, date: String? = nil, now: Int64 = theDate) -> Int64? {
        let fields = [value.map { ("Retry-After", $0) }, date.map { ("Date", $0) }].compactMap { $0 }
        return RetryAfter.seconds(in: Response(status: 503, fields: Sample.fields(fields)), now: now)
    }

    @Test(
        "Z7: seconds, with white space around them; anything else is ignored",
        arguments: [
            ("120", 120), ("0", 0), ("  7\t", 7), ("007", 7), ("2147483648", 1 << 31), ("2147483649", 1 << 31),
            ("99999999999999999999999999", 1 << 31), ("", nil), (" ", nil), ("-1", nil), ("+1", nil), ("1.5", nil),
            ("1 2", nil), ("soon", nil), ("12s", nil), ("\u{fc}", nil),
        ] as [(String, Int64?)])
    func inSeconds(value: String, wanted: Int64?) {
        #expect(seconds(value) == wanted)
    }

    @Test(
        "Z7: a date, counted from the response; a past one means now",
        arguments: [
            ("Fri, 31 Dec 1999 23:59:59 GMT", 0, 0), ("Fri, 31 Dec 1999 23:59:59 GMT", -20, 20),
            (" Friday, 31-Dec-99 23:59:59 GMT ", -20, 20), ("Fri Dec 31 23:59:59 1999", -20, 20),
            ("Fri, 31 Dec 1999 23:59:59 GMT", 20, 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 0, 252_455_616_000),
            ("Sat, 01 Jan 0001 00:00:00 GMT", 0, 0), ("Fri, 31 Dec 1999 23:59:59 CET", 0, nil),
        ] as [(String, Int64, Int64?)])
    func asADate(value: String, before: Int64, wanted: Int64?) {
        #expect(seconds(value, now: Self.theDate + before) == wanted)
    }

    @Test("Z7: the server's own clock counts if it sends a Date, since ours may be wrong")
    func theServersClock() {
        let (date, shown) = ("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:49 GMT")
        #expect(seconds(date, date: shown, now: 1) == 10)
        #expect(seconds(date, date: "yesterday", now: Self.theDate - 3) == 3)
        // Neither clock is known.
        #expect(seconds(date, now: 0) == nil)
        #expect(seconds("5", now: 0) == 5)
    }

    @Test("Z7: without Retry-After there is no wait")
    func withoutRetryAfterThereIsNoWait() {
        #expect(seconds(nil) == nil)
        #expect(RetryAfter.seconds(in: nil, now: 5) == nil)
    }

    @Test("Z7: any clock value is allowed", arguments: [.max, .min, -1] as [Int64])
    func anyClockValueIsAllowed(now: Int64) {
        let given = seconds("Fri, 31 Dec 1999 23:59:59 GMT", now: now)
        #expect(given == nil || given == 0)
    }
}

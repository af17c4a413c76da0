import SDDCaches

/// Age and freshness lifetime: RFC 9111 §4.2, §5.1 and §5.3.
extension HTTPCacheCase {
    static let ages: [HTTPCacheCase] = [
        .init("9111 §4.2.3: no time has passed", ["Cache-Control: max-age=60"], gives: .fresh(age: 0)),
        .init(
            "9111 §4.2.3: time in the cache counts", ["Cache-Control: max-age=60"], after: 59, gives: .fresh(age: 59)),
        .init("9111 §4.2: at its lifetime it is stale", ["Cache-Control: max-age=60"], after: 60, gives: asks()),
        .init("9111 §4.2: after its lifetime it is stale", ["Cache-Control: max-age=60"], after: 61, gives: asks()),
        .init(
            "9111 §4.2.3: Age counts", ["Cache-Control: max-age=60", "Age: 50"], after: 9, gives: .fresh(age: 59)),
        .init("9111 §4.2.3: Age makes stale", ["Cache-Control: max-age=60", "Age: 50"], after: 10, gives: asks()),
        .init(
            "9111 §4.2.3: the response's delay counts", ["Cache-Control: max-age=60"], gives: .fresh(age: 7), delay: 7),
        .init(
            "9111 §4.2.3: Age and delay together", ["Cache-Control: max-age=60", "Age: 10"], after: 3,
            gives: .fresh(age: 20), delay: 7),
        .init(
            "9111 §4.2.3: the apparent age, by Date", ["Cache-Control: max-age=600", "Date: \(Moment.minuteBefore)"],
            after: 1, gives: .fresh(age: 61)),
        .init(
            "9111 §4.2.3: the greater of apparent and corrected age",
            ["Cache-Control: max-age=600", "Date: \(Moment.minuteBefore)", "Age: 70"], gives: .fresh(age: 75), delay: 5),
        .init(
            "9111 §4.2.3: a Date after our clock gives no negative age",
            ["Cache-Control: max-age=600", "Date: \(Moment.hourAfter)"], after: 1, gives: .fresh(age: 1)),
        .init(
            "9110 §6.6.1: an invalid Date counts as the time of arrival",
            ["Cache-Control: max-age=60", "Date: yesterday"],
            after: 5, gives: .fresh(age: 5)),
        .init(
            "9111 §4.2.3: a clock set back during the request gives no negative delay", ["Cache-Control: max-age=60"],
            after: 1, gives: .fresh(age: 1), delay: -1000),
        .init(
            "9111 §4.2.3: a clock set back a little", ["Cache-Control: max-age=60"], after: -2, gives: .fresh(age: 2)),
        .init(
            "9111 §4.2.3: a clock set back by years", ["Cache-Control: max-age=60"], after: -90_000_000, gives: asks()),
        .init(
            "9111 §4.2.3: the end of time", ["Cache-Control: max-age=60"], after: .max - start, gives: asks(),
            delay: .max),
        .init(
            "9111 §5.1: an Age that is not a number is ignored", ["Cache-Control: max-age=60", "Age: abc"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.1: a negative Age is ignored", ["Cache-Control: max-age=60", "Age: -7200"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.1: a fraction is ignored", ["Cache-Control: max-age=60", "Age: 7200.0"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.1: an Age with a parameter is ignored", ["Cache-Control: max-age=60", "Age: 7200;a=1"],
            gives: .fresh(age: 0)),
        .init("9111 §5.1: an empty Age is ignored", ["Cache-Control: max-age=60", "Age: "], gives: .fresh(age: 0)),
        .init(
            "9111 §5.1: the first of a list, which is old", ["Cache-Control: max-age=60", "Age: 7200, 0"], gives: asks()
        ),
        .init(
            "9111 §5.1: the first of a list, which is not old", ["Cache-Control: max-age=60", "Age: 0, 7200"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.1: the first of two lines", ["Cache-Control: max-age=60", "Age: 30", "Age: 7200"],
            gives: .fresh(age: 30)),
        .init(
            "9111 §1.2.2: Age over 2^31", ["Cache-Control: max-age=3600", "Age: 2147483649"], gives: asks()),
        .init(
            "9111 §1.2.2: Age over 2^64", ["Cache-Control: max-age=3600", "Age: 99999999999999999999999"], gives: asks()
        ),
    ]

    static let lifetimes: [HTTPCacheCase] = [
        .init(
            "9111 §4.2.1: max-age before Expires", ["Cache-Control: max-age=60", "Expires: \(Moment.hourBefore)"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.3: Expires is ignored beside max-age=0",
            ["Cache-Control: max-age=0", "Expires: \(Moment.hourAfter)"],
            gives: asks()),
        .init(
            "9111 §4.2.1: max-age before an invalid Expires", ["Cache-Control: max-age=60", "Expires: 0"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §4.2.1: Expires minus Date", ["Date: \(Moment.start)", "Expires: \(Moment.minuteAfter)"], after: 59,
            gives: .fresh(age: 59)),
        .init(
            "9111 §4.2.1: Expires has passed", ["Date: \(Moment.start)", "Expires: \(Moment.minuteAfter)"], after: 60,
            gives: asks()),
        .init(
            "9111 §4.2.1: Expires without Date", ["Expires: \(Moment.minuteAfter)"], after: 59, gives: .fresh(age: 59)),
        .init(
            "9111 §4.2.1: Expires with an invalid Date", ["Date: ?", "Expires: \(Moment.minuteAfter)"], after: 59,
            gives: .fresh(age: 59)),
        .init(
            "9111 §4.2.1: Expires by the server's clock, which is fast",
            ["Date: \(Moment.hourAfter)", "Expires: \(Moment.hourAfter)"], gives: asks()),
        .init(
            "9111 §4.2.1: Expires by the server's clock, which is slow",
            ["Date: \(Moment.thousandBefore)", "Expires: \(Moment.hundredAfter)"], after: 99, gives: .fresh(age: 1099)),
        .init("9111 §5.3: Expires now", ["Date: \(Moment.start)", "Expires: \(Moment.start)"], gives: asks()),
        .init("9111 §5.3: Expires in the past", ["Expires: \(Moment.hourBefore)"], gives: asks()),
        .init("9111 §5.3: Expires: 0", ["Expires: 0"], gives: asks()),
        .init(
            "9111 §5.3: an invalid Expires allows no heuristic",
            ["Expires: -1", "Last-Modified: \(Moment.hundredDaysBefore)"],
            gives: asks("If-Modified-Since: \(Moment.hundredDaysBefore)")),
        .init(
            "9111 §4.2: Expires in another zone is invalid", ["Expires: Sun, 09 Sep 2001 02:46:40 UTC"], gives: asks()),
        .init(
            "9111 §4.2: Expires in any case", ["Expires: sun, 09 sEP 2001 02:46:40 gmt"], gives: .fresh(age: 0)),
        .init("9110 §5.6.7: Expires as RFC 850", ["Expires: Sunday, 09-Sep-01 02:46:40 GMT"], gives: .fresh(age: 0)),
        .init("9110 §5.6.7: Expires as asctime", ["Expires: Sun Sep  9 02:46:40 2001"], gives: .fresh(age: 0)),
        .init(
            "9111 §4.2.1: two Expires that differ",
            ["Expires: \(Moment.hourAfter)", "Expires: \(Moment.minuteAfter)"], gives: asks()),
        .init(
            "9111 §4.2.1: two Expires that agree",
            ["Expires: \(Moment.hourAfter)", "Expires: \(Moment.hourAfter)"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.3: Expires in the year 9999", ["Expires: Fri, 31 Dec 9999 23:59:59 GMT"], after: 3_000_000_000,
            gives: .fresh(age: 3_000_000_000)),
        .init(
            "9111 §5.2.2.10: s-maxage is for shared caches only", ["Cache-Control: s-maxage=3600, max-age=1"], after: 1,
            gives: asks()),
        .init("9111 §5.2.2.10: s-maxage alone is ignored", ["Cache-Control: s-maxage=3600"], gives: asks()),
        .init(
            "9111 §5.2.2.10: s-maxage=0 alone is ignored", ["Cache-Control: s-maxage=0, max-age=60"],
            gives: .fresh(age: 0)),
    ]

    static let heuristics: [HTTPCacheCase] = [
        .init(
            "9111 §4.2.2: a tenth of the time since it was modified",
            ["Date: \(Moment.start)", "Last-Modified: \(Moment.thousandBefore)"], after: 99, gives: .fresh(age: 99)),
        .init(
            "9111 §4.2.2: no longer than that tenth",
            ["Date: \(Moment.start)", "Last-Modified: \(Moment.thousandBefore)"],
            after: 100, gives: asks("If-Modified-Since: \(Moment.thousandBefore)")),
        .init(
            "9111 §4.2.2: at most a day", ["Last-Modified: \(Moment.hundredDaysBefore)"], after: 86_399,
            gives: .fresh(age: 86_399)),
        .init(
            "9111 §4.2.2: no longer than a day", ["Last-Modified: \(Moment.hundredDaysBefore)"], after: 86_400,
            gives: asks("If-Modified-Since: \(Moment.hundredDaysBefore)")),
        .init("9111 §4.2.2: no heuristic without Last-Modified", [], gives: asks()),
        .init(
            "9111 §4.2.2: modified in the future", ["Last-Modified: \(Moment.hourAfter)"],
            gives: asks("If-Modified-Since: \(Moment.hourAfter)")),
        .init("9111 §4.2.2: an invalid Last-Modified", ["Last-Modified: today"], gives: asks()),
        .init(
            "9110 §15.1: 404 has a heuristic lifetime", ["Last-Modified: \(Moment.tenDaysBefore)"],
            gives: .fresh(age: 0),
            status: 404),
        .init(
            "9110 §15.1: 410 has a heuristic lifetime", ["Last-Modified: \(Moment.tenDaysBefore)"],
            gives: .fresh(age: 0),
            status: 410),
        .init(
            "9110 §15.1: 403 has none", ["Last-Modified: \(Moment.tenDaysBefore)"],
            gives: asks("If-Modified-Since: \(Moment.tenDaysBefore)"), status: 403),
        .init(
            "9110 §15.1: 201 has none", ["Last-Modified: \(Moment.tenDaysBefore)"],
            gives: asks("If-Modified-Since: \(Moment.tenDaysBefore)"), status: 201),
        .init(
            "9110 §15.1: 503 has none", ["Last-Modified: \(Moment.tenDaysBefore)"],
            gives: asks("If-Modified-Since: \(Moment.tenDaysBefore)"), status: 503),
        .init(
            "9111 §5.2.2.9: public allows a heuristic for any status",
            ["Cache-Control: public", "Last-Modified: \(Moment.tenDaysBefore)"], gives: .fresh(age: 0), status: 599),
        .init(
            "9111 §4.2.2: no heuristic beside an explicit lifetime",
            ["Cache-Control: max-age=1", "Last-Modified: \(Moment.tenDaysBefore)"], after: 1,
            gives: asks("If-Modified-Since: \(Moment.tenDaysBefore)")),
        .init(
            "9111 §5.4: no heuristic with Pragma in a response",
            ["Pragma: no-cache", "Last-Modified: \(Moment.tenDaysBefore)"],
            gives: asks("If-Modified-Since: \(Moment.tenDaysBefore)")),
        .init(
            "9111 §5.4: Pragma is ignored beside an explicit lifetime",
            ["Pragma: no-cache", "Cache-Control: max-age=60"], gives: .fresh(age: 0)),
        .init(
            "9111 §4.2.1: an explicit lifetime for any status", ["Cache-Control: max-age=60"], gives: .fresh(age: 0),
            status: 599),
    ]
}

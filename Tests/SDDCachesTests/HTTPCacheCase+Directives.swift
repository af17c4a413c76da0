import SDDCaches

/// Directives of responses: RFC 9111 §5.2.2, RFC 5861, RFC 8246, and the validators of §4.3.1.
extension HTTPCacheCase {
    static let directives: [HTTPCacheCase] = [
        .init("9111 §5.2.2.4: no-cache is always validated", ["Cache-Control: no-cache, max-age=60"], gives: asks()),
        .init("9111 §5.2.2.4: no-cache in another case", ["Cache-Control: No-CaChE, max-age=60"], gives: asks()),
        .init(
            "9111 §4.2.1: the most restrictive directive counts",
            ["Cache-Control: max-age=60", "Cache-Control: no-cache"],
            gives: asks()),
        .init(
            "9111 §5.2.2.4: no-cache for some fields", ["Cache-Control: no-cache=\"Set-Cookie\", max-age=60"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.2.4: no-cache for some fields and for all",
            ["Cache-Control: no-cache=\"A\", no-cache, max-age=60"], gives: asks()),
        .init(
            "9111 §5.2.2.4: no-cache with an empty list of fields", ["Cache-Control: no-cache=\"\", max-age=60"],
            gives: asks()),
        .init(
            "9111 §5.2.2.4: no-cache for a field that the rules need",
            ["Cache-Control: no-cache=\"Age, A\", max-age=60"],
            gives: asks()),
        .init(
            "9111 §5.2.2.2: must-revalidate while fresh", ["Cache-Control: max-age=60, must-revalidate"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.2.2: must-revalidate when stale", ["Cache-Control: max-age=60, must-revalidate"], after: 60,
            gives: asks()),
        .init(
            "9111 §5.2.2.8: proxy-revalidate is for shared caches only",
            ["Cache-Control: max-age=60, proxy-revalidate"],
            ask: ["Cache-Control: max-stale"], after: 70, gives: .stale(age: 70)),
        .init(
            "9111 §5.2.2.7: private allows a private cache", ["Cache-Control: private, max-age=60"],
            gives: .fresh(age: 0)),
        .init("9111 §5.2.2.5: no-store that a 304 added", ["Cache-Control: no-store, max-age=60"], gives: .miss),
        .init(
            "9111 §5.2.2.3: must-understand before no-store", ["Cache-Control: no-store, must-understand, max-age=60"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.2.3: must-understand with an unknown status",
            ["Cache-Control: no-store, must-understand, max-age=60"], gives: .miss, status: 599),
        .init(
            "8246 §2: immutable while fresh", ["Cache-Control: immutable, max-age=60"],
            ask: ["Cache-Control: max-age=0"], gives: .fresh(age: 0)),
        .init("8246 §2: immutable when stale", ["Cache-Control: immutable, max-age=60"], after: 60, gives: asks()),
        .init(
            "8246 §2: immutable with a forced reload", ["Cache-Control: immutable, max-age=60"],
            ask: ["Cache-Control: no-cache"],
            gives: asks()),
        .init("8246 §2: immutable is not a lifetime", ["Cache-Control: immutable"], gives: asks()),
        .init(
            "5861 §3: stale while it is revalidated", ["Cache-Control: max-age=60, stale-while-revalidate=30"],
            after: 60,
            gives: .staleWhileRevalidate(age: 60)),
        .init(
            "5861 §3: at the end of the window", ["Cache-Control: max-age=60, stale-while-revalidate=30"], after: 89,
            gives: .staleWhileRevalidate(age: 89)),
        .init(
            "5861 §3: not after the window", ["Cache-Control: max-age=60, stale-while-revalidate=30"], after: 90,
            gives: asks()
        ),
        .init(
            "5861 §3: not needed while fresh", ["Cache-Control: max-age=60, stale-while-revalidate=30"], after: 59,
            gives: .fresh(age: 59)),
        .init(
            "5861 §3: a window of 0", ["Cache-Control: max-age=60, stale-while-revalidate=0"], after: 60, gives: asks()),
        .init(
            "5861 §3: a window that is not a number", ["Cache-Control: max-age=60, stale-while-revalidate"], after: 60,
            gives: asks()),
        .init(
            "9111 §5.2.2.2: must-revalidate before stale-while-revalidate",
            ["Cache-Control: max-age=60, stale-while-revalidate=30, must-revalidate"], after: 60, gives: asks()),
        .init(
            "9111 §5.2.2.4: no-cache before stale-while-revalidate",
            ["Cache-Control: no-cache, stale-while-revalidate=30"], gives: asks()),
        .init(
            "9111 §5.2.1.4: the request's no-cache before stale-while-revalidate",
            ["Cache-Control: max-age=60, stale-while-revalidate=30"], ask: ["Cache-Control: no-cache"], after: 60,
            gives: asks()),
        .init(
            "9111 §5.2.1.1: the request's max-age excludes stale responses",
            ["Cache-Control: max-age=60, stale-while-revalidate=30"], ask: ["Cache-Control: max-age=100"], after: 60,
            gives: asks()),
        .init(
            "5861 §4: stale-if-error counts only after an error", ["Cache-Control: max-age=60, stale-if-error=30"],
            after: 60,
            gives: asks(orServes: true)),
        .init(
            "5861 §4: stale-if-error ends", ["Cache-Control: max-age=60, stale-if-error=30"], after: 90,
            gives: asks(orServes: false)),
    ]

    static let validators: [HTTPCacheCase] = [
        .init("9111 §4.3.1: the entity tag", ["ETag: \"a\""], gives: asks("If-None-Match: \"a\"")),
        .init("9111 §4.3.1: a weak entity tag", ["ETag: W/\"a\""], gives: asks("If-None-Match: W/\"a\"")),
        .init(
            "9111 §4.3.1: entity tag and date",
            ["ETag: \"a\"", "Cache-Control: no-cache", "Last-Modified: \(Moment.hourBefore)"],
            gives: asks("If-None-Match: \"a\"", "If-Modified-Since: \(Moment.hourBefore)")),
        .init("9111 §4.3.1: a tag without quotes is sent back unchanged", ["ETag: a"], gives: asks("If-None-Match: a")),
        .init("9110 §8.8.3: an empty tag is no validator", ["ETag: "], gives: asks()),
        .init("9110 §8.8.3: a tag in UTF-8", ["ETag: \"\u{e9}\""], gives: asks("If-None-Match: \"\u{e9}\"")),
        .init(
            "9110 §8.8.2: the date is sent back unchanged",
            ["Cache-Control: no-cache", "Last-Modified: Sunday, 09-Sep-01 00:46:40 GMT"],
            gives: asks("If-Modified-Since: Sunday, 09-Sep-01 00:46:40 GMT")),
        .init("9110 §13.1.3: an invalid date is not sent", ["Last-Modified: 12345"], gives: asks()),
    ]
}

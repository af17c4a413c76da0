import Testing

@testable import SDDEngine

/// RFC 9111 §4.2: how long a stored response is served without asking the server.
@Suite struct HTTPCacheFreshnessTests {
    @Test(arguments: cases) func isFreshForTheServersLifetime(_ sequence: HTTPSequence) throws { try sequence.run() }

    static let cases: [HTTPSequence] = [
        // max-age
        .init("9111 §4.2.1: fresh within max-age", .answered("Cache-Control: max-age=3600"), .fresh),
        .init("9111 §4.2.1: close to the end of max-age", .answered("Cache-Control: max-age=3600"), .fresh.after(3500)),
        .init("9111 §4.2: after the end of max-age", .answered("Cache-Control: max-age=3600"), .answered().after(3601)),
        .init("9111 §5.2.2.1: max-age of 0", .answered("Cache-Control: max-age=0"), .answered()),
        .init("9111 §5.2.2.1: max-age in quotes", .answered("Cache-Control: max-age=\"3600\""), .fresh),
        .init("9111 §5.2: directives are compared without case", .answered("Cache-Control: MAX-AGE=3600"), .fresh),
        .init(
            "9111 §5.2: max-age among other directives", .answered("Cache-Control: foo=\"a, b\", max-age=3600, bar"),
            .fresh),
        .init("9110 §5.6.1: empty members of the list", .answered("Cache-Control: , ,max-age=3600,,"), .fresh),
        .init(
            "9110 §5.3: max-age in a second field", .answered("Cache-Control: private", "Cache-Control: max-age=3600"),
            .fresh),
        .init(
            "9111 §5.2.3: unknown directives", .answered("Cache-Control: frobnicate, max-age=3600"), .fresh),
        .init(
            "9111 §5.2.3: max-age in the quotes of another directive",
            .answered("Cache-Control: foo=\"max-age=3600\"", "Expires: {-10}"), .answered()),
        .init("9111 §4.2.1: a negative max-age is stale", .answered("Cache-Control: max-age=-3600"), .answered()),
        .init("9111 §4.2.1: a word is stale", .answered("Cache-Control: max-age=long", "Expires: {3600}"), .answered()),
        .init("9111 §4.2.1: a fraction is stale", .answered("Cache-Control: max-age=3600.0"), .answered()),
        .init("9111 §4.2.1: an empty max-age is stale", .answered("Cache-Control: max-age="), .answered()),
        .init(
            "9111 §4.2.1: two max-age that differ are stale", .answered("Cache-Control: max-age=3600, max-age=7200"),
            .answered()),
        .init("9111 §4.2.1: two max-age that agree", .answered("Cache-Control: max-age=3600, max-age=3600"), .fresh),
        .init(
            "9111 §1.2.2: max-age beyond any integer", .answered("Cache-Control: max-age=99999999999999999999999"),
            .fresh.after(86_400 * 365)),
        .init("9111 §1.2.2: leading zeros", .answered("Cache-Control: max-age=0003600"), .fresh),
        .init(
            "9111 §4.2.1: max-age before Expires", .answered("Cache-Control: max-age=3600", "Expires: {-60}"), .fresh),
        .init(
            "9111 §4.2.1: max-age before Expires, even if less",
            .answered("Cache-Control: max-age=60", "Expires: {3600}"),
            .answered().after(61)),
        .init(
            "9111 §5.2.2.10: s-maxage is ignored", .answered("Cache-Control: s-maxage=3600, max-age=0"), .answered()),
        .init("9111 §5.2.2.10: s-maxage=0 is ignored", .answered("Cache-Control: s-maxage=0, max-age=3600"), .fresh),

        // Expires
        .init("9111 §5.3: Expires in the future", .answered("Date: {0}", "Expires: {3600}"), .fresh),
        .init("9111 §5.3: Expires has passed", .answered("Date: {0}", "Expires: {-1}"), .answered()),
        .init("9111 §5.3: Expires is the same as Date", .answered("Date: {0}", "Expires: {0}"), .answered()),
        .init("9111 §5.3: after Expires", .answered("Date: {0}", "Expires: {3600}"), .answered().after(3700)),
        .init("9111 §5.3: Expires: 0 is in the past", .answered("Date: {0}", "Expires: 0"), .answered()),
        .init("9111 §5.3: an invalid Expires is in the past", .answered("Date: {0}", "Expires: tomorrow"), .answered()),
        .init(
            "9111 §4.2.1: two Expires that differ", .answered("Date: {0}", "Expires: {3600}", "Expires: {7200}"),
            .answered()),
        .init("9110 §5.6.7: RFC 850's form", .answered("Date: {0}", "Expires: {3600 rfc850}"), .fresh),
        .init("9110 §5.6.7: asctime's form", .answered("Date: {0}", "Expires: {3600 asctime}"), .fresh),
        .init("9110 §5.6.7: Date in RFC 850's form", .answered("Date: {-50 rfc850}", "Expires: {-10}"), .answered()),
        .init(
            "9111 §4.2.1: counted from the server's Date, whose clock is an hour behind",
            .answered("Date: {-3600}", "Expires: {3600}"), .fresh),
        .init(
            "9111 §4.2.3: a clock that is behind makes it old", .answered("Date: {-3600}", "Expires: {-600}"),
            .answered()),

        // Age
        .init("9111 §5.1: Age within max-age", .answered("Cache-Control: max-age=3600", "Age: 1800"), .fresh),
        .init("9111 §4.2.3: Age over max-age", .answered("Cache-Control: max-age=3600", "Age: 7200"), .answered()),
        .init("9111 §4.2: Age the same as max-age", .answered("Cache-Control: max-age=3600", "Age: 3600"), .answered()),
        .init(
            "9111 §4.2.3: Age and the time that has passed", .answered("Cache-Control: max-age=3600", "Age: 1800"),
            .answered().after(1900)),
        .init("9111 §5.1: an Age that is not a number", .answered("Cache-Control: max-age=3600", "Age: old"), .fresh),
        .init("9111 §5.1: a negative Age", .answered("Cache-Control: max-age=3600", "Age: -7200"), .fresh),
        .init("9111 §5.1: the first of several Age", .answered("Cache-Control: max-age=3600", "Age: 0, 7200"), .fresh),
        .init(
            "9111 §4.2.3: an Age beyond any integer",
            .answered("Cache-Control: max-age=3600", "Age: 99999999999999999999"),
            .answered()),
        .init(
            "9111 §4.2.3: the age by Date", .answered("Cache-Control: max-age=3600", "Date: {-7200}"),
            .answered()),
        .init(
            "9111 §4.2.3: a Date in the future is ignored", .answered("Cache-Control: max-age=3600", "Date: {7200}"),
            .fresh),
        .init(
            "9111 §5.1: the result has the age", .answered("Cache-Control: max-age=3600", "Age: 1000"),
            .fresh.after(500).showing("Cache-Control: max-age=3600")),

        // Heuristics
        .init("9111 §4.2.2: a tenth of the time since it was changed", .answered("Last-Modified: {-36000}"), .fresh),
        .init(
            "9111 §4.2.2: no longer than that tenth", .answered("Last-Modified: {-36000}"),
            .replaced(by: "If-Modified-Since: {-36000}").after(3700)),
        .init("9111 §4.2.2: at most a day", .answered("Last-Modified: {-86400000}"), .fresh.after(86_000)),
        .init(
            "9111 §4.2.2: after a day", .answered("Last-Modified: {-86400000}"),
            .replaced(by: "If-Modified-Since: {-86400000}").after(86_500)),
        .init("9111 §4.2.2: no heuristic without Last-Modified", .answered(), .answered()),
        .init(
            "9111 §4.2.2: no heuristic with an explicit lifetime",
            .answered("Last-Modified: {-36000}", "Expires: {-1}"),
            .replaced(by: "If-Modified-Since: {-36000}")),
        .init("9111 §4.2.2: also for 404", .answered("Last-Modified: {-36000}", status: 404), .fresh.status(404)),
        .init(
            "9111 §4.2.2: not for 403, though it is stored for its Expires", .answered("Expires: {-1}", status: 403),
            .answered()),
        .init(
            "9111 §4.2.2: also for 302, if it is public and has no Location",
            .answered("Last-Modified: {-36000}", "Cache-Control: public", status: 302), .fresh.status(302)),

        // immutable
        .init(
            "8246 §2: immutable is served on a reload", .answered("Cache-Control: max-age=3600, immutable"),
            .fresh.asking("Cache-Control: max-age=0")),
        .init(
            "8246 §2: immutable is revalidated when stale",
            .answered("Cache-Control: max-age=60, immutable", "ETag: \"a\""),
            .validated(by: "If-None-Match: \"a\"").after(61)),
    ]
}

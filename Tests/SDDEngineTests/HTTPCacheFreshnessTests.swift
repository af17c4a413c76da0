import Testing

@testable import SDDEngine

/// RFC 9111 §4.2: how long a stored response is served without asking the server.
@Suite struct HTTPCacheFreshnessTests {
    @Test(arguments: cases) func isFreshForTheServersLifetime(_ sequence: HTTPSequence) throws { try sequence.run() }

    static let cases: [HTTPSequence] = [
        // max-age
        .init("9111 §4.2.1: fresh within max-age", .answered("Cache-Control: max-age=3600"), .fresh),
        .init("9111 §4.2: after the end of max-age", .answered("Cache-Control: max-age=3600"), .answered().after(3601)),

        // Expires
        .init("9111 §5.3: Expires in the future", .answered("Date: {0}", "Expires: {3600}"), .fresh),

        // Age
        .init(
            "9111 §5.1: the result has the age", .answered("Cache-Control: max-age=3600", "Age: 1000"),
            .fresh.after(500).showing("Cache-Control: max-age=3600")),

        // Heuristics
        .init(
            "9111 §4.2.2: no longer than that tenth", .answered("Last-Modified: {-36000}"),
            .replaced(by: "If-Modified-Since: {-36000}").after(3700)),
        .init("9111 §4.2.2: also for 404", .answered("Last-Modified: {-36000}", status: 404), .fresh.status(404)),
        .init(
            "9111 §4.2.2: also for 302, if it is public and has no Location",
            .answered("Last-Modified: {-36000}", "Cache-Control: public", status: 302), .fresh.status(302)),

        // immutable
        .init(
            "8246 §2: immutable is served on a reload", .answered("Cache-Control: max-age=3600, immutable"),
            .fresh.asking("Cache-Control: max-age=0")),
    ]
}

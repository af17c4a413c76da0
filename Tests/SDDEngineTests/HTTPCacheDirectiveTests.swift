import Testing

@testable import SDDEngine

/// RFC 9111 §5.2.1: directives of requests.
@Suite struct HTTPCacheDirectiveTests {
    @Test(arguments: cases) func followsTheDirectivesOfRequests(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let hour = HTTPStep.answered("Cache-Control: max-age=3600", "ETag: \"a\"")
    private static let old = HTTPStep.answered("Cache-Control: max-age=3600", "ETag: \"a\"", "Age: 4000")
    private static let asks = HTTPStep.validated(by: "If-None-Match: \"a\"")

    static let cases: [HTTPSequence] = [
        .init("9111 §5.2.1.4: no-cache", hour, asks.asking("Cache-Control: no-cache")),
        .init(
            "9111 §5.2.1.4: the new response serves the next request", hour,
            .replaced(by: "If-None-Match: \"a\"", says: ["Cache-Control: max-age=60"]).asking(
                "Cache-Control: no-cache"), .fresh.body(of: 1)),
        .init(
            "9111 §5.2.1.5: no-store gets nothing from the cache", hour,
            .answered("ETag: \"b\"").asking("Cache-Control: no-store"), .fresh),
        .init("9111 §5.2.1.2: within max-stale", old, .stale.asking("Cache-Control: max-stale=600")),
        .init("9111 §5.2.1.7: only-if-cached without a response", .notCached.asking("Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.7: only-if-cached with a stale response", old,
            .notCached.asking("Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.7: only-if-cached with another variant",
            HTTPStep.answered("Vary: X-A", "Cache-Control: max-age=60").asking("X-A: 1"),
            .notCached.asking("Cache-Control: only-if-cached", "X-A: 2")),
        .init(
            "9111 §5.2.1.7: with a window of RFC 5861 it stays off the network",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=600", "Age: 90"),
            .notCached.asking("Cache-Control: only-if-cached")),
    ]
}

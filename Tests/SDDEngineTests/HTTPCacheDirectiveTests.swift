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
        .init("9111 §5.4: Pragma: no-cache", hour, asks.asking("Pragma: no-cache")),
        .init(
            "9111 §5.4: Pragma beside Cache-Control is ignored", hour,
            .fresh.asking("Pragma: no-cache", "Cache-Control: max-age=3600")),
        .init("9111 §5.4: another Pragma is ignored", hour, .fresh.asking("Pragma: nothing")),
        .init(
            "9111 §5.2.1.5: no-store gets nothing from the cache", hour,
            .answered("ETag: \"b\"").asking("Cache-Control: no-store"), .fresh),
        .init("9111 §5.2.1.1: within max-age", hour, .fresh.asking("Cache-Control: max-age=600")),
        .init("9111 §5.2.1.1: beyond max-age", hour, asks.after(700).asking("Cache-Control: max-age=600")),
        .init("9111 §5.2.1.1: max-age of 0", hour, asks.after(1).asking("Cache-Control: max-age=0")),
        .init(
            "9111 §5.2.1.1: max-age longer than the lifetime has no effect", old,
            asks.asking("Cache-Control: max-age=7200")),
        .init("9111 §5.2.1.1: an invalid max-age counts as 0", hour, asks.after(1).asking("Cache-Control: max-age=x")),
        .init("9111 §5.2.1.3: within min-fresh", hour, .fresh.asking("Cache-Control: min-fresh=3000")),
        .init("9111 §5.2.1.3: not within min-fresh", hour, asks.asking("Cache-Control: min-fresh=4000")),
        .init("9111 §5.2.1.3: min-fresh as time passes", hour, asks.after(700).asking("Cache-Control: min-fresh=3000")),
        .init("9111 §5.2.1.3: an invalid min-fresh", hour, asks.asking("Cache-Control: min-fresh=x")),
        .init("9111 §5.2.1.2: max-stale without a value", old, .stale.asking("Cache-Control: max-stale")),
        .init("9111 §5.2.1.2: within max-stale", old, .stale.asking("Cache-Control: max-stale=600")),
        .init("9111 §5.2.1.2: beyond max-stale", old, asks.asking("Cache-Control: max-stale=300")),
        .init("9111 §5.2.1.2: an invalid max-stale permits nothing", old, asks.asking("Cache-Control: max-stale=x")),
        .init("9111 §5.2.1.2: max-stale with a fresh response", hour, .fresh.asking("Cache-Control: max-stale=600")),
        .init(
            "9111 §5.2.1.2: max-stale within max-age", old, .stale.asking("Cache-Control: max-stale=600, max-age=5000")),
        .init("9111 §5.2.1.2: max-stale beyond max-age", old, asks.asking("Cache-Control: max-stale=600, max-age=300")),
        .init(
            "9111 §5.2.2.4: max-stale does not override no-cache", .answered("Cache-Control: no-cache", "ETag: \"a\""),
            asks.asking("Cache-Control: max-stale")),
        .init(
            "9111 §5.2.1.7: only-if-cached with a fresh response", hour, .fresh.asking("Cache-Control: only-if-cached")),
        .init("9111 §5.2.1.7: only-if-cached without a response", .notCached.asking("Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.7: only-if-cached with a stale response", old,
            .notCached.asking("Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.7: only-if-cached with max-stale", old,
            .stale.asking("Cache-Control: only-if-cached, max-stale")),
        .init(
            "9111 §5.2.1.7: only-if-cached with no-cache", .answered("Cache-Control: no-cache", "ETag: \"a\""),
            .notCached.asking("Cache-Control: only-if-cached, max-stale")),
        .init(
            "9111 §5.2.1.7: only-if-cached with another variant",
            HTTPStep.answered("Vary: X-A", "Cache-Control: max-age=60").asking("X-A: 1"),
            .notCached.asking("Cache-Control: only-if-cached", "X-A: 2")),
        .init(
            "9111 §5.2.1.7: with a window of RFC 5861 it stays off the network",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=600", "Age: 90"),
            .notCached.asking("Cache-Control: only-if-cached")),
        .init("9111 §5.2.1.6: no-transform is ignored", hour, .fresh.asking("Cache-Control: no-transform")),
        .init("9111 §5.2.3: unknown directives are ignored", hour, .fresh.asking("Cache-Control: frobnicate=1")),
    ]
}

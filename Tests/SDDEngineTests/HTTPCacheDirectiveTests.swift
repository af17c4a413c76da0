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
            "9111 §5.2.1.4: what comes of it serves the next", hour,
            .replaced(by: "If-None-Match: \"a\"", says: ["Cache-Control: max-age=60"]).asking(
                "Cache-Control: no-cache"), .fresh.body(of: 1)),
        .init("9111 §5.4: Pragma: no-cache", hour, asks.asking("Pragma: no-cache")),
        .init(
            "9111 §5.4: not beside Cache-Control", hour,
            .fresh.asking("Pragma: no-cache", "Cache-Control: max-age=3600")),
        .init("9111 §5.4: another Pragma says nothing", hour, .fresh.asking("Pragma: nothing")),
        .init(
            "9111 §5.2.1.5: no-store gets nothing from the cache", hour,
            .answered("ETag: \"b\"").asking("Cache-Control: no-store"), .fresh),
        .init("9111 §5.2.1.1: max-age that is kept", hour, .fresh.asking("Cache-Control: max-age=600")),
        .init("9111 §5.2.1.1: max-age that is passed", hour, asks.after(700).asking("Cache-Control: max-age=600")),
        .init("9111 §5.2.1.1: max-age of 0", hour, asks.after(1).asking("Cache-Control: max-age=0")),
        .init(
            "9111 §5.2.1.1: longer than the server's makes nothing fresh", old,
            asks.asking("Cache-Control: max-age=7200")),
        .init("9111 §5.2.1.1: no number asks for the youngest", hour, asks.after(1).asking("Cache-Control: max-age=x")),
        .init("9111 §5.2.1.3: min-fresh that is kept", hour, .fresh.asking("Cache-Control: min-fresh=3000")),
        .init("9111 §5.2.1.3: min-fresh that is not", hour, asks.asking("Cache-Control: min-fresh=4000")),
        .init("9111 §5.2.1.3: as time passes", hour, asks.after(700).asking("Cache-Control: min-fresh=3000")),
        .init("9111 §5.2.1.3: no number", hour, asks.asking("Cache-Control: min-fresh=x")),
        .init("9111 §5.2.1.2: max-stale without a value", old, .stale.asking("Cache-Control: max-stale")),
        .init("9111 §5.2.1.2: within it", old, .stale.asking("Cache-Control: max-stale=600")),
        .init("9111 §5.2.1.2: beyond it", old, asks.asking("Cache-Control: max-stale=300")),
        .init("9111 §5.2.1.2: no number permits nothing", old, asks.asking("Cache-Control: max-stale=x")),
        .init("9111 §5.2.1.2: of what is fresh", hour, .fresh.asking("Cache-Control: max-stale=600")),
        .init("9111 §5.2.1.2: with max-age within", old, .stale.asking("Cache-Control: max-stale=600, max-age=5000")),
        .init("9111 §5.2.1.2: with max-age beyond", old, asks.asking("Cache-Control: max-stale=600, max-age=300")),
        .init(
            "9111 §5.2.2.4: not of no-cache", .answered("Cache-Control: no-cache", "ETag: \"a\""),
            asks.asking("Cache-Control: max-stale")),
        .init("9111 §5.2.1.7: only-if-cached finds it", hour, .fresh.asking("Cache-Control: only-if-cached")),
        .init("9111 §5.2.1.7: or nothing", .notCached.asking("Cache-Control: only-if-cached")),
        .init("9111 §5.2.1.7: nothing stale", old, .notCached.asking("Cache-Control: only-if-cached")),
        .init("9111 §5.2.1.7: unless it is taken", old, .stale.asking("Cache-Control: only-if-cached, max-stale")),
        .init(
            "9111 §5.2.1.7: nothing that must be asked about", .answered("Cache-Control: no-cache", "ETag: \"a\""),
            .notCached.asking("Cache-Control: only-if-cached, max-stale")),
        .init(
            "9111 §5.2.1.7: no other variant",
            HTTPStep.answered("Vary: X-A", "Cache-Control: max-age=60").asking("X-A: 1"),
            .notCached.asking("Cache-Control: only-if-cached", "X-A: 2")),
        .init(
            "9111 §5.2.1.7: with a window of RFC 5861 it stays off the network",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=600", "Age: 90"),
            .notCached.asking("Cache-Control: only-if-cached")),
        .init("9111 §5.2.1.6: no-transform says nothing to us", hour, .fresh.asking("Cache-Control: no-transform")),
        .init("9111 §5.2.3: unknown ones neither", hour, .fresh.asking("Cache-Control: frobnicate=1")),
    ]
}

import SDDCaches
import TestSupport
import Testing

@testable import SDDEngine

/// RFC 5861, and RFC 9111 §4.2.4: stale responses that are better than waiting, or than no response.
@Suite struct HTTPCacheStaleTests {
    @Test(arguments: cases) func servesStaleWhereAllowed(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "If-None-Match: \"a\""
    private static let window = HTTPStep.answered(
        "Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\"")
    private static let shield = HTTPStep.answered("Cache-Control: max-age=60, stale-if-error=600", "ETag: \"a\"")
    private static let failing = HTTPStep.replaced(by: tag, status: 503)

    static let cases: [HTTPSequence] = [
        // stale-while-revalidate
        .init(
            "5861 §3: stale at once, then revalidated, then fresh", window, .stale.after(100).meanwhile(304, by: [tag]),
            .fresh),
        .init(
            "5861 §3: the new response is for the next request", window,
            .stale.after(100).meanwhile(200, by: [tag], "Cache-Control: max-age=60"), .fresh.body(of: 1)),
        .init(
            "5861 §3: revalidated each time that it is stale", window, .stale.after(100).meanwhile(304, by: [tag]),
            .stale.after(100).meanwhile(304, by: [tag]), .fresh),
        .init(
            "5861 §3: a failing revalidation changes nothing", window,
            .stale.after(100).meanwhile(500, by: [tag]), .stale.meanwhile(304, by: [tag]), .fresh),
        .init(
            "5861 §3: the background request accepts what its caller does", window.accepting("200"),
            HTTPStep.stale.after(100).accepting("200").meanwhile(203, by: [tag], "Cache-Control: max-age=60"),
            HTTPStep.stale.accepting("200").meanwhile(304, by: [tag])),
        .init(
            "5861 §3: without a validator", .answered("Cache-Control: max-age=60, stale-while-revalidate=600"),
            .stale.after(100).meanwhile(200, "Cache-Control: max-age=60"), .fresh.body(of: 1)),
        .init(
            "5861 §3: a stale variant", window.asking("X-A: 1"),
            .stale.after(100).asking("X-A: 1").meanwhile(304, by: [tag])),

        // stale-if-error
        .init("5861 §4: 503", shield, failing.after(100).from(.httpStale).status(200).body(of: 0)),
        .init(
            "5861 §4: the server is asked each time", shield,
            failing.after(100).from(.httpStale).status(200).body(of: 0), .validated(by: tag), .fresh),
        .init(
            "5861 §4: a window of the request", .answered("Cache-Control: max-age=60", "ETag: \"a\""),
            failing.after(100).asking("Cache-Control: stale-if-error=600").from(.httpStale).status(200).body(of: 0)),
        .init(
            "9111 §4.2.4: not allowed", .answered("Cache-Control: max-age=60", "ETag: \"a\""), failing.after(100)),
        .init(
            "5861 §4: a body that breaks off is an error", shield,
            .replaced(by: tag).cut(after: 3).after(100).from(.httpStale).body(of: 0), .validated(by: tag)),

        // Offline
        .init(
            "9111 §4.2.4: offline stale is served", .answered("Cache-Control: max-age=60"),
            .stale.after(100_000).offline),
        .init("9111 §4.2.4: offline nothing is revalidated", window, .stale.after(100).offline),
        .init("9111 §4.2.4: offline without a stored response", .notCached.offline),
        .init("9111 §4: offline a POST ends", .notCached.by("POST").offline),
        .init(
            "9111 §4.2.4: back on the network it is revalidated", .answered("Cache-Control: max-age=60", "ETag: \"a\""),
            .stale.after(100).offline, .validated(by: tag)),
        .init("9111 §4.2.4: offline affects only requests that use the cache", HTTPStep.answered().wishing([]).offline),
    ]

    @Test("5861 §4: the server does not listen any more")
    func servesStaleWhenTheServerIsGone() throws {
        let world = try HTTPCacheWorld()
        world.server.script(
            "s", ScriptedReply(200, ["Cache-Control: max-age=60, stale-if-error=600"], body: [1, 2, 3]))
        _ = try world.run(world.request("/script/s"))
        world.time.pass(seconds: 100)
        world.server.stop()
        let result = try world.run(world.request("/script/s"))
        #expect(result.error == nil && result.origin == .httpStale && result.array == [1, 2, 3])
        world.time.pass(seconds: 700)
        #expect(try world.run(world.request("/script/s")).error?.code == .connect)
    }
}

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
            "5861 §3: stale at once, asked meanwhile, fresh then", window, .stale.after(100).meanwhile(304, by: [tag]),
            .fresh),
        .init(
            "5861 §3: what comes meanwhile is for the next", window,
            .stale.after(100).meanwhile(200, by: [tag], "Cache-Control: max-age=60"), .fresh.body(of: 1)),
        .init("5861 §3: fresh before", window, .fresh.after(30)),
        .init("5861 §3: not behind the window", window, .validated(by: tag).after(700)),
        .init(
            "5861 §3: again each time that it is stale", window, .stale.after(100).meanwhile(304, by: [tag]),
            .stale.after(100).meanwhile(304, by: [tag]), .fresh),
        .init(
            "5861 §3: a server that fails meanwhile changes nothing", window,
            .stale.after(100).meanwhile(500, by: [tag]), .stale.meanwhile(304, by: [tag]), .fresh),
        .init(
            "5861 §3: without a validator", .answered("Cache-Control: max-age=60, stale-while-revalidate=600"),
            .stale.after(100).meanwhile(200, "Cache-Control: max-age=60"), .fresh.body(of: 1)),
        .init(
            "5861 §3: a window that is no number",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=x", "ETag: \"a\""),
            .validated(by: tag).after(61)),
        .init(
            "9111 §5.2.2.2: must-revalidate closes it",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=600, must-revalidate", "ETag: \"a\""),
            .validated(by: tag).after(61)),
        .init(
            "9111 §5.2.2.4: so does no-cache",
            .answered("Cache-Control: no-cache, stale-while-revalidate=600", "ETag: \"a\""), .validated(by: tag)),
        .init(
            "9111 §5.2.1.4: and the request's", window, .validated(by: tag).after(61).asking("Cache-Control: no-cache")),
        .init(
            "9111 §5.2.1.1: who wants an age wants nothing stale", window,
            .validated(by: tag).after(61).asking("Cache-Control: max-age=90")),
        .init(
            "5861 §3: of a variant", window.asking("X-A: 1"),
            .stale.after(100).asking("X-A: 1").meanwhile(304, by: [tag])),

        // stale-if-error
        .init("5861 §4: 503", shield, failing.after(100).from(.httpStale).status(200).body(of: 0)),
        .init(
            "5861 §4: 500", shield, .replaced(by: tag, status: 500).after(100).from(.httpStale).status(200).body(of: 0)),
        .init(
            "5861 §4: 504", shield, .replaced(by: tag, status: 504).after(100).from(.httpStale).status(200).body(of: 0)),
        .init("5861 §4: not 404", shield, .replaced(by: tag, status: 404).after(100)),
        .init("5861 §4: not 501", shield, .replaced(by: tag, status: 501).after(100)),
        .init("5861 §4: not behind the window", shield, failing.after(700)),
        .init(
            "5861 §4: the server is asked each time", shield,
            failing.after(100).from(.httpStale).status(200).body(of: 0), .validated(by: tag), .fresh),
        .init(
            "5861 §4: a request's own", .answered("Cache-Control: max-age=60", "ETag: \"a\""),
            failing.after(100).asking("Cache-Control: stale-if-error=600").from(.httpStale).status(200).body(of: 0)),
        .init(
            "9111 §4.2.4: nobody allowed it", .answered("Cache-Control: max-age=60", "ETag: \"a\""), failing.after(100)),
        .init(
            "9111 §5.2.2.2: must-revalidate",
            .answered("Cache-Control: max-age=60, stale-if-error=600, must-revalidate", "ETag: \"a\""),
            failing.after(100)),
        .init(
            "9111 §5.2.2.4: no-cache", .answered("Cache-Control: no-cache, stale-if-error=600", "ETag: \"a\""), failing),
        .init(
            "5861 §4: a body that breaks off is an error", shield,
            .replaced(by: tag).cut(after: 3).after(100).from(.httpStale).body(of: 0), .validated(by: tag)),

        // Offline
        .init("9111 §4.2.4: offline it is fresh as ever", .answered("Cache-Control: max-age=60"), .fresh.offline),
        .init(
            "9111 §4.2.4: offline stale is good", .answered("Cache-Control: max-age=60"), .stale.after(100_000).offline),
        .init("9111 §4.2.4: offline nothing is revalidated meanwhile", window, .stale.after(100).offline),
        .init(
            "9111 §4.2.4: offline no-cache is good", .answered("Cache-Control: no-cache, max-age=60"), .fresh.offline),
        .init("9111 §4.2.4: offline there may be nothing", .notCached.offline),
        .init("9111 §5.2.2.5: offline no-store is not there", .answered("Cache-Control: no-store"), .notCached.offline),
        .init("9111 §4: offline a POST ends", .notCached.by("POST").offline),
        .init(
            "9111 §4.2.4: back on the network it is asked about", .answered("Cache-Control: max-age=60", "ETag: \"a\""),
            .stale.after(100).offline, .validated(by: tag)),
        .init("9111 §4.2.4: offline is for those who use the cache", HTTPStep.answered().wishing([]).offline),
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

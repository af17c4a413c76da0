import SDDCaches
import TestSupport
import Testing

@testable import SDDEngine

/// O3, U4: requests whose application has the cached response already, so that it is not delivered.
@Suite struct HTTPCacheIgnoringTests {
    @Test(arguments: cases) func reportsThatNothingHasChanged(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "If-None-Match: \"a\""
    private static func ignoring(_ step: HTTPStep) -> HTTPStep { step.wishing([.http, .ignoresCached]) }

    static let cases: [HTTPSequence] = [
        .init(
            "9111 §4.2: fresh: not modified, without asking the server", .answered("Cache-Control: max-age=3600"),
            ignoring(.fresh).fails(.notModified)),
        .init(
            "9111 §4.3.3: a 304: not modified", .answered("ETag: \"a\""),
            ignoring(.validated(by: tag)).fails(.notModified)),
        .init(
            "9111 §4.3.4: a 304 freshens the stored response", .answered("ETag: \"a\""),
            ignoring(.validated(by: tag, says: ["Cache-Control: max-age=60"])).fails(.notModified), .fresh),
        .init(
            "9111 §4.3.3: something new is delivered", .answered("ETag: \"a\""),
            ignoring(.replaced(by: tag, says: ["Cache-Control: max-age=60"])), .fresh.body(of: 1)),
        .init("9111 §3: nothing stored: delivered", ignoring(.answered("Cache-Control: max-age=60")), .fresh),
        .init(
            "5861 §3: stale within the window: not modified",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""),
            ignoring(.validated(by: tag)).after(61).fails(.notModified)),
        .init(
            "5861 §4: an error is reported, not replaced by the stored response",
            .answered("Cache-Control: max-age=60, stale-if-error=600", "ETag: \"a\""),
            ignoring(.replaced(by: tag, status: 503)).after(61)),
        .init(
            "9111 §4.2.4: offline: not modified", .answered("Cache-Control: max-age=60"),
            ignoring(.stale).offline.after(100).fails(.notModified)),
    ]

    @Test("9111 §4.3.3: the same bytes, sent again by the server, are not modified")
    func recognizesTheSameBytes() throws {
        let world = try HTTPCacheWorld()
        let same = ScriptedReply(200, ["Cache-Control: max-age=0"], body: [1, 2, 3])
        world.server.script("s", same, same, ScriptedReply(200, ["Cache-Control: max-age=0"], body: [1, 2, 4]))
        _ = try world.run(world.request("/script/s"))
        let second = try world.run(world.request("/script/s", wishes: [.http, .ignoresCached]))
        #expect(second.error?.code == .notModified && second.bytes == nil)
        let third = try world.run(world.request("/script/s", wishes: [.http, .ignoresCached]))
        #expect(third.array == [1, 2, 4] && third.origin == .network)
        #expect(world.server.requests.count == 3)
    }

    @Test("9111 §4.3.3: requests that ignore stored responses do not share lookups with others")
    func doesNotJoinOthers() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, ["ETag: \"a\""], body: [1]))
        _ = try world.run(world.request("/script/s"))
        world.server.script("s", ScriptedReply(304), ScriptedReply(304))
        let recorders = [RecordingCallbacks(), RecordingCallbacks()]
        _ = world.downloader.submit(.success(try world.request("/script/s")), callbacks: recorders[0])
        _ = world.downloader.submit(
            .success(try world.request("/script/s", wishes: [.http, .ignoresCached])), callbacks: recorders[1])
        #expect(try world.end(of: recorders[0]).origin == .httpRevalidated)
        #expect(try world.end(of: recorders[1]).error?.code == .notModified)
    }
}

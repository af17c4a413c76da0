import SDDBase
import SDDCaches
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Z17, RFC 9110 §14 and §15.3.7: interrupted bodies, and how the next request uses the stored part.
@Suite struct HTTPCacheResumeTests {
    private static let wishes: HTTPCacheLookup.Wishes = [.http, .resumes]

    private func run(_ world: HTTPCacheWorld, _ target: String, _ fields: [String] = []) throws -> DownloadResult {
        let result = try world.run(world.request(target, fields, wishes: Self.wishes))
        settle(world)
        return result
    }

    /// Waits until the part is closed: one of the two disk threads does that before both are free for this.
    private func settle(_ world: HTTPCacheWorld) {
        let areHere = Expectation(count: 2)
        for _ in 0..<2 {
            world.disk.read {
                areHere.fulfil()
                _ = areHere.wait()
            }
        }
        #expect(areHere.wait() && world.flush())
    }

    private func sent(_ target: String, _ size: Int) -> [UInt8] { ScriptedServer.body(of: target, size: size) }

    @Test("9110 §14.2: a body cut at random places arrives whole, and little of it twice", arguments: 1...12)
    func resumesAfterCuts(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let world = try HTTPCacheWorld()
        let size = Int.random(in: 100_000...400_000, using: &random)
        let cuts = Set((0..<4).map { _ in Int.random(in: 1..<size, using: &random) }).sorted()
        let list = cuts.map(String.init).joined(separator: ",")
        let target = "/ranged?size=\(size)&cuts=\(list)&header=Cache-Control:%20max-age=3600"
        var (bytes, tries, last) = (Int64(0), 0, try run(world, target))
        bytes += last.metrics.transfer.bodyBytes
        while last.error != nil, tries < 10 {
            #expect(last.error?.code == .truncatedBody)
            last = try run(world, target)
            bytes += last.metrics.transfer.bodyBytes
            tries += 1
        }
        #expect(last.array == sent(target, size))
        #expect(last.origin == .network && last.httpStatus == 200)
        #expect(bytes == Int64(size))
        #expect(try run(world, target).origin == .httpFresh)
        #expect(try world.disk.store.parts.open(world.server.url(target)) == nil)
    }

    @Test("9110 §13.1.5: If-Range is sent with the Range; a cancelled body is resumed")
    func resumesAfterACancel() throws {
        let world = try HTTPCacheWorld()
        let whole = sent("/x", 100_000)
        world.server.script("s", ScriptedReply(200, ["ETag: \"a\""], body: whole, cut: 60_000))
        #expect(try run(world, "/script/s").error?.code == .truncatedBody)
        let kept = try #require(try world.disk.store.parts.open(world.server.url("/script/s"))).body.count
        #expect(kept == 60_000)
        let rest = ["ETag: \"a\"", "Content-Range: bytes \(kept)-99999/100000"]
        world.server.script("s", ScriptedReply(206, rest, body: Array(whole[kept...])))
        let result = try run(world, "/script/s")
        #expect(result.array == whole && result.httpStatus == 200)
        #expect(world.server.requests.last?.header("Range") == "bytes=\(kept)-")
        #expect(world.server.requests.last?.header("If-Range") == "\"a\"")
        #expect(world.cache.counters[.resumedDownloads] == 1)
        #expect(world.cache.counters[.resumedBytes] == Int64(kept))
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let replies: [ScriptedReply]
    }

    private static let other = Array(repeating: UInt8(9), count: 70_000)

    @Test(
        "bodies are never mixed",
        arguments: [
            Refusal(
                testDescription: "9110 §14.2: 200 in place of 206",
                replies: [ScriptedReply(200, ["ETag: \"b\""], body: other)]),
            Refusal(
                testDescription: "9110 §15.3.7: a 206 of another version",
                replies: [
                    ScriptedReply(206, ["ETag: \"b\"", "Content-Range: bytes 60000-69999/70000"], body: [1]),
                    ScriptedReply(200, ["ETag: \"b\""], body: other),
                ]),
            Refusal(
                testDescription: "9110 §15.5.17: 416",
                replies: [
                    ScriptedReply(416, ["Content-Range: bytes */10"]), ScriptedReply(200, ["ETag: \"b\""], body: other),
                ]),
            Refusal(
                testDescription: "9110 §15.5.13: 412",
                replies: [ScriptedReply(412), ScriptedReply(200, ["ETag: \"b\""], body: other)]),
        ])
    func startsOver(_ refusal: Refusal) throws {
        let world = try HTTPCacheWorld()
        let first = ScriptedReply(200, ["ETag: \"a\""], body: sent("/x", 100_000), cut: 60_000)
        world.server.script("s", first)
        #expect(try run(world, "/script/s").error?.code == .truncatedBody)
        for reply in refusal.replies { world.server.script("s", reply) }
        let result = try run(world, "/script/s")
        #expect(result.error == nil && result.array == Self.other && result.httpStatus == 200)
        #expect(world.server.requests.count == 1 + refusal.replies.count)
        #expect(world.server.requests.last?.header("Range") == nil || refusal.replies.count == 1)
        #expect(world.cache.counters[.resumedBytes] == 0)
    }

    @Test(
        "9110 §8.8.1, 9111 §5.2.2.5: no part is kept of a body that could not be joined or must not be stored",
        arguments: [
            ([], []), (["ETag: W/\"a\""], []), (["ETag: \"a\"", "Accept-Ranges: none"], []),
            (["ETag: \"a\"", "Cache-Control: no-store"], []), (["ETag: \"a\""], ["Cache-Control: no-store"]),
            (["ETag: \"a\"", "Vary: *"], []),
        ] as [([String], [String])])
    func keepsNoPart(_ fields: [String], _ asked: [String]) throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, fields, body: sent("/x", 100_000), cut: 60_000))
        #expect(try run(world, "/script/s", asked).error?.code == .truncatedBody)
        #expect(try world.disk.store.parts.open(world.server.url("/script/s")) == nil)
        world.server.script("s", ScriptedReply(200, fields, body: Self.other))
        #expect(try run(world, "/script/s", asked).array == Self.other)
        #expect(world.server.requests.last?.header("Range") == nil)
    }

    @Test("9110 §14.2: nothing is resumed unless the request asks for that")
    func resumesOnlyOnRequest() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, ["ETag: \"a\""], body: sent("/x", 100_000), cut: 60_000))
        #expect(try world.run(world.request("/script/s")).error?.code == .truncatedBody)
        world.server.script("s", ScriptedReply(200, ["ETag: \"a\""], body: Self.other))
        #expect(try world.run(world.request("/script/s")).array == Self.other)
        #expect(world.server.requests.last?.header("Range") == nil)
    }

    @Test("Z17: a cancelled body leaves its part")
    func keepsThePartOfACancelledBody() throws {
        let world = try HTTPCacheWorld()
        let target = "/hold/h?after=60000&size=100000&header=ETag:%20%22v1%22"
        let callbacks = RecordingCallbacks()
        var request = try world.request(target, wishes: Self.wishes)
        request.wantsProgress = true
        let token = world.downloader.submit(.success(request), callbacks: callbacks)
        #expect(callbacks.waitForProgress(3))
        #expect(world.downloader.cancel(try #require(token)) != nil)
        _ = try world.end(of: callbacks)
        // A request before the part is stored asks for the whole body.
        settle(world)
        world.server.release("h")
        let second = try run(world, target)
        // This server does not support ranges, so the whole body is new.
        #expect(second.array == sent(target, 100_000))
        #expect(world.server.requests.last?.header("Range")?.hasPrefix("bytes=") == true)
    }
}

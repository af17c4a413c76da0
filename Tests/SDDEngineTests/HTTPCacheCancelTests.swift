import SDDBase
import SDDCaches
import TestSupport
import Testing

@testable import SDDEngine

/// A request of the HTTP cache is cancelled at each of its stages: it ends at once, and leaves nothing behind that
/// would affect the next request.
@Suite struct HTTPCacheCancelTests {
    private let fresh = ["Cache-Control: max-age=3600", "ETag: \"a\""]

    /// Blocks both disk threads until the gate is opened.
    private func block(_ disk: DiskCache) -> (entered: TestSupport.Expectation, gate: TestSupport.Expectation) {
        let (entered, gate) = (Expectation(count: 2), Expectation())
        for _ in 0..<2 {
            disk.read {
                entered.fulfil()
                _ = gate.wait()
            }
        }
        return (entered, gate)
    }

    private func cancelled(_ world: HTTPCacheWorld, _ callbacks: RecordingCallbacks, _ token: UInt64?) throws {
        #expect(world.downloader.cancel(try #require(token)) != nil)
        #expect(try world.end(of: callbacks).error?.code == .cancelled)
    }

    /// Checks that the next request works normally.
    private func isUnharmed(_ world: HTTPCacheWorld, requests: Int) throws {
        world.server.script("s", ScriptedReply(200, fresh, body: [7]))
        #expect(try world.run(world.request("/script/s")).array == [7])
        #expect(try world.run(world.request("/script/s")).origin == .httpFresh)
        #expect(world.server.requests.count == requests)
    }

    @Test("during the lookup: the server is not asked")
    func duringTheLookup() throws {
        let world = try HTTPCacheWorld(shareWait: 30_000_000)
        let (entered, gate) = block(world.disk)
        #expect(entered.wait())
        let callbacks = RecordingCallbacks()
        let token = world.downloader.submit(.success(try world.request("/script/s")), callbacks: callbacks)
        try cancelled(world, callbacks, token)
        #expect(callbacks.record.results.first?.error?.detail == .cancelledCache)
        // Nothing is read either: when both threads have come to the next work, the disk was not asked.
        gate.fulfil()
        let (drained, end) = block(world.disk)
        #expect(drained.wait() && world.cache.counters[.diskMisses] == 0)
        end.fulfil()
        try isUnharmed(world, requests: 1)
    }

    @Test("one of two during the lookup: the other continues")
    func oneOfTwoDuringTheLookup() throws {
        let world = try HTTPCacheWorld()
        let (entered, gate) = block(world.disk)
        #expect(entered.wait())
        world.server.script("s", ScriptedReply(200, fresh, body: [1]))
        let recorders = [RecordingCallbacks(), RecordingCallbacks()]
        let tokens = try recorders.map {
            world.downloader.submit(.success(try world.request("/script/s")), callbacks: $0)
        }
        #expect(world.downloader.cancel(try #require(tokens[0])) != nil)
        gate.fulfil()
        #expect(try world.end(of: recorders[0]).error?.code == .cancelled)
        #expect(try world.end(of: recorders[1]).array == [1])
        #expect(world.server.requests.count == 1)
    }

    @Test("in the queue")
    func inTheQueue() throws {
        let world = try HTTPCacheWorld(shareWait: 30_000_000) { $0.maxConcurrentDownloads = 1 }
        let first = RecordingCallbacks()
        _ = world.downloader.submit(.success(try world.request("/hold/h")), callbacks: first)
        #expect(world.server.waitForRequests("/hold/h"))
        let callbacks = RecordingCallbacks()
        let token = world.downloader.submit(.success(try world.request("/script/s")), callbacks: callbacks)
        while world.downloader.currentDownloadCount < 2 { #expect(world.flush()) }
        try cancelled(world, callbacks, token)
        world.server.release("h")
        _ = try world.end(of: first)
        try isUnharmed(world, requests: 2)
    }

    @Test("before the header: the right to download is released")
    func beforeTheHeader() throws {
        let world = try HTTPCacheWorld(shareWait: 30_000_000)
        world.server.script("s", ScriptedReply(200, fresh, body: [1], gate: "s"))
        let callbacks = RecordingCallbacks()
        let token = world.downloader.submit(.success(try world.request("/script/s")), callbacks: callbacks)
        #expect(world.server.waitForRequests("/script/s"))
        try cancelled(world, callbacks, token)
        try isUnharmed(world, requests: 2)
    }

    @Test("in the middle of the body: nothing is stored")
    func inTheBody() throws {
        let world = try HTTPCacheWorld(shareWait: 30_000_000)
        let target = "/hold/h?after=100&size=1000&header=Cache-Control:%20max-age=3600"
        let callbacks = RecordingCallbacks()
        var request = try world.request(target)
        request.wantsProgress = true
        let token = world.downloader.submit(.success(request), callbacks: callbacks)
        #expect(callbacks.waitForProgress(3))
        try cancelled(world, callbacks, token)
        world.server.release("h")
        #expect(try world.run(world.request(target)).origin == .network)
        #expect(try world.run(world.request(target)).origin == .httpFresh)
    }

    @Test("during the revalidation: the stored response stays")
    func duringTheRevalidation() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, ["ETag: \"a\""], body: [1]), ScriptedReply(304, gate: "s"))
        _ = try world.run(world.request("/script/s"))
        let callbacks = RecordingCallbacks()
        let token = world.downloader.submit(.success(try world.request("/script/s")), callbacks: callbacks)
        #expect(world.server.waitForRequests("/script/s", count: 2))
        try cancelled(world, callbacks, token)
        world.server.script("s", ScriptedReply(304))
        #expect(try world.run(world.request("/script/s")).origin == .httpRevalidated)
    }

    @Test("a background revalidation delays neither a stale hit nor destroying")
    func destroyDuringTheRevalidation() throws {
        let world = try HTTPCacheWorld()
        let window = ["Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""]
        world.server.script("s", ScriptedReply(200, window, body: [1]), ScriptedReply(304, gate: "s"))
        _ = try world.run(world.request("/script/s"))
        world.time.pass(seconds: 100)
        #expect(try world.run(world.request("/script/s")).origin == .httpStale)
        #expect(world.server.waitForRequests("/script/s", count: 2))
        world.end()
    }
}

import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Several requests at once: a fresh hit waits for nothing, and equal requests share one lookup and one transfer.
@Suite struct HTTPCacheSharingTests {
    private let fresh = ["Cache-Control: max-age=3600"]

    @Test("9111 §4: a fresh hit does not wait for downloads that take every slot")
    func doesNotWaitInTheQueue() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, fresh, body: [1]))
        _ = try world.run(world.request("/script/s"))
        let slow = (0..<6).map { _ in RecordingCallbacks() }
        for (number, callbacks) in slow.enumerated() {
            _ = world.downloader.submit(.success(try world.request("/hold/\(number)")), callbacks: callbacks)
        }
        #expect(world.server.wait { $0.active == 6 })
        #expect(world.downloader.currentDownloadCount == 6)
        #expect(try world.run(world.request("/script/s")).origin == .httpFresh)
        #expect(slow.allSatisfy { $0.record.results.isEmpty })
        world.server.release("*")
        for callbacks in slow { #expect(try world.end(of: callbacks).error == nil) }
    }

    @Test("Two requests during the lookup: one lookup, one transfer")
    func looksUpOnceForTwo() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, fresh, body: [1], gate: "s"))
        let recorders = (0..<2).map { _ in RecordingCallbacks() }
        for callbacks in recorders {
            _ = world.downloader.submit(.success(try world.request("/script/s")), callbacks: callbacks)
        }
        #expect(world.server.waitForRequests("/script/s"))
        world.server.release("s")
        for callbacks in recorders { #expect(try world.end(of: callbacks).array == [1]) }
        #expect(world.server.requests.count == 1)
        #expect(world.cache.counters[.httpMisses] == 1)
    }

    @Test("Two requests of which one does not use the cache are two transfers")
    func looksUpSeparatelyForDifferentOptions() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, fresh, body: [1]), ScriptedReply(200, fresh, body: [1]))
        let recorders = (0..<2).map { _ in RecordingCallbacks() }
        _ = world.downloader.submit(.success(try world.request("/script/s")), callbacks: recorders[0])
        _ = world.downloader.submit(.success(try world.request("/script/s", wishes: [])), callbacks: recorders[1])
        for callbacks in recorders { #expect(try world.end(of: callbacks).array == [1]) }
        #expect(world.server.requests.count == 2)
    }

    @Test("5861 §3: many stale hits at once cause one revalidation")
    func revalidatesOnceForMany() throws {
        let world = try HTTPCacheWorld()
        let window = ["Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""]
        world.server.script("s", ScriptedReply(200, window, body: [1]))
        _ = try world.run(world.request("/script/s"))
        world.time.pass(seconds: 100)
        world.server.script("s", ScriptedReply(304, gate: "s"))
        for _ in 0..<10 { #expect(try world.run(world.request("/script/s")).origin == .httpStale) }
        #expect(world.server.waitForRequests("/script/s", count: 2))
        world.server.release("s")
        #expect(world.waitForStops(2))
        #expect(try world.run(world.request("/script/s")).origin == .httpFresh)
        #expect(world.server.requests.count == 2)
    }

    @Test("5861 §3: the revalidation exists before the stale hit is delivered")
    func revalidatesBeforeItDelivers() throws {
        let world = try HTTPCacheWorld()
        let window = ["Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""]
        world.server.script("s", ScriptedReply(200, window, body: [1]), ScriptedReply(304))
        _ = try world.run(world.request("/script/s"))
        world.time.pass(seconds: 100)
        // when: delivered on the thread that decides it, which does nothing else meanwhile
        let counts = Recorder<Int64>()
        let callbacks = RecordingCallbacks(onCompleted: { [downloader = world.downloader] _ in
            counts.record(downloader.statistics.requests)
        })
        _ = world.downloader.submit(
            .success(try world.request("/script/s")), callbacks: callbacks, isImmediate: true)
        // then
        #expect(try world.end(of: callbacks).origin == .httpStale)
        #expect(counts.all == [3])
        #expect(world.waitForStops(2))
    }

    @Test("Two caches on one directory: one of them downloads, the other uses the stored response")
    func downloadsOnceForTwoProcesses() throws {
        let first = try HTTPCacheWorld(shareWait: 30_000_000)
        let second = try HTTPCacheWorld(folder: first.folder, server: first.server, shareWait: 30_000_000)
        first.server.script("s", ScriptedReply(200, fresh, body: [1], gate: "s"))
        let recorders = [RecordingCallbacks(), RecordingCallbacks()]
        _ = first.downloader.submit(.success(try first.request("/script/s")), callbacks: recorders[0])
        #expect(first.server.waitForRequests("/script/s"))
        _ = second.downloader.submit(.success(try second.request("/script/s")), callbacks: recorders[1])
        first.server.release("s")
        #expect(try first.end(of: recorders[0]).origin == .network)
        #expect(try second.end(of: recorders[1]).origin == .httpFresh)
        #expect(first.server.requests.count == 1)
        second.end()
    }

    @Test("Bytes are on disk once: the picture cache finds what the HTTP cache stored, under the URL")
    func sharesTheDiskWithThePictureCache() throws {
        let world = try HTTPCacheWorld()
        let picture = try Fixtures.array("png/size-17x3.png")
        world.server.script("s.png", ScriptedReply(200, fresh + ["Content-Type: image/png"], body: picture))
        _ = try world.run(world.request("/script/s.png", pixels: true))
        #expect(world.flush())
        let found = try #require(world.picture(at: "/script/s.png"))
        #expect(found.body.map { Array($0.pointer) } == picture)
        #expect(try found.picture(in: .init()).width == 17)
        let totals = try #require(world.disk.totals)
        #expect(totals.count == 1)
        #expect(world.server.requests.count == 1)
    }

    @Test("A picture that the application stores under a URL is no HTTP response: the server is asked")
    func doesNotServeWhatTheApplicationStored() throws {
        let world = try HTTPCacheWorld()
        let item = CacheItem(
            key: world.server.url("/script/s"), image: nil, bytes: try Sample.body([9]), extended: nil, levels: .disk)
        #expect(world.cache.storeNow(item) == nil)
        world.server.script("s", ScriptedReply(200, fresh, body: [1]))
        #expect(try world.run(world.request("/script/s")).array == [1])
    }
}

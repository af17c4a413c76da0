import SDDBase
import SDDCaches
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Whole loads: sharing of transfers, and storing.
@Suite struct LoaderTests {
    private let world: LoaderWorld
    private static let picture = "png/rgb8.png"  // 19 x 13
    private static let other = "jpeg/baseline-420.jpg"  // 37 x 29
    private static let small = DecodeOptions(size: SizeRule(width: 8, height: 8))
    private static let smaller = DecodeOptions(size: SizeRule(width: 4, height: 4))

    init() throws { world = try LoaderWorld() }

    // MARK: Sharing

    @Test("B6 M14: ten loads of one URL in three sizes: one transfer, one original on disk, three decodes")
    func tenLoadsShareOneTransfer() throws {
        let forms = [DecodeOptions(), Self.small, Self.smaller]
        let recorders = try (0..<10).map { try world.submit("a", forms[$0 % 3]) }
        #expect(world.waits { world.downloader.statistics.joined == 9 })
        let transfers = world.transport.started()
        try #require(transfers.count == 1)
        world.transport.answer(transfers[0], with: try Fixtures.array(Self.picture))
        var images: [Image] = []
        for (number, callbacks) in recorders.enumerated() {
            let end = try #require(LoaderWorld.end(of: callbacks))
            images += [try #require(end.image)]
            #expect(end.error == nil && end.origin == .network)
            #expect(end.image?.width == [19, 8, 4][number % 3])
        }
        #expect(world.downloader.statistics.joined == 9)
        // Decoded once for each size, in one pass over the body.
        #expect(Set(images.map { ObjectIdentifier($0) }).count == 3)
        #expect(world.downloader.statistics.imagesDecoded == 1)
        #expect(try world.onDisk("a") == Fixtures.array(Self.picture))
        // The original is stored once, and so is each of the two pictures made from it.
        #expect(world.written == 3)
        #expect(world.loader.runningCount == 0)
    }

    @Test("a late joiner of another size shares the transfer, and is stored too") func aLateJoiner() throws {
        let first = try world.submit("a")
        let id = try #require(world.nextTransfer())
        world.transport.respond(id)
        let second = try world.submit("a", Self.small)
        #expect(world.waits { world.downloader.statistics.joined == 1 })
        #expect(world.transport.started().isEmpty)
        world.transport.finish(id, with: try Fixtures.array(Self.picture))
        #expect(LoaderWorld.end(of: first)?.image?.width == 19 && LoaderWorld.end(of: second)?.image?.width == 8)
        #expect(world.written == 2)
        #expect(try world.load("a", Self.other, Self.small).origin == .memory)
    }

    @Test("B6: a missing size is made from the original on disk, without the network")
    func aSizeIsMadeFromTheOriginal() throws {
        _ = try world.load("a", Self.picture)
        let end = try world.load("a", Self.other, Self.small)
        #expect(end.origin == .disk && end.image?.width == 8)
        #expect(world.downloader.statistics.transfersStarted == 1)
        #expect(try world.load("a", Self.other, Self.small).origin == .memory)
    }

    @Test("each cache gets the original once, also where their loads share a transfer")
    func eachCacheGetsTheOriginal() throws {
        let second = try CacheFixture()
        let first = try world.submit("a")
        var plan = try world.plan("a")
        plan.lookup = nil
        plan.store = LoadPlan.Store(
            cache: second.cache, key: "mine", levels: .all, isMade: false,
            original: OriginalKeeper(second.cache, key: "mine"))
        let callbacks = RecordingCallbacks()
        _ = try #require(world.loader.submit(plan, callbacks: callbacks))
        #expect(world.waits { world.downloader.statistics.joined == 1 })
        world.transport.answerAll(with: try Fixtures.array(Self.picture))
        #expect(LoaderWorld.end(of: first)?.error == nil && LoaderWorld.end(of: callbacks)?.error == nil)
        #expect(world.downloader.statistics.transfersStarted == 1 && world.written == 1)
        #expect(second.disk.flush(milliseconds: -1) && second.disk.read("mine") != nil)
        #expect(second.cache.counters[.entriesWritten] == 1)
    }

    // MARK: Storing

    @Test("M21: a load that waits for the store ends when the entry is on disk", arguments: [DecodeOptions(), small])
    func aLoadThatWaitsForTheStore(form: DecodeOptions) throws {
        let disk = world.fixture.disk
        let key = try #require(world.plan("a", form).store?.key)
        let found = Recorder<Bool>()
        let callbacks = try world.submit("a", form, .waitStoreCache) { _ in found.record(disk.read(key) != nil) }
        #expect(try world.answerNext(with: Fixtures.array(Self.picture)))
        let end = try #require(LoaderWorld.end(of: callbacks))
        #expect(end.error == nil && end.timings.store > 0 && end.timings.total >= end.timings.store)
        #expect(found.wait(count: 1) == [true])
    }

    @Test("Z12: a body that is no picture is not stored, and its URL is blocked")
    func aBodyThatIsNoPictureIsNotStored() throws {
        let callbacks = try world.submit("a")
        #expect(world.answerNext(with: [1, 2, 3]))
        #expect(LoaderWorld.end(of: callbacks)?.error?.code == .badImageData)
        #expect(world.written == 0 && world.loader.isBlocked("a"))
        #expect(LoaderWorld.end(of: try world.submit("a"))?.error?.code == .blocked)
        #expect(world.transport.started().isEmpty)
    }

    // MARK: Refreshes

    @Test("M12: without validators a refresh compares bytes: equal bytes are not delivered, others are stored")
    func aRefreshComparesBytes() throws {
        _ = try world.load("a", Self.picture)
        #expect(world.written == 1)
        let same = try world.submit("a", DecodeOptions(), .refreshCached)
        #expect(try world.answerNext(with: Fixtures.array(Self.picture)))
        #expect(LoaderWorld.end(of: same)?.error?.code == .notModified)
        #expect(same.record.cached.map(\.origin) == [.memory] && !same.record.calledAfterRelease)
        #expect(try world.onDisk("a") == Fixtures.array(Self.picture))
        let changed = try world.submit("a", DecodeOptions(), .refreshCached)
        #expect(try world.answerNext(with: Fixtures.array(Self.other)))
        #expect(LoaderWorld.end(of: changed)?.image?.width == 37)
        #expect(changed.record.cached.first?.image?.width == 19)
        #expect(try world.onDisk("a") == Fixtures.array(Self.other))
        #expect(try world.load("a", Self.picture).image?.width == 37)
    }

    @Test("M12: equal bytes leave the entry with the application's data")
    func aRefreshKeepsTheApplicationsData() throws {
        let key = "http://host/a"
        let item = CacheItem(
            key: key, image: nil, bytes: try Fixtures.bytes(Self.picture), extended: try Sample.body([9]), levels: .disk
        )
        #expect(world.fixture.cache.storeNow(item) == nil)
        let callbacks = try world.submit("a", DecodeOptions(), .refreshCached)
        #expect(try world.answerNext(with: Fixtures.array(Self.picture)))
        #expect(LoaderWorld.end(of: callbacks)?.error?.code == .notModified)
        #expect(world.written == 1 && world.fixture.disk.read(key)?.metadata.user == [9])
    }

    @Test("M12: a refresh stores at the levels of its load, and not past them")
    func aRefreshStoresAtTheGivenLevels() throws {
        _ = try world.load("a", Self.picture)
        var plan = try world.plan("a", DecodeOptions(), .refreshCached)
        plan.store = nil
        let callbacks = RecordingCallbacks()
        _ = try #require(world.loader.submit(plan, callbacks: callbacks))
        #expect(try world.answerNext(with: Fixtures.array(Self.other)))
        #expect(LoaderWorld.end(of: callbacks)?.image?.width == 37)
        #expect(try world.onDisk("a") == Fixtures.array(Self.picture))
    }

    @Test("M12: a refresh that fails leaves the cached picture") func aRefreshThatFails() throws {
        _ = try world.load("a", Self.picture)
        let callbacks = try world.submit("a", Self.small, .refreshCached)
        #expect(world.answerNext(with: [1, 2, 3], status: 404))
        #expect(LoaderWorld.end(of: callbacks)?.error?.code == .invalidStatusCode)
        #expect(callbacks.record.cached.map { $0.image?.width } == [8])
        #expect(try world.load("a", Self.other, DecodeOptions(), .retryFailed).origin == .memory)
        #expect(try world.onDisk("a") == Fixtures.array(Self.picture))
    }

    // MARK: Between stages

    @Test("a picture that another load has brought into memory meanwhile is not downloaded again")
    func aPictureFoundMeanwhileIsNotDownloaded() throws {
        let world = try LoaderWorld(consults: true)
        let first = try world.submit("a")
        let id = try #require(world.nextTransfer())
        let body = try Fixtures.array(Self.picture)
        world.hooks.onConsult = { [transport = world.transport] in
            transport.answer(id, with: body)
            return LoaderWorld.end(of: first) != nil
        }
        let second = try world.submit("a")
        #expect(LoaderWorld.end(of: second)?.origin == .memory)
        #expect(world.downloader.statistics.transfersStarted == 1)
    }

    @Test("K1: a load that is cancelled while the application is asked starts nothing, and ends once")
    func cancelledWhileTheApplicationIsAsked() throws {
        let world = try LoaderWorld(consults: true)
        world.hooks.onConsult = { [loader = world.loader] in
            loader.cancelAll()
            return true
        }
        let callbacks = try world.submit("a")
        #expect(LoaderWorld.end(of: callbacks)?.error?.code == .cancelled)
        #expect(world.transport.started().isEmpty && world.loader.runningCount == 0)
        #expect(world.downloader.statistics.cancelled == 1)
    }

    /// Submits a load whose lookup waits for the disk.
    private func submitWaiting(_ path: String, limit: Int64 = 0) throws -> (RecordingCallbacks, token: UInt64) {
        var plan = try world.plan(path)
        plan.totalLimit = limit
        let callbacks = RecordingCallbacks()
        return (callbacks, try #require(world.loader.submit(plan, callbacks: callbacks)))
    }

    @Test("Z6 M16: while the disk hangs, a load still ends at its limit, and another is cancelled at once")
    func aDiskThatHangs() throws {
        // given: both threads of the disk are busy, and three loads wait for the same lookup
        let (areReading, mayGoOn) = (Expectation(count: 2), Expectation())
        for key in ["other", "another"] {
            world.fixture.disk.read(key) { _ in
                areReading.fulfil()
                _ = mayGoOn.wait()
            }
        }
        #expect(areReading.wait())
        let (first, _) = try submitWaiting("a")
        let (limited, _) = try submitWaiting("a", limit: 1000)
        let (cancelled, token) = try submitWaiting("a")
        // when
        #expect(world.loader.cancel(token) != nil && world.loader.cancel(token) == nil)
        let end = SystemTime().monotonicMicroseconds() + 30_000_000
        while limited.record.results.isEmpty, SystemTime().monotonicMicroseconds() < end { world.transport.turn() }
        // then
        #expect(LoaderWorld.end(of: limited)?.error?.detail == .timeoutTotal)
        #expect(LoaderWorld.end(of: cancelled)?.error?.detail == .cancelledCache)
        #expect(first.record.results.isEmpty && world.loader.runningCount == 1)
        mayGoOn.fulfil()
        #expect(world.answerNext(with: try Fixtures.array(Self.picture)))
        #expect(LoaderWorld.end(of: first)?.origin == .network)
        #expect(world.transport.started().isEmpty && world.loader.runningCount == 0)
    }

    @Test("a downloader that is destroyed ends its loads") func aDestroyedDownloaderEndsItsLoads() throws {
        let recorders = try (0..<3).map { try world.submit("\($0)") }
        world.destroy()
        #expect(recorders.allSatisfy { $0.record.results.map { $0.error?.code } == [.cancelled] })
        #expect(world.loader.runningCount == 0)
        #expect(try world.loader.submit(world.plan("late"), callbacks: RecordingCallbacks()) == nil)
    }
}

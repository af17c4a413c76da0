import SDDBase
import SDDCaches
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Loads that memory answers before anything is made for a download.
@Suite struct SimpleLoadTests {
    private let world: LoaderWorld
    private var caches: LoadCaches { LoadCaches(images: world.fixture.cache, originals: world.fixture.cache) }

    init() throws { world = try LoaderWorld() }

    private func search(
        _ path: String = "a", _ options: RequestOptions = [], _ form: DecodeOptions = DecodeOptions(),
        _ change: (inout RequestDefaults) -> Void = { _ in }
    ) throws -> MemorySearch? {
        var defaults = RequestDefaults()
        change(&defaults)
        let url = try Sample.url(path.contains(":") ? path : "http://host/\(path)")
        return defaults.searchAhead(options, form, caches, url)
    }

    private func answer(_ search: MemorySearch) throws -> DownloadResult? {
        let callbacks = RecordingCallbacks()
        guard let token = world.loader.submit(search, callbacks: { callbacks }) else { return nil }
        let end = try #require(LoaderWorld.end(of: callbacks))
        #expect(callbacks.record.token == token)
        return end
    }

    @Test func memoryAnswersLikeTheWholeLoad() throws {
        // given
        let small = DecodeOptions(size: SizeRule(width: 8, height: 8))
        for form in [DecodeOptions(), small] {
            _ = try world.load("a", "png/rgb8.png", form)
            let whole = try world.load("a", "png/rgb8.png", form)
            // when
            let search = try #require(try search("a", [], form))
            let end = try #require(try answer(search))
            // then
            #expect(end.image === whole.image && end.origin == .memory && end.error == nil)
            #expect((end.bytes == nil) == (form == small) && end.failures.isEmpty && !end.isTransformed)
        }
    }

    @Test func nothingInMemoryIsNoAnswerAndIsNotSearchedAgain() throws {
        // given
        let search = try #require(try search())
        // when
        let end = try answer(search)
        // then
        #expect(end == nil && search.known?.ready == nil)
        #expect(world.fixture.cache.memory?.counts.misses == 1)
        let lookup = ImageCacheLookup(
            search, levels: .memory, originals: ImageCacheLookup.Originals(world.fixture.cache, []), wantsImage: true,
            wantsBytes: false, keepsInMemory: true, hashKey: 1)
        guard case .done(nil) = lookup.firstStep() else { return #expect(Bool(false)) }
        #expect(world.fixture.cache.memory?.counts.misses == 1)
    }

    @Test func otherLoadsAreNotSimple() throws {
        for options in [.bytesOnly, .refreshCached, .fromLoaderOnly, .useHTTPCache, .queryMemoryData, .handleCookies]
            as [RequestOptions]
        {
            #expect(try search("a", options) == nil)
        }
        #expect(try search("http://me@host/a") == nil)
        #expect(try search("a", []) { $0.usesHTTPCache = true } == nil)
        #expect(try search("a", .retryFailed) != nil)
    }

    @Test func aClosedDownloaderRefuses() throws {
        // given
        _ = try world.load("a", "png/rgb8.png")
        let search = try #require(try search())
        // when
        world.downloader.close(cancels: false)
        // then
        #expect(try answer(search)?.error == .closed)
        world.destroy()
        #expect(world.loader.submit(search) { RecordingCallbacks() } == .some(nil))
    }
}

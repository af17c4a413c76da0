import SDDBase
import SDDCaches
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// An image cache with both levels, on a real disk.
@Suite struct ImageCacheTests {
    private let fixture: CacheFixture
    private var cache: ImageCache { fixture.cache }

    init() throws { fixture = try CacheFixture() }

    private func item(
        _ key: String = "http://h/a.png", _ image: Image? = nil, bytes: Bytes? = nil, extended: Bytes? = nil,
        _ levels: CacheLevels = .all
    ) -> CacheItem {
        CacheItem(key: key, image: image, bytes: bytes, extended: extended, levels: levels)
    }

    /// Makes an image of 3 x 2 pixels that were never encoded.
    private func image(_ format: PixelFormat = .rgba8, filled: UInt8 = 0xFF, of encoded: ImageFormat? = nil) throws
        -> Image
    {
        let pixels = try #require(PixelBuffer(width: 3, height: 2, format: format))
        pixels.base.initializeMemory(as: UInt8.self, repeating: filled, count: pixels.stride * pixels.height)
        return Image(pixels: pixels, format: encoded, bytes: nil)
    }

    private func decoded(_ name: String, _ form: DecodeOptions = DecodeOptions()) throws -> Image {
        let made = try DecoderSet(registry: .builtIn).decode(
            Fixtures.bytes(name), forms: [form], limits: DecodeLimits())
        return try #require(made.first).image.get()
    }

    private func onDisk(_ key: String) -> StoredEntry? { fixture.disk.read(key) }

    // MARK: Levels

    @Test(arguments: [CacheLevels.memory, .disk, .all])
    func storesAtTheGivenLevels(levels: CacheLevels) throws {
        // when
        let made = try image()
        #expect(cache.storeNow(item("k", made, levels)) == nil)
        // then
        #expect(cache.contains("k", .all) == levels)
        #expect(cache.contains("k", .disk) == levels.intersection(.disk))
        #expect((cache.image(for: "k") === made) == levels.contains(.memory))
        cache.remove("k", levels)
        #expect(cache.contains("k", .all).isEmpty && fixture.disk.flush(milliseconds: -1))
    }

    @Test func oneLevelIsClearedAndTheOtherNot() throws {
        let made = try image()
        for levels in [CacheLevels.memory, .disk] {
            #expect(cache.storeNow(item("k", made)) == nil)
            cache.clear(levels)
            #expect(cache.contains("k", .all) == CacheLevels.all.subtracting(levels))
        }
    }

    @Test("the table of live images: an image that the application holds is found again, whatever the limits")
    func anImageThatTheApplicationHoldsIsFound() throws {
        // given
        let held = try image()
        cache.store(item("held", held, .memory)) { _ in }
        cache.store(item("let go", try image(), .memory)) { _ in }
        // when
        cache.memory?.trim(.critical)
        // then
        #expect(cache.image(for: "held") === held && cache.image(for: "let go") == nil)
    }

    @Test func previewsAndPartialPicturesAreNotStored() throws {
        let pixels = try #require(PixelBuffer(width: 3, height: 2, format: .rgba8))
        cache.storeInMemory(Image(pixels: pixels, format: .png, bytes: nil, isPreview: true), for: "preview")
        cache.storeInMemory(Image(pixels: pixels, format: .png, bytes: nil, goodRows: 1), for: "part")
        #expect(cache.contains("preview", .all).isEmpty && cache.contains("part", .all).isEmpty)
    }

    @Test("bytes stored without an image remove the image in memory")
    func bytesAloneRemoveTheImage() throws {
        let held = try image()
        #expect(cache.storeNow(item("k", held)) == nil)
        #expect(cache.storeNow(item("k", bytes: try Sample.body([1, 2]))) == nil)
        #expect(cache.image(for: "k") == nil && onDisk("k")?.body.count == 2)
    }

    // MARK: Vary

    @Test("9111 §4.1: the Vary of redirects selects a picture, too")
    func redirectsSelectWhatIsBehindThem() {
        let (anna, bob) = (Sample.person("anna"), Sample.person("bob"))
        let response = Response(status: 200, redirectsVary: ["X-Person"])
        let selection = cache.selection(varyOf: response, anna)
        #expect(selection?.selects(anna, cache.secret) == true && selection?.selects(bob, cache.secret) == false)
        #expect(cache.selection(varyOf: Response(status: 200), anna) == nil)
    }

    @Test("a picture that Vary selects is not given to the application's store, and replaces an older one there")
    func selectedPicturesStayOutOfTheApplicationsStore() throws {
        // given
        let store = ApplicationsStore()
        let cache = ImageCache(memory: nil, images: store, disk: nil, counters: CacheCounters())
        cache.storeInMemory(try image(), for: "k")
        #expect(store.keys == ["k"])
        // when
        let selected = try image()
        selected.keep(for: try Sample.body([1]))
        cache.storeInMemory(selected, for: "k")
        // then
        #expect(store.keys.isEmpty)
    }

    // MARK: Cost

    @Test func anImageCostsItsPixelsAndItsBytes() throws {
        let made = try image()
        #expect(try made.memoryCost == made.decoded().stride * 2)
        let read = try decoded("png/rgb8.png", DecodeOptions())
        #expect(try read.memoryCost == read.decoded().byteCount + #require(read.bytes).count)
        let small = try decoded("png/rgb8.png", DecodeOptions(size: SizeRule(width: 5)).withOwnBytesAlone)
        #expect(try small.bytes == nil && small.memoryCost == small.decoded().byteCount)
    }

    @Test("I13: an animation costs all its frames that are decoded or cached")
    func anAnimationCostsAllItsFrames() throws {
        var form = DecodeOptions()
        form.frames = .preload
        let preloaded = try decoded("frames/every-operation.png", form)
        let played = try decoded("frames/every-operation.png", DecodeOptions())
        let still = try #require(played.bytes).count + played.decoded().byteCount
        let frame = preloaded.width * preloaded.height * 4
        #expect(preloaded.frameCount > 1)
        // The first frame has the pixels of the picture itself.
        #expect(preloaded.memoryCost == still + frame * (preloaded.frameCount - 1))
        #expect(played.memoryCost == still)
        for index in 0..<played.frameCount { _ = try played.frame(index) }
        // The cost includes the covered pixels that are restored later.
        #expect(played.memoryCost >= still + frame * played.frameCount)
    }

    @Test("growth of an image is counted in the cache that keeps it, once")
    func growthIsCountedOnce() throws {
        let played = try decoded("frames/every-operation.png", DecodeOptions())
        for _ in 0..<3 { cache.storeInMemory(played, for: "k") }
        cache.storeInMemory(played, for: "l")
        let other = try image()
        cache.storeInMemory(other, for: "other")
        _ = try played.frame(3)
        #expect(cache.memory?.totalCost == 2 * played.memoryCost + other.memoryCost)
        // Its replacement does not cost more because of it.
        cache.storeInMemory(other, for: "k")
        _ = try played.frame(4)
        #expect(cache.memory?.totalCost == played.memoryCost + 2 * other.memoryCost)
    }

    @Test("pixels that are not decoded yet cost their later size, and the encoded bytes")
    func lazyPixelsCostTheirLaterSize() throws {
        var form = DecodeOptions(format: .rgb8, size: SizeRule(width: 8)).withOwnBytesAlone
        form.isLazy = true
        let lazy = try decoded("png/rgb8.png", form)
        cache.storeInMemory(lazy, for: "k")
        #expect(try cache.memory?.totalCost == lazy.width * lazy.height * 4 + Fixtures.array("png/rgb8.png").count)
        let pixels = try lazy.decoded()
        #expect(cache.memory?.totalCost == pixels.byteCount && lazy.memoryCost == pixels.byteCount)
    }

    // MARK: Storing on disk

    @Test func bytesAreStoredUnchanged() throws {
        let bytes = try Fixtures.bytes("png/rgb8.png")
        #expect(cache.storeNow(item("k", try image(), bytes: bytes)) == nil)
        let entry = try #require(onDisk("k"))
        #expect(entry.body.pointer.elementsEqual(bytes.pointer))
        #expect(entry.metadata.format == ImageFormat.png.rawValue)
    }

    @Test func anImagesBytesAreStored() throws {
        let made = try decoded("jpeg/baseline-420.jpg")
        #expect(cache.storeNow(item("k", made)) == nil)
        let entry = try #require(onDisk("k"))
        #expect(try Array(entry.body.pointer) == Fixtures.array("jpeg/baseline-420.jpg"))
        #expect(entry.metadata.format == ImageFormat.jpeg.rawValue)
    }

    @Test("a thumbnail is encoded anew, in the format of its original")
    func aThumbnailIsEncoded() throws {
        // given
        let made = try decoded("jpeg/baseline-420.jpg", DecodeOptions(size: SizeRule(width: 8, height: 8)))
        #expect(made.isScaled)
        // when
        #expect(cache.storeNow(item("k", made)) == nil)
        // then
        let entry = try #require(onDisk("k"))
        let facts = try ImageFacts(of: entry.body.pointer)
        #expect(facts.format == .jpeg && entry.metadata.format == ImageFormat.jpeg.rawValue)
        #expect((facts.width, facts.height) == (made.width, made.height))
    }

    @Test(
        "a thumbnail that was not turned keeps its orientation",
        arguments: ["facts/orientation-6.jpg", "facts/orientation-3.jpg", "facts/orientation.png"])
    func aThumbnailKeepsItsOrientation(name: String) throws {
        // given
        let form = DecodeOptions(isUpright: false, size: SizeRule(width: 9, height: 9))
        let made = try decoded(name, form)
        let orientation = try #require(made.facts?.orientation)
        #expect(made.isScaled && orientation > 1)
        // when
        #expect(cache.storeNow(item("k", made)) == nil)
        // then
        let body = try #require(onDisk("k")).body
        let found = try DecoderSet(registry: .builtIn).decode(body, forms: [form], limits: DecodeLimits())
        let again = try #require(found.first).image.get()
        #expect(again.facts?.orientation == orientation)
        #expect((again.width, again.height) == (made.width, made.height))
        #expect(again.format == made.format)
        if made.format == .png {
            #expect(try again.decoded().shows(made.decoded()))
        }
    }

    @Test(
        "I16: PNG for transparent images, otherwise JPEG; the image's own format comes first",
        arguments: [
            (UInt8(0xFF), ImageFormat?.none, ImageFormat.jpeg), (0x40, nil, .png), (0xFF, .png, .png),
            (0x40, .webp, .png), (0xFF, .webp, .jpeg), (0x40, .jpeg, .png), (0xFF, .jpeg, .jpeg),
        ])
    func rawPixelsAreEncoded(filled: UInt8, own: ImageFormat?, expected: ImageFormat) throws {
        #expect(cache.storeNow(item("k", try image(filled: filled, of: own))) == nil)
        let entry = try #require(onDisk("k"))
        #expect(try ImageFacts(of: entry.body.pointer).format == expected)
        #expect(entry.metadata.format == expected.rawValue)
    }

    @Test func anEmptyItemIsRefused() {
        #expect(cache.storeNow(item("k"))?.detail == .cacheNothing)
        #expect(cache.contains("k", .all).isEmpty)
    }

    @Test func theApplicationsBytesAreStoredWithIt() throws {
        let extended = try Sample.body([7, 0, 8])
        #expect(cache.storeNow(item("k", bytes: try Sample.body([1]), extended: extended)) == nil)
        #expect(onDisk("k")?.extended.map { Array($0.pointer) } == [7, 0, 8])
        #expect(cache.storeNow(item("k", bytes: try Sample.body([1]))) == nil)
        #expect(onDisk("k")?.extended == nil)
    }

    // MARK: The serializer

    @Test func theSerializerDecidesWhatIsStoredOnDisk() throws {
        // given
        let seen = Recorder<String>()
        let made = try Sample.body([5, 6])
        let fixture = try CacheFixture { image, bytes, key in
            seen.record("\(key) \(image != nil) \(bytes?.count ?? -1)")
            return key == "nothing" ? nil : made
        }
        // then
        #expect(fixture.cache.storeNow(item("a", try image())) == nil)
        #expect(fixture.cache.storeNow(item("b", bytes: try Sample.body([1]))) == nil)
        #expect(fixture.cache.storeNow(item("c", try image(), .memory)) == nil)
        #expect(seen.all == ["a true -1", "b false 1"])
        #expect(fixture.disk.read("a").map { Array($0.body.pointer) } == [5, 6])
        #expect(fixture.disk.read("c") == nil)
    }

    @Test("an image that it refuses is removed from disk, and kept in memory")
    func anImageThatTheSerializerRefusesIsRemoved() throws {
        // given
        let refuses = Monitor(false)
        let made = try Sample.body([5])
        let fixture = try CacheFixture { _, _, _ in refuses.withLock { $0 } ? nil : made }
        #expect(fixture.cache.storeNow(item("k", try image())) == nil)
        #expect(fixture.cache.contains("k", .all) == .all)
        // when
        refuses.withLock { $0 = true }
        #expect(fixture.cache.storeNow(item("k", try image())) == nil)
        // then
        #expect(fixture.cache.contains("k", .all) == .memory)
    }

    // MARK: The end

    @Test func aClosedCacheFindsNothingAndAnswersEveryCall() throws {
        // given
        let folder = try TemporaryFolder()
        let counters = CacheCounters()
        let store = try DiskStore(options: DiskOptions(directory: folder.path("cache")))
        let disk = try DiskCache.make(store, counters: counters, trimInterval: nil)
        let cache = ImageCache(memory: MemoryCache(), disk: disk, counters: counters)
        let held = try image()
        #expect(cache.storeNow(item("k", held)) == nil)
        // when
        cache.close()
        // then
        #expect(cache.image(for: "k") == nil && cache.contains("k", .all).isEmpty)
        #expect(cache.storeNow(item("k", held)) == nil && cache.contains("k", .all).isEmpty)
        cache.clear(.all)
        cache.remove("k", .all)
        let answers = Recorder<String>()
        let lookup = ImageCacheLookup(
            cache, key: "k", form: DecodeOptions(), levels: .all, wantsImage: true, wantsBytes: false)
        lookup.start(LookupContext(isOffline: false)) {
            answers.record("\($0)".hasPrefix("failed") ? "failed" : "found")
        }
        StoreLookup(cache, item("k", held)).start(LookupContext(isOffline: false)) { _ in answers.record("stored") }
        #expect(answers.all == ["failed", "stored"])
        // Entries stored before are still there for the next cache.
        #expect(try store.contains("k"))
    }
}

/// An application's memory level that keeps copies: the keys alone.
private final class ApplicationsStore: ImageStore {
    private let stored = Monitor<Set<String>>([])

    var keys: Set<String> { stored.withLock { $0 } }

    func image(for key: String) -> Image? { nil }
    func store(_ image: Image, cost: Int, for key: String) { stored.withLock { _ = $0.insert(key) } }
    func remove(_ key: String) { stored.withLock { _ = $0.remove(key) } }
    func removeAll() {}
    func trim(_ pressure: MemoryPressure) {}
}

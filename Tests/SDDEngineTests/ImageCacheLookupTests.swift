import SDDBase
import SDDCaches
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// The order of a lookup: in memory, on disk with its options, on disk as the original.
@Suite struct ImageCacheLookupTests {
    private let fixture: CacheFixture
    private static let key = "http://h/a.png"
    private static let thumbnail = DecodeOptions(size: SizeRule(width: 2, height: 2))

    init() throws { fixture = try CacheFixture() }

    private func lookup(
        _ form: DecodeOptions = DecodeOptions(), _ levels: CacheLevels = .all, image: Bool = true, bytes: Bool = false
    ) -> ImageCacheLookup {
        ImageCacheLookup(
            fixture.cache, key: Self.key, form: form, levels: levels, wantsImage: image, wantsBytes: bytes)
    }

    /// Looks up in both ways, which must give the same result.
    private func ask(_ lookup: ImageCacheLookup) throws -> CacheHit? {
        let findings = Recorder<LookupResult>()
        lookup.start(LookupContext(isOffline: false)) { findings.record($0) }
        let finding = try #require(findings.wait(count: 1)?.first)
        let now = lookup.finish(lookup.firstStep())
        switch finding {
        case .found(let found):
            #expect(found.origin == now?.origin && found.image === now?.image)
            #expect(found.body.map { Array($0.pointer) } == now?.body.map { Array($0.pointer) })
            return found
        case .failed(let error):
            #expect(error.code == .notCached && now == nil)
            return nil
        case .network, .turn, .busy, .done:
            Issue.record("a lookup in the image cache asked for the network")
            return nil
        }
    }

    private func put(_ key: String, _ body: [UInt8], http: [UInt8] = [], user: [UInt8] = []) throws {
        let told = Expectation()
        let body = try Sample.body(body)
        fixture.disk.store(EntryMetadata(key: key, http: http, user: user), body) { _ in told.fulfil() }
        #expect(told.wait())
    }

    private func body(_ found: CacheHit?) -> [UInt8]? { found?.body.map { Array($0.pointer) } }

    private var thumbnailKey: String { CacheKeys.key(of: Self.key, as: Self.thumbnail) ?? "" }

    @Test func anEmptyCacheGivesNothing() throws {
        #expect(try ask(lookup()) == nil && ask(lookup(Self.thumbnail, bytes: true)) == nil)
    }

    @Test func memoryComesBeforeTheDisk() throws {
        // given
        let image = Made.image()
        fixture.cache.storeInMemory(image, for: Self.key)
        try put(Self.key, [1])
        // then
        let found = try #require(try ask(lookup()))
        #expect(found.image === image && found.body == nil && found.origin == .memory && found.keeper == nil)
        let onDisk = try #require(try ask(lookup(DecodeOptions(), .disk)))
        #expect(onDisk.image == nil && body(onDisk) == [1] && onDisk.origin == .disk)
        #expect(try ask(lookup(DecodeOptions(), .memory))?.origin == .memory)
    }

    @Test func aRequestForBothGetsTheImageFromMemoryAndTheBytesFromDisk() throws {
        let image = Made.image()
        fixture.cache.storeInMemory(image, for: Self.key)
        #expect(try ask(lookup(bytes: true))?.body == nil)
        try put(Self.key, [1], user: [9])
        let found = try #require(try ask(lookup(bytes: true)))
        #expect(found.image === image && body(found) == [1] && found.origin == .memory)
        #expect(found.extended.map { Array($0.pointer) } == [9])
    }

    @Test func aRequestForBytesIgnoresMemory() throws {
        fixture.cache.storeInMemory(Made.image(), for: Self.key)
        #expect(try ask(lookup(image: false, bytes: true)) == nil)
        try put(Self.key, [1])
        let found = try #require(try ask(lookup(image: false, bytes: true)))
        #expect(found.image == nil && body(found) == [1] && found.keeper == nil)
    }

    @Test func theEntryWithTheOptionsComesBeforeTheOriginal() throws {
        try put(Self.key, [1])
        #expect(try body(ask(lookup(Self.thumbnail))) == [1])
        try put(thumbnailKey, [2])
        #expect(try body(ask(lookup(Self.thumbnail))) == [2] && body(ask(lookup())) == [1])
        #expect(try body(ask(lookup(Self.thumbnail, image: false, bytes: true))) == [1])
    }

    @Test("an image under the key does not match if it was decoded with other options")
    func memoryServesOnlyEqualOptions() throws {
        fixture.cache.storeInMemory(Made.image(DecodeOptions(format: .bgra8)), for: Self.key)
        #expect(try ask(lookup()) == nil)
    }

    @Test("B7: a thumbnail made from an original is stored under its own key")
    func aThumbnailIsStoredUnderItsOwnKey() throws {
        // given
        try put(Self.key, Fixtures.array("png/rgb8.png"))
        // when
        let found = try #require(try ask(lookup(Self.thumbnail)))
        let made = try found.picture(in: Self.thumbnail)
        // then
        #expect(fixture.cache.image(for: thumbnailKey) === made && fixture.cache.image(for: Self.key) == nil)
        let again = try #require(try ask(lookup(Self.thumbnail)))
        #expect(again.image === made && again.origin == .memory)
    }

    @Test func aLookupOfTheDiskAloneStoresNothing() throws {
        try put(Self.key, Fixtures.array("png/rgb8.png"))
        let found = try #require(try ask(lookup(Self.thumbnail, .disk)))
        _ = try found.picture(in: Self.thumbnail)
        #expect(fixture.cache.image(for: thumbnailKey) == nil)
    }

    @Test("a query of any entry keeps its picture in memory for the requests that it was selected for")
    func aQueryKeepsTheSelection() throws {
        // given
        let (anna, bob) = (Sample.person("anna"), Sample.person("bob"))
        let vary = Response(status: 200, redirectsVary: ["X-Person"])
        let selection = try #require(fixture.cache.selection(varyOf: vary, anna))
        try put(Self.key, Fixtures.array("png/rgb8.png"), http: selection.encoded())
        // when
        _ = try #require(try ask(lookup())).picture(in: DecodeOptions())
        // then
        #expect(fixture.cache.image(for: Self.key, askedWith: anna) != nil)
        #expect(fixture.cache.image(for: Self.key, askedWith: bob) == nil)
    }

    @Test("the picture of an error response is not kept in memory for loads")
    func anErrorsPictureIsNotKept() throws {
        // given
        let request = try CacheableRequest(Sample.request(Self.key).transfer, secret: fixture.cache.secret)
        let error = CacheRules.makeStored(
            request, status: 404, url: Self.key, fields: ResponseFields(), requestTime: 0, responseTime: 0, family: 1)
        try put(Self.key, Fixtures.array("png/rgb8.png"), http: #require(error).encoded())
        // when
        _ = try #require(try ask(lookup())).picture(in: DecodeOptions())
        // then
        #expect(fixture.cache.image(for: Self.key) == nil)
    }

    @Test func lookupsWithTheSameOptionsAreEqual() throws {
        let one = lookup()
        #expect(one.isSame(as: lookup()) && one.hashKey == lookup(Self.thumbnail).hashKey)
        let others = [
            lookup(Self.thumbnail), lookup(DecodeOptions(), .disk), lookup(bytes: true),
            ImageCacheLookup(
                fixture.cache, key: "other", form: DecodeOptions(), levels: .all, wantsImage: true, wantsBytes: false),
            ImageCacheLookup(
                try CacheFixture().cache, key: Self.key, form: DecodeOptions(), levels: .all, wantsImage: true,
                wantsBytes: false),
        ]
        for other in others { #expect(!one.isSame(as: other)) }
    }

    // MARK: Transforms

    /// 19 x 13 pixels become 8 x 5, of which 8 x 4 are left, turned.
    private static let turned: DecodeOptions = {
        var form = DecodeOptions(size: SizeRule(width: 8, height: 8))
        form.transforms = TransformChain([.crop(x: 0, y: 0, width: 8, height: 4), .rotate(.one)])
        return form
    }()

    @Test func aPictureFromTheOriginalIsTransformed() throws {
        // given
        try put(Self.key, Fixtures.array("png/rgb8.png"))
        // when
        let found = try #require(try ask(lookup(Self.turned)))
        let made = try found.picture(in: Self.turned)
        // then
        #expect(!found.isMade && made.width < made.height && made.bytes == nil && found.body != nil)
        let again = try #require(try ask(lookup(Self.turned)))
        #expect(again.image === made)
    }

    private static let forms: [DecodeOptions] = [
        DecodeOptions(size: SizeRule(width: 8, height: 8)),
        DecodeOptions(size: SizeRule(width: 5, height: 9, fit: .fill)),
        DecodeOptions(size: SizeRule(width: 7, height: 3, fit: .stretch)),
        DecodeOptions(size: SizeRule(byteLimit: 400)),
        DecodeOptions(size: SizeRule(width: 40, height: 50, allowsEnlarging: true)),
        DecodeOptions(format: .rgb8, background: 0x336699), DecodeOptions(format: .bgra8Premultiplied),
        DecodeOptions(isUpright: false, size: SizeRule(height: 4)),
    ]

    @Test("a picture stored under its own key gives the same pixels", arguments: forms, [false, true])
    func aPictureStoredTransformedIsNotTransformedAgain(form: DecodeOptions, isTransformed: Bool) throws {
        // given
        var form = form
        if isTransformed { form.transforms = Self.turned.transforms }
        let key = try #require(CacheKeys.key(of: Self.key, as: form))
        let original = try DecoderSet(registry: .builtIn).decode(Fixtures.bytes("png/rgba8.png"), in: form)
        let item = CacheItem(key: key, image: original, bytes: nil, extended: nil, levels: .disk)
        #expect(fixture.cache.storeNow(item) == nil)
        // when
        let found = try #require(try ask(lookup(form)))
        let made = try found.picture(in: form)
        // then
        #expect(found.isMade == isTransformed && made.form == form)
        #expect((made.width, made.height) == (original.width, original.height))
        #expect(try made.decoded().plain == original.decoded().plain)
        // The next lookup finds it in memory.
        #expect(try ask(lookup(form))?.image === made)
    }

    @Test("a size may be applied twice: the hit has the wanted size, whoever stored it")
    func aSizeIsAppliedToItsOwnEntryToo() throws {
        try put(thumbnailKey, Fixtures.array("png/rgb8.png"))
        let found = try #require(try ask(lookup(Self.thumbnail)))
        #expect(try !found.isMade && found.picture(in: Self.thumbnail).width == 2)
    }
}

extension PixelBuffer {
    fileprivate var plain: [UInt8] {
        withExtendedLifetime(self) {
            (0..<height).flatMap { y in
                Array(UnsafeRawBufferPointer(start: base + y * stride, count: width * format.bytesPerPixel))
            }
        }
    }
}

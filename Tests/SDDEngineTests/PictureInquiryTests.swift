import SDDBase
import SDDCaches
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Where a picture is looked for, and in which order: in memory, on disk in its form, on disk as its original.
@Suite struct PictureInquiryTests {
    private let fixture: CacheFixture
    private static let key = "http://h/a.png"
    private static let thumbnail = PixelForm(size: SizeRule(width: 2, height: 2))

    init() throws { fixture = try CacheFixture() }

    private func inquiry(
        _ form: PixelForm = PixelForm(), _ levels: CacheLevels = .all, image: Bool = true, bytes: Bool = false
    ) -> PictureInquiry {
        PictureInquiry(
            fixture.cache, key: Self.key, form: form, levels: levels, wantsImage: image, wantsBytes: bytes)
    }

    /// Asked in both ways, which must say the same.
    private func ask(_ inquiry: PictureInquiry) throws -> Found? {
        let findings = Recorder<Finding>()
        inquiry.ask(Question(isOffline: false)) { findings.record($0) }
        let finding = try #require(findings.wait(count: 1)?.first)
        let now = inquiry.askNow()
        switch finding {
        case .found(let found):
            #expect(found.origin == now?.origin && found.image === now?.image)
            #expect(found.body.map { Array($0.pointer) } == now?.body.map { Array($0.pointer) })
            return found
        case .failed(let error):
            #expect(error.code == .notCached && now == nil)
            return nil
        case .network, .turn, .busy, .done:
            Issue.record("it has nothing to do with a network")
            return nil
        }
    }

    private func put(_ key: String, _ body: [UInt8], user: [UInt8] = []) throws {
        let told = Expectation()
        let body = try Sample.body(body)
        fixture.disk.store(EntryMetadata(key: key, user: user), body) { _ in told.fulfil() }
        #expect(told.wait())
    }

    private func body(_ found: Found?) -> [UInt8]? { found?.body.map { Array($0.pointer) } }

    private var thumbnailKey: String { CacheKeys.key(of: Self.key, as: Self.thumbnail) ?? "" }

    @Test func whereNothingIsThereIsNothing() throws {
        #expect(try ask(inquiry()) == nil && ask(inquiry(Self.thumbnail, bytes: true)) == nil)
    }

    @Test func memoryComesBeforeTheDisk() throws {
        // given
        let image = Made.image()
        fixture.cache.remember(image, for: Self.key)
        try put(Self.key, [1])
        // then
        let found = try #require(try ask(inquiry()))
        #expect(found.image === image && found.body == nil && found.origin == .memory && found.keeper == nil)
        let onDisk = try #require(try ask(inquiry(PixelForm(), .disk)))
        #expect(onDisk.image == nil && body(onDisk) == [1] && onDisk.origin == .disk)
        #expect(try ask(inquiry(PixelForm(), .memory))?.origin == .memory)
    }

    @Test func whoWantsBothHasTheImageOfMemoryWithTheBytesOfTheDisk() throws {
        let image = Made.image()
        fixture.cache.remember(image, for: Self.key)
        #expect(try ask(inquiry(bytes: true))?.body == nil)
        try put(Self.key, [1], user: [9])
        let found = try #require(try ask(inquiry(bytes: true)))
        #expect(found.image === image && body(found) == [1] && found.origin == .memory)
        #expect(found.extended.map { Array($0.pointer) } == [9])
    }

    @Test func whoWantsBytesAloneHasNoUseForMemory() throws {
        fixture.cache.remember(Made.image(), for: Self.key)
        #expect(try ask(inquiry(image: false, bytes: true)) == nil)
        try put(Self.key, [1])
        let found = try #require(try ask(inquiry(image: false, bytes: true)))
        #expect(found.image == nil && body(found) == [1] && found.keeper == nil)
    }

    @Test func theFormsOwnEntryComesBeforeTheOriginal() throws {
        try put(Self.key, [1])
        #expect(try body(ask(inquiry(Self.thumbnail))) == [1])
        try put(thumbnailKey, [2])
        #expect(try body(ask(inquiry(Self.thumbnail))) == [2] && body(ask(inquiry())) == [1])
        #expect(try body(ask(inquiry(Self.thumbnail, image: false, bytes: true))) == [1])
    }

    @Test("an image under the key is not the one wanted if it is of another form")
    func memoryServesItsOwnFormAlone() throws {
        fixture.cache.remember(Made.image(PixelForm(format: .bgra8)), for: Self.key)
        #expect(try ask(inquiry()) == nil)
    }

    @Test("B7: a thumbnail that was made of an original is kept under its own key")
    func theKeeperKeepsUnderTheFormsKey() throws {
        // given
        try put(Self.key, Fixtures.array("png/rgb8.png"))
        // when
        let found = try #require(try ask(inquiry(Self.thumbnail)))
        let made = try found.picture(in: Self.thumbnail)
        // then
        #expect(fixture.cache.image(for: thumbnailKey) === made && fixture.cache.image(for: Self.key) == nil)
        let again = try #require(try ask(inquiry(Self.thumbnail)))
        #expect(again.image === made && again.origin == .memory)
    }

    @Test func whoAsksTheDiskAloneKeepsNothing() throws {
        try put(Self.key, Fixtures.array("png/rgb8.png"))
        let found = try #require(try ask(inquiry(Self.thumbnail, .disk)))
        _ = try found.picture(in: Self.thumbnail)
        #expect(fixture.cache.image(for: thumbnailKey) == nil)
    }

    @Test func equalAreThoseWithTheSameWish() throws {
        let one = inquiry()
        #expect(one.isSame(as: inquiry()) && one.number == inquiry(Self.thumbnail).number)
        let others = [
            inquiry(Self.thumbnail), inquiry(PixelForm(), .disk), inquiry(bytes: true),
            PictureInquiry(
                fixture.cache, key: "other", form: PixelForm(), levels: .all, wantsImage: true, wantsBytes: false),
            PictureInquiry(
                try CacheFixture().cache, key: Self.key, form: PixelForm(), levels: .all, wantsImage: true,
                wantsBytes: false),
        ]
        for other in others { #expect(!one.isSame(as: other)) }
    }

    // MARK: Transforms

    /// 19 x 13 pixels become 8 x 5, of which 8 x 4 are left, turned.
    private static let turned: PixelForm = {
        var form = PixelForm(size: SizeRule(width: 8, height: 8))
        form.transforms = TransformChain([.crop(x: 0, y: 0, width: 8, height: 4), .rotate(.one)])
        return form
    }()

    @Test func whatIsMadeOfTheOriginalIsTransformed() throws {
        // given
        try put(Self.key, Fixtures.array("png/rgb8.png"))
        // when
        let found = try #require(try ask(inquiry(Self.turned)))
        let made = try found.picture(in: Self.turned)
        // then
        #expect(!found.isMade && made.width < made.height && made.bytes == nil && found.body != nil)
        let again = try #require(try ask(inquiry(Self.turned)))
        #expect(again.image === made)
    }

    private static let forms: [PixelForm] = [
        PixelForm(size: SizeRule(width: 8, height: 8)), PixelForm(size: SizeRule(width: 5, height: 9, fit: .fill)),
        PixelForm(size: SizeRule(width: 7, height: 3, fit: .stretch)), PixelForm(size: SizeRule(byteLimit: 400)),
        PixelForm(size: SizeRule(width: 40, height: 50, allowsEnlarging: true)),
        PixelForm(format: .rgb8, background: 0x336699), PixelForm(format: .bgra8Premultiplied),
        PixelForm(isUpright: false, size: SizeRule(height: 4)),
    ]

    @Test("what is stored under a form's own key comes out the same", arguments: forms, [false, true])
    func whatWasStoredTransformedIsNotTransformedAgain(form: PixelForm, isTransformed: Bool) throws {
        // given
        var form = form
        if isTransformed { form.transforms = Self.turned.transforms }
        let key = try #require(CacheKeys.key(of: Self.key, as: form))
        let original = try DecoderSet(registry: .builtIn).decode(Fixtures.bytes("png/rgba8.png"), in: form)
        let item = CacheItem(key: key, image: original, bytes: nil, extended: nil, levels: .disk)
        #expect(fixture.cache.storeNow(item) == nil)
        // when
        let found = try #require(try ask(inquiry(form)))
        let made = try found.picture(in: form)
        // then
        #expect(found.isMade == isTransformed && made.form == form)
        #expect((made.width, made.height) == (original.width, original.height))
        #expect(try made.decoded().plain == original.decoded().plain)
        // The next has it from memory.
        #expect(try ask(inquiry(form))?.image === made)
    }

    @Test("a size alone may be made twice: what is found is as wanted, whoever has stored it")
    func aSizeIsMadeOfItsOwnEntryToo() throws {
        try put(thumbnailKey, Fixtures.array("png/rgb8.png"))
        let found = try #require(try ask(inquiry(Self.thumbnail)))
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

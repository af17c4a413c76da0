import SDDBase
import SDDCoders
import Testing

@testable import SDDEngine

@Suite struct CacheKeysTests {
    private let thumbnail = DecodeOptions(size: SizeRule(width: 200, height: 100))

    @Test func aURLIsItsOwnKey() throws {
        #expect(try CacheKeys.key(of: url("https://h/a.png?x=1#f")) == "https://h/a.png?x=1#f")
        #expect(CacheKeys.key(of: "https://h/a.png", as: DecodeOptions()) == "https://h/a.png")
    }

    @Test func noURLEqualsAThumbnailKeyOfAnother() throws {
        // given
        let forged = try url("https://h/a-Thumbnail({200.000000,100.000000},1).png")
        // then
        #expect(CacheKeys.key(of: forged) == "https://h/a-Thumbnail(%7B200.000000,100.000000%7D,1).png")
        #expect(CacheKeys.key(of: "https://h/a.png", as: thumbnail) == forged.text)
    }

    /// The rows agree with SDThumbnailedKeyForKey of SDWebImage, except the last three.
    @Test(arguments: [
        ("https://h/a.png", "https://h/a-Thumbnail({200.000000,100.000000},1).png"),
        ("https://h/b/a.b.png?x=1.5#f.g", "https://h/b/a.b-Thumbnail({200.000000,100.000000},1).png?x=1.5#f.g"),
        ("https://h.com/a?x=1.5", "https://h.com/a?x=1.5-Thumbnail({200.000000,100.000000},1)"),
        ("https://h.com", "https://h.com-Thumbnail({200.000000,100.000000},1)"),
        ("https://h.com?a.png", "https://h.com?a.png-Thumbnail({200.000000,100.000000},1)"),
        ("https://h/a.b/c", "https://h/a.b/c-Thumbnail({200.000000,100.000000},1)"),
        ("https://h/.png", "https://h/.png-Thumbnail({200.000000,100.000000},1)"),
        ("photo.jpg", "photo-Thumbnail({200.000000,100.000000},1).jpg"),
        ("file:///d/a.png", "file:///d/a-Thumbnail({200.000000,100.000000},1).png"),
        ("https://h/a.", "https://h/a.-Thumbnail({200.000000,100.000000},1)"),
        ("https://h/a.png/", "https://h/a.png/-Thumbnail({200.000000,100.000000},1)"),
        ("", "-Thumbnail({200.000000,100.000000},1)"),
    ])
    func theThumbnailSuffixComesBeforeTheExtension(original: String, key: String) {
        #expect(CacheKeys.key(of: original, as: thumbnail) == key)
    }

    @Test(arguments: [
        (SizeRule(width: 64), "a-Thumbnail({64.000000,0.000000},1).png"),
        (SizeRule(height: 64), "a-Thumbnail({0.000000,64.000000},1).png"),
        (SizeRule(width: 3, height: 4, fit: .stretch), "a-Thumbnail({3.000000,4.000000},0).png"),
        (SizeRule(width: 3, height: 4, fit: .fill), "a-Thumbnail({3.000000,4.000000},1)-Form({fill}).png"),
        (
            SizeRule(width: 3, height: 4, allowsEnlarging: true),
            "a-Thumbnail({3.000000,4.000000},1)-Form({enlarge}).png"
        ),
        (SizeRule(width: 3, height: 4, isExact: true), "a-Thumbnail({3.000000,4.000000},1)-Form({exact}).png"),
        (SizeRule(byteLimit: 62_914_560), "a-Form({bytes=62914560}).png"),
        (SizeRule(width: .max, height: 1), "a-Thumbnail({9223372036854775807.000000,1.000000},1).png"),
    ])
    func sizesHaveDifferentKeys(size: SizeRule, key: String) {
        #expect(CacheKeys.key(of: "a.png", as: DecodeOptions(size: size)) == key)
    }

    @Test(arguments: [
        (DecodeOptions(format: .bgra8), "a-Form({format=3}).png"),
        (DecodeOptions(format: .rgb8, background: 0x00ff_8800), "a-Form({format=5,background=ff8800}).png"),
        (DecodeOptions(isUpright: false), "a-Form({stored}).png"),
        (DecodeOptions(isLenient: true), "a-Form({lenient}).png"),
        (DecodeOptions(memory: PixelMemory(rowAlignment: 64)), "a-Form({rows=64}).png"),
        (DecodeOptions(frames: .firstOnly), "a-Form({first}).png"),
        (DecodeOptions(frames: .preload), "a-Form({preload}).png"),
        (DecodeOptions(frames: .still), "a-Form({still}).png"),
        (DecodeOptions(formatHint: .webp), "a-Form({hint=4}).png"),
        // Options that only delay decoding give the same key.
        (DecodeOptions(isLazy: true), "a.png"),
        (
            DecodeOptions(
                format: .grey8, isUpright: false, background: 1, size: SizeRule(width: 1, height: 2, fit: .fill),
                isLenient: true, memory: PixelMemory(rowAlignment: 16), frames: .firstOnly, formatHint: .png),
            "a-Thumbnail({1.000000,2.000000},1)-Form({fill,format=6,background=1,stored,lenient,rows=16,first,hint=2}).png"
        ),
    ])
    func optionsHaveDifferentKeys(form: DecodeOptions, key: String) {
        #expect(CacheKeys.key(of: "a.png", as: form) == key)
    }

    @Test func noURLEqualsATransformedKeyOfAnother() throws {
        var turned = DecodeOptions()
        turned.transforms = TransformChain([.flip(.vertical)])
        let key = try #require(CacheKeys.key(of: "https://h/a.png", as: turned))
        #expect(try CacheKeys.key(of: url(key)) != key)
    }

    @Test func transformsAreAppendedInTheirOrder() {
        // given
        let chain = TransformChain([.flip(.both), .rotate(.one)])
        var (plain, small) = (DecodeOptions(), thumbnail)
        (plain.transforms, small.transforms) = (chain, chain)
        // then
        #expect(
            CacheKeys.key(of: "https://h/a.png?x", as: plain)
                == "https://h/a-Transform({flip(both)-rotate(90)}).png?x")
        #expect(
            CacheKeys.key(of: "a.png", as: small)
                == "a-Thumbnail({200.000000,100.000000},1)-Transform({flip(both)-rotate(90)}).png")
        #expect(
            CacheKeys.key(of: "a", as: small)
                == "a-Thumbnail({200.000000,100.000000},1)-Transform({flip(both)-rotate(90)})")
        // An empty list means no transforms; the treatment of animations does not change the key.
        plain.transformsAnimated = true
        #expect(CacheKeys.key(of: "a.png", as: plain) == "a-Transform({flip(both)-rotate(90)}).png")
        plain.transforms = TransformChain()
        #expect(plain.transforms == nil && CacheKeys.key(of: "a.png", as: plain) == "a.png")
    }

    @Test func pixelsInAppMemoryHaveNoKey() {
        // given
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        defer { memory.deallocate() }
        let space = PixelSpace(base: memory, size: 64, stride: 0)
        let allocator = PixelAllocator(allocate: { _, _, _ in nil }, release: { _, _, _ in }, userData: nil)
        // then
        #expect(CacheKeys.key(of: "a", as: DecodeOptions(memory: PixelMemory(owner: .caller(space)))) == nil)
        #expect(CacheKeys.key(of: "a", as: DecodeOptions(memory: PixelMemory(owner: .allocator(allocator)))) == nil)
    }

    private func url(_ text: String) throws -> ImageURL {
        try Array(text.utf8).withUnsafeBufferPointer { try ImageURL(checking: $0, allowsFiles: true) }
    }
}

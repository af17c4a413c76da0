import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Coefficients and previews of JPEGs with several scans.
@Suite struct ProgressiveJPEGTests {
    private static let names = [
        "jpeg/progressive-420.jpg", "jpeg/progressive-grey.jpg", "jpeg/progressive-spectral.jpg",
        "jpeg/ycck-progressive.jpg", "jpeg/arithmetic-progressive.jpg", "large/progressive.jpg",
        "large/arithmetic-progressive.jpg",
    ]

    /// A body that arrives in two pieces is decoded with all of its scans and coefficients, a whole one without those
    /// that an eighth of the size does not need.
    @Test(arguments: names)
    func leavingScansOutChangesNoPixel(name: String) throws {
        let whole = try Fixtures.array(name)
        let file = bytes(of: whole)
        let facts = try withExtendedLifetime(file) { try ImageFacts(of: file.pointer) }
        let form = DecodeOptions(isUpright: false, size: SizeRule(width: (facts.width + 7) / 8))
        // given
        let arriving = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        _ = try arriving.read(bytes(of: whole[..<(whole.count / 2)]), forms: [form], isLast: false)
        let expected = try arriving.read(file, forms: [form], isLast: true).pictures?.first?.image.get()
        // when
        let atOnce = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let made = try atOnce.read(file, forms: [form], isLast: true).pictures?.first?.image.get()
        // then
        #expect(Raster(try #require(made)) == Raster(try #require(expected)))
    }

    /// Block smoothing would move the pixels of the last previews away from the picture: a picture that is cut at the
    /// same place, and read leniently, is smoothed.
    @Test func lastPreviewsAreNotSmoothed() throws {
        // given
        let whole = try Fixtures.array("large/progressive.jpg")
        let form = DecodeOptions(isUpright: false)
        let picture = Raster(
            try DecoderSet(registry: .builtIn).decode(bytes(of: whole), form: form, maxPixels: 1 << 20))
        let lastScan = try #require(whole.indices.dropLast().last { whole[$0] == 0xff && whole[$0 + 1] == 0xda })
        let part = bytes(of: whole[..<(lastScan + 20)])
        let lenient = DecodeOptions(isUpright: false, isLenient: true)
        let cut = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let smoothed = try cut.read(part, forms: [lenient], isLast: true).pictures?.first?.image.get()
        // when
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let step = try stream.read(part, forms: [form], isLast: false, previewScans: 0)
        // the first preview is that of the first scan
        let last = try stream.read(part, forms: [form], isLast: false, previewScans: 1)
        let preview = Raster(try #require((last.previews.first ?? step.previews.first)?.image))
        // then
        let cutPicture = Raster(try #require(smoothed))
        #expect(Self.distance(preview, picture) <= Self.distance(cutPicture, picture))
    }

    private static func distance(_ one: Raster, _ other: Raster) -> Int {
        zip(one.rgba, other.rgba).reduce(0) { sum, bytes in sum + abs(Int(bytes.0) - Int(bytes.1)) }
    }

    /// The memory of the picture is taken for its first row, and can be that of a preview until then.
    @Test func pixelsAreNotAllocatedBeforeTheLastScan() throws {
        // given
        let whole = try Fixtures.array("large/progressive.jpg")
        let app = AppMemory()
        let memory = PixelMemory(owner: .allocator(app.allocator))
        let form = DecodeOptions(isUpright: false, memory: memory)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        // when
        _ = try stream.read(bytes(of: whole.dropLast(100)), forms: [form], isLast: false)
        // then
        #expect(app.sizes.isEmpty)
        // when
        let image = try stream.read(bytes(of: whole), forms: [form], isLast: true).pictures?.first?.image.get()
        // then
        #expect(app.sizes == [image?.pixels.byteCount])
    }

    /// The header of a progressive JPEG of 8000 x 6000 pixels, whose coefficients take 288 MB.
    private static let header: [UInt8] = [
        0xff, 0xd8, 0xff, 0xc2, 0, 17, 8, 0x17, 0x70, 0x1f, 0x40, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0,
        0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 1,
    ]

    @Test func aLargePictureThatIsMuchReducedWaitsForItsWholeBody() throws {
        let small = DecodeOptions(size: SizeRule(width: 512, height: 512))
        let quarter = DecodeOptions(size: SizeRule(width: 2000))
        for (form, mayWait, wantsWhole) in [
            (small, true, true), (small, false, false), (quarter, true, false), (DecodeOptions(), true, false),
        ] {
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn, memory: NoMemory())
            let step = try stream.read(bytes(of: Self.header), forms: [form], isLast: false, mayWait: mayWait)
            #expect(step.wantsWhole == wantsWhole && step.facts?.width == 8000)
        }
        // a sequential one
        var sequential = Self.header
        sequential[3] = 0xc0
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn, memory: NoMemory())
        #expect(try !stream.read(bytes(of: sequential), forms: [small], isLast: false, mayWait: true).wantsWhole)
    }

    private struct NoMemory: MemoryKeeping {
        func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? { nil }
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Previews of JPEGs with several scans.
@Suite struct ProgressiveJPEGTests {
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
}

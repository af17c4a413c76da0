import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Row Z15: pixels in memory of the application.
@Suite struct PixelMemoryTests {
    private static let names = [
        "facts/grey.jpg", "facts/inks.jpg", "facts/orientation-6.jpg", "facts/orientation.png", "facts/levels.png",
        "png/rgba16.png", "png/rgba8-interlaced.png", "png/palette4-trns.png",
    ]
    private static let sizes = [SizeRule.none, SizeRule(width: 5), SizeRule(width: 40, allowsEnlarging: true)]
    private static let forms = PixelFormat.allCases.flatMap { format in
        sizes.map { DecodeOptions(format: format, background: 0x0102_03, size: $0) }
    }

    private let decoders = DecoderSet(registry: .builtIn)

    @Test(arguments: names)
    func anAllocatorAllocatesAndFreesThePixels(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for form in Self.forms {
            // given
            let expected = try decode(bytes, form)
            let app = AppMemory()
            // when
            var image: Image? = try decode(bytes, form.with(.allocator(app.allocator), alignment: 32))
            // then
            #expect(image?.pixels.plainBytes == expected.pixels.plainBytes, "\(form)")
            #expect((image?.pixels.stride ?? 1) % 32 == 0)
            #expect(app.sizes == [image?.pixels.byteCount] && app.alignments == [32] && app.freed == [])
            image = nil
            #expect(app.freed == app.sizes)
        }
    }

    @Test func aFailedDecodeFreesItsMemory() throws {
        for name in ["jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg", "png/rgba8.png", "png/rgba8-interlaced.png"] {
            let whole = try Fixtures.array(name)
            for form in Self.forms {
                let app = AppMemory()
                let form = form.with(.allocator(app.allocator))
                for count in [whole.count / 3, whole.count / 2, whole.count * 9 / 10] {
                    #expect(throws: CoderError.self) { try decode(bytes(of: whole[..<count]), form) }
                }
                #expect(app.freed == app.sizes)
            }
        }
    }

    @Test func anAllocatorMayReturnNull() throws {
        let bytes = try Fixtures.bytes("facts/orientation.png")
        for form in Self.forms {
            let app = AppMemory()
            app.isEmpty = true
            let error = #expect(throws: CoderError.self) { try decode(bytes, form.with(.allocator(app.allocator))) }
            #expect(error?.kind == .noMemory)
            app.isEmpty = false
            app.isOdd = true
            #expect(throws: CoderError.self) { try decode(bytes, form.with(.allocator(app.allocator))) }
            #expect(app.sizes.count == 1 && app.freed == app.sizes)
        }
    }

    @Test(arguments: names)
    func aBufferIsWrittenToAndNothingAroundIt(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for form in Self.forms {
            for padding in [0, 1, 32] {
                // given
                let expected = try decode(bytes, form).pixels
                let rowBytes = expected.width * form.format.bytesPerPixel
                let (stride, rows) = (rowBytes + padding, expected.height * form.format.planeCount)
                let size = stride * rows - padding
                let space = try #require(malloc(size + 8))
                defer { free(space) }
                memset(space, 0xa5, size + 8)
                let lent = PixelSpace(base: space, size: size, stride: padding == 0 ? 0 : stride)
                // when
                let pixels = try decode(bytes, form.with(.caller(lent))).pixels
                // then
                #expect(pixels.base == space && pixels.stride == stride && pixels.byteCount == size)
                #expect(pixels.plainBytes == expected.plainBytes, "\(form)")
                for row in 0..<rows {
                    let between = UnsafeRawBufferPointer(
                        start: space + row * stride + rowBytes, count: row == rows - 1 ? 8 : padding)
                    #expect(between.allSatisfy { $0 == 0xa5 })
                }
                // and one byte less is not enough
                let short = PixelSpace(base: space, size: size - 1, stride: padding == 0 ? 0 : stride)
                #expect(
                    throws: CoderError(
                        .bufferTooSmall, "\(size) bytes for \(expected.width) x \(expected.height) pixels")
                ) { try decode(bytes, form.with(.caller(short))) }
                let narrow = PixelSpace(base: space, size: size, stride: rowBytes - 1)
                guard narrow.stride > 0 else { continue }
                #expect(
                    throws: CoderError(
                        .bufferTooSmall, "rows of \(rowBytes) bytes for \(expected.width) x \(expected.height) pixels")
                ) { try decode(bytes, form.with(.caller(narrow))) }
            }
        }
    }

    /// Previews are elsewhere, so that the application's buffer does not change before the picture is complete.
    @Test(arguments: ["jpeg/baseline-444.jpg", "jpeg/grey.jpg", "png/rgba8.png", "png/rgb16.png", "png/grey8.png"])
    func aBufferIsNotUsedForPreviews(name: String) throws {
        let whole = try Fixtures.array(name)
        for form in Self.forms where form.size.width != 40 {
            // given
            let expected = try decode(bytes(of: whole), form).pixels
            let space = try #require(malloc(expected.byteCount))
            defer { free(space) }
            let lent = PixelSpace(base: space, size: expected.byteCount, stride: 0)
            let memory = form.with(.caller(lent))
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            // when
            var previews: [Image] = []
            var picture: Image?
            for count in stride(from: whole.count % 40, through: whole.count, by: 40) {
                let step = try stream.read(
                    bytes(of: whole[..<count]), forms: [memory], isLast: count == whole.count, previewScans: 1)
                previews += step.previews.map(\.image)
                picture = try step.pictures?.first?.image.get()
            }
            // then
            let made = try #require(picture).pixels
            #expect(made.base == space && made.plainBytes == expected.plainBytes)
            #expect(previews.count > 1)
            for preview in previews {
                let rows = preview.goodRowCount * expected.stride
                #expect(preview.pixels.base != space)
                #expect(preview.pixels.plainBytes.prefix(rows) == made.plainBytes.prefix(rows), "\(form)")
            }
        }
    }

    /// A failure that concerns all options ends the decode as soon as it is known; one that concerns a single set does
    /// not.
    @Test func aBufferTooSmallFailsItsPictureAlone() throws {
        // given
        let whole = try Fixtures.array("png/rgba8.png")
        let space = try #require(malloc(1))
        defer { free(space) }
        let small = DecodeOptions().with(.caller(PixelSpace(base: space, size: 1, stride: 0)))
        let half = bytes(of: whole[..<(whole.count / 2)])
        // when
        let forms = [small, DecodeOptions(size: SizeRule(width: 3))]
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let step = try stream.read(half, forms: forms, isLast: false)
        let pictures = try stream.read(bytes(of: whole), forms: forms, isLast: true).pictures
        // then
        #expect(step.pictures == nil && !step.isComplete)
        #expect(throws: CoderError(.bufferTooSmall, "988 bytes for 19 x 13 pixels")) { try pictures?[0].image.get() }
        #expect(try pictures?[1].image.get().pixels.width == 3)
        let alone = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        #expect(throws: CoderError.self) { try alone.read(half, forms: [small], isLast: false) }
    }

    /// The request that brought the buffer may be gone, and its memory with it: no other picture is made from that
    /// buffer.
    @Test func noPictureIsMadeFromAnothersBuffer() throws {
        // given
        let whole = try Fixtures.array("png/rgba8.png")
        let half = bytes(of: whole[..<(whole.count / 2)])
        let space = try #require(malloc(988))
        let lent = DecodeOptions(isUpright: false).with(.caller(PixelSpace(base: space, size: 988, stride: 0)))
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        // when
        _ = try stream.read(half, forms: [lent], isLast: false)
        _ = try stream.read(half, forms: [lent, .stored], isLast: false)
        free(space)
        let pictures = try stream.read(bytes(of: whole), forms: [.stored], isLast: true).pictures
        // then
        let image = try #require(try pictures?.first?.image.get())
        #expect(try Raster(image) == Pictures.expected("png/rgba8.png"))
        #expect(image.pixels.base != space && pictures?.count == 1)
    }

    /// A picture that fails does not affect the others.
    @Test func eachPictureGetsItsOwnMemory() throws {
        // given
        let bytes = try Fixtures.bytes("facts/orientation.png")
        let (app, size) = (AppMemory(), 13 * 19 * 4)
        let space = try #require(malloc(size))
        defer { free(space) }
        let owners: [PixelMemory.Owner] = [
            .library, .allocator(app.allocator), .caller(PixelSpace(base: space, size: size, stride: 0)),
            .caller(PixelSpace(base: space, size: size - 1, stride: 0)),
        ]
        // when
        let pictures = try decoders.decode(
            bytes, forms: owners.map { DecodeOptions().with($0) }, limits: DecodeLimits(maxPixels: 13 * 19))
        // then
        let made = pictures.map { try? $0.image.get().pixels }
        #expect(made[0]?.plainBytes == made[1]?.plainBytes && made[0]?.plainBytes == made[2]?.plainBytes)
        #expect(made[2]?.base == space && app.sizes == [size] && made[0] != nil)
        #expect(throws: CoderError(.bufferTooSmall, "988 bytes for 13 x 19 pixels")) { try pictures[3].image.get() }
    }

    @Test func memoryIsEqualOnlyIfItIsTheSame() throws {
        let (one, other) = (AppMemory(), AppMemory())
        #expect(DecodeOptions().with(.allocator(one.allocator)) == DecodeOptions().with(.allocator(one.allocator)))
        #expect(DecodeOptions().with(.allocator(one.allocator)) != DecodeOptions().with(.allocator(other.allocator)))
        #expect(DecodeOptions().with(.allocator(one.allocator)) != DecodeOptions())
        let place = UnsafeMutableRawPointer(Unmanaged.passUnretained(one).toOpaque())
        let space = PixelSpace(base: place, size: 8, stride: 0)
        #expect(DecodeOptions().with(.caller(space)) == DecodeOptions().with(.caller(space)))
        let next = PixelSpace(base: place + 1, size: 8, stride: 0)
        #expect(DecodeOptions().with(.caller(space)) != DecodeOptions().with(.caller(next)))
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (Int.max, 1), (Int.max / 4, 2), (1 << 31, 1 << 31)])
    func impossibleSizesAreNotAllocated(width: Int, height: Int) {
        let app = AppMemory()
        for format in PixelFormat.allCases {
            let memory = DecodeOptions(format: format).with(.allocator(app.allocator), alignment: 4096).memory
            #expect(throws: CoderError.self) {
                try PixelBuffer.make(width: width, height: height, format, in: memory)
            }
        }
        #expect(app.sizes.isEmpty)
    }

    private func decode(_ bytes: Bytes, _ form: DecodeOptions) throws -> Image {
        try decoders.decode(bytes, form: form, maxPixels: 1 << 20)
    }
}

extension DecodeOptions {
    fileprivate func with(_ owner: PixelMemory.Owner, alignment: Int = 1) -> DecodeOptions {
        DecodeOptions(
            format: format, isUpright: isUpright, background: background, size: size,
            memory: PixelMemory(owner: owner, rowAlignment: alignment))
    }
}

/// An allocator of the application, which records its calls. Used on one thread.
final class AppMemory {
    var sizes: [Int?] = []
    var alignments: [Int] = []
    var freed: [Int?] = []
    var isEmpty = false
    /// Whether the allocator returns memory that is not aligned.
    var isOdd = false

    var allocator: PixelAllocator {
        PixelAllocator(
            allocate: { size, alignment, app in
                guard let app = AppMemory.at(app), !app.isEmpty else { return nil }
                app.sizes.append(size)
                app.alignments.append(alignment)
                let base = aligned_alloc(alignment, (size + 2 * alignment - 1) & ~(alignment - 1))
                return app.isOdd ? base.map { $0 + 8 } : base
            },
            release: { base, size, app in
                guard let app = AppMemory.at(app) else { return }
                app.freed.append(size)
                free(app.isOdd ? base.map { $0 - 8 } : base)
            }, userData: Unmanaged.passUnretained(self).toOpaque())
    }

    private static func at(_ place: UnsafeMutableRawPointer?) -> AppMemory? {
        place.map { Unmanaged<AppMemory>.fromOpaque($0).takeUnretainedValue() }
    }
}

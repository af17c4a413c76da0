import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Transforms as part of the decode options: done by the decoding thread, once for equal options.
@Suite struct TransformedDecodeTests {
    private let decoders = DecoderSet(registry: .builtIn)
    private static let flip = PictureTransform.flip(.horizontal)

    private func form(
        _ transforms: PictureTransform..., base: DecodeOptions = DecodeOptions(), animated: Bool = false
    ) -> DecodeOptions {
        var form = base
        form.transforms = TransformChain(transforms)
        form.transformsAnimated = animated
        return form
    }

    /// Returns the RGBA rows with the pixels of each in reverse order, computed by hand.
    private func mirrored(_ raster: Raster) -> Raster {
        var rgba: [UInt8] = []
        for y in 0..<raster.height {
            for x in (0..<raster.width).reversed() {
                let start = (y * raster.width + x) * 4
                rgba += raster.rgba[start..<start + 4]
            }
        }
        return Raster(width: raster.width, height: raster.height, rgba: rgba)
    }

    @Test(arguments: [
        "jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg", "png/rgba8.png", "png/palette4-interlaced.png",
    ])
    func thePictureIsTransformed(name: String) throws {
        let image = try decoders.decode(Fixtures.bytes(name), in: form(Self.flip))
        #expect(try Raster(image) == mirrored(Pictures.expected(name)))
        // It has neither encoded bytes nor facts, since it is not what the file holds.
        #expect(image.bytes == nil && image.facts == nil && image.form == form(Self.flip))
        #expect(image.format == (name.hasPrefix("png") ? .png : .jpeg))
    }

    @Test func transformsFollowTheSize() throws {
        // The file has 17 x 3 pixels.
        let small = DecodeOptions(size: SizeRule(width: 8, height: 3, fit: .stretch))
        let image = try decoders.decode(
            Fixtures.bytes("png/size-17x3.png"),
            in: form(.crop(x: 0, y: 0, width: 5, height: 2), .rotate(.one), base: small))
        #expect(image.width == 2 && image.height == 5)
    }

    /// For any result of the transforms, the result has the format and layout of the options.
    @Test(arguments: PixelFormat.allCases)
    func transformsKeepTheFormat(format: PixelFormat) throws {
        // given
        let bytes = try Fixtures.bytes("png/rgba16.png")
        let plain = DecodeOptions(format: format, background: 0x336699)
        let aligned = DecodeOptions(format: format, background: 0x336699, memory: PixelMemory(rowAlignment: 64))
        for odd in PixelFormat.allCases {
            let custom = PictureTransform.custom(key: "odd") { pixels in
                let made = PixelBuffer(width: 3, height: 2, format: odd)
                made?.base.initializeMemory(as: UInt8.self, repeating: 255, count: 2 * (made?.stride ?? 0))
                return made
            }
            // when
            let pixels = try decoders.decode(bytes, in: form(custom, base: aligned)).decoded()
            // then
            #expect(pixels.format == format && pixels.stride % 64 == 0 && pixels.width == 3)
        }
        let rounded = try decoders.decode(bytes, in: form(.roundCorners(radius: 4, .all), base: plain)).decoded()
        #expect(rounded.format == format)
    }

    @Test("in formats without alpha the background shows behind round corners")
    func roundCornersShowTheBackground() throws {
        let plain = DecodeOptions(format: .rgb8, background: 0x336699)
        let pixels = try decoders.decode(
            Fixtures.bytes("png/rgb8.png"), in: form(.roundCorners(radius: 8, .topLeft), base: plain)
        ).decoded()
        #expect(pixels.plainBytes.prefix(3) == [0x33, 0x66, 0x99])
    }

    @Test func equalOptionsAreTransformedOnce() throws {
        // given
        let calls = Recorder<Int>()
        let counted = PictureTransform.custom(key: "counted") { pixels in
            calls.record(pixels.width)
            return try? TransformChain([Self.flip]).apply(to: pixels)
        }
        let other = PictureTransform.custom(key: "counted") { _ in nil }
        let forms = [form(counted), DecodeOptions(), form(Self.flip)]
        // when
        let made = try decoders.decode(Fixtures.bytes("png/rgb8.png"), forms: forms, limits: DecodeLimits())
        // then
        #expect(made.map { $0.form } == forms && calls.all.count == 1)
        let images = try made.map { try $0.image.get() }
        #expect(Raster(images[0]) == Raster(images[2]) && Raster(images[1]) == mirrored(Raster(images[0])))
        #expect(images[1].bytes != nil && images[0].bytes == nil)
        // Transforms are compared by their keys.
        #expect(form(counted) == form(other) && form(counted).hashValue == form(other).hashValue)
        #expect(form(counted) != form(Self.flip) && form(counted) != DecodeOptions() && form() == DecodeOptions())
        #expect(form(counted) != form(counted, animated: true))
    }

    @Test func aFailedTransformFailsItsPictureAlone() throws {
        let outside = form(.crop(x: 900, y: 0, width: 1, height: 1))
        let refused = form(.custom(key: "no") { _ in nil })
        let made = try decoders.decode(
            Fixtures.bytes("png/rgb8.png"), forms: [outside, DecodeOptions(), refused], limits: DecodeLimits())
        for index in [0, 2] {
            #expect { try made[index].image.get() } throws: { ($0 as? CoderError)?.kind == .transform }
        }
        #expect(try made[1].image.get().width > 0)
    }

    @Test func transformsWithoutEffectKeepBytesAndFacts() throws {
        let image = try decoders.decode(Fixtures.bytes("png/rgb8.png"), in: form(.resize(SizeRule(width: 900))))
        #expect(image.bytes != nil && image.facts != nil)
    }

    @Test func previewsAreNotTransformed() throws {
        // given
        let name = "png/rgb8-interlaced.png"
        let whole = try Fixtures.array(name)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let turned = form(.rotate(.one), .resize(SizeRule(width: 3)))
        let size = try Pictures.expected(name)
        // when
        var previews: [Image] = []
        for count in stride(from: 1, to: whole.count, by: 20) {
            let step = try stream.read(bytes(of: whole[..<count]), forms: [turned], isLast: false, previewScans: 0)
            previews += step.previews.map { $0.image }
        }
        let end = try stream.read(bytes(of: whole), forms: [turned], isLast: true)
        // then
        #expect(!previews.isEmpty && previews.allSatisfy { $0.width == size.width && $0.height == size.height })
        #expect(try end.pictures?.first?.image.get().width == 3)
    }

    @Test func aTransformedPartialPictureHasNoGoodRows() throws {
        let whole = try Fixtures.array("png/rgb8.png")
        let image = try decoders.decode(
            bytes(of: whole[..<(whole.count - 100)]), in: form(Self.flip, base: DecodeOptions(isLenient: true)))
        #expect(image.isPartial && image.goodRowCount == 0)
    }

    // MARK: Animations

    @Test func anAnimationIsNotTransformed() throws {
        let fixture = try AnimationFixture("as-pillow")
        let image = try decoders.decode(fixture.bytes, in: form(Self.flip))
        #expect(image.frameCount == fixture.frames.count && image.pixels.plainBytes == fixture.frames[0])
        #expect(image.bytes != nil)
    }

    @Test(arguments: [DecodeOptions.Frames.access, .preload, .firstOnly])
    func anAnimationsFirstFrameIsTransformedOnRequest(frames: DecodeOptions.Frames) throws {
        // given
        let fixture = try AnimationFixture("as-pillow")
        let first = Raster(width: fixture.width, height: fixture.height, rgba: fixture.frames[0])
        // when
        let wanted = form(Self.flip, base: DecodeOptions(frames: frames), animated: true)
        let image = try decoders.decode(fixture.bytes, in: wanted)
        // then
        #expect(image.frameCount == 1 && image.animation == nil && Raster(image) == mirrored(first))
    }

    @Test func theFirstFrameAloneIsTransformed() throws {
        let fixture = try AnimationFixture("as-pillow")
        let image = try decoders.decode(fixture.bytes, in: form(Self.flip, base: DecodeOptions(frames: .firstOnly)))
        #expect(image.frameCount == 1 && image.pixels.plainBytes != fixture.frames[0])
    }

    // MARK: Stored results

    @Test func aStoredResultIsOnlyDecoded() throws {
        // given: 17 x 3, cropped to 9 x 3, and turned
        let wanted = form(.rotate(.one), base: DecodeOptions(size: SizeRule(width: 9, height: 3, fit: .fill)))
        let made = try decoders.decode(Fixtures.bytes("png/size-17x3.png"), in: wanted)
        let encoded = try ImageEncoder.encode(made.decoded(), EncodeOptions(format: .png), registry: .builtIn)
        // when
        let again = try decoders.decode(encoded, in: wanted, isMade: true)
        // then
        #expect(Raster(again) == Raster(made) && again.width == 3 && again.height == 9)
        #expect(again.form == wanted && again.bytes === encoded)
        // If the stored result were taken for an original, it would be transformed again.
        #expect(try Raster(decoders.decode(encoded, in: wanted)) != Raster(made))
    }

    @Test func aStoredAnimationIsTransformedAsUsual() throws {
        let fixture = try AnimationFixture("as-pillow")
        let small = DecodeOptions(size: SizeRule(width: 2))
        for isMade in [false, true] {
            let image = try decoders.decode(fixture.bytes, in: form(Self.flip, base: small), isMade: isMade)
            #expect(image.width == 2 && image.frameCount == fixture.frames.count)
            let still = try decoders.decode(fixture.bytes, in: form(Self.flip, animated: true), isMade: isMade)
            #expect(still.frameCount == 1 && still.pixels.plainBytes != fixture.frames[0])
        }
    }

    // MARK: Invalid options

    @Test func transformsExcludeLazyPixelsAndAppMemory() throws {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        defer { memory.deallocate() }
        let callers = PixelMemory(owner: .caller(PixelSpace(base: memory, size: 64, stride: 0)))
        let allocator = PixelAllocator(allocate: { _, _, _ in nil }, release: { _, _, _ in }, userData: nil)
        for base in [
            DecodeOptions(isLazy: true), DecodeOptions(memory: callers),
            DecodeOptions(memory: PixelMemory(owner: .allocator(allocator))),
        ] {
            #expect(base.isPossible && form(base: base).isPossible && !form(Self.flip, base: base).isPossible)
        }
        #expect(form(Self.flip).isPossible && !DecodeOptions(memory: callers, isLazy: true).isPossible)
    }
}

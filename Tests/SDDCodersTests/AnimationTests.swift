import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Frames as the decode options ask for them.
@Suite struct AnimationTests {
    private let decoders = DecoderSet(registry: .builtIn)

    @Test(arguments: AnimationFixture.names)
    func framesAreThoseOfTheAnimation(name: String) throws {
        // given
        let fixture = try AnimationFixture(name)
        // when
        let image = try decode(fixture.bytes, DecodeOptions())
        // then
        #expect(image.frameCount == fixture.frames.count)
        #expect(image.animation?.loopCount == fixture.loopCount)
        for (index, expected) in fixture.frames.enumerated() {
            let frame = try #require(try image.frame(index))
            #expect(frame.pixels.plainBytes == expected, "frame \(index)")
            #expect(frame.format == .png && frame.bytes == nil && frame.facts == nil && frame.frameCount == 1)
        }
        #expect(try image.frame(-1) == nil && image.frame(fixture.frames.count) == nil)
    }

    /// Each frame, saved as a still picture, gives the same pixels with those options.
    @Test(arguments: PixelFormat.allCases)
    func framesFollowTheDecodeOptions(format: PixelFormat) throws {
        // given
        let fixture = try AnimationFixture("translucent")
        let turned = bytes(of: Self.turned(Array(fixture.bytes.pointer)))
        for isUpright in [true, false] {
            for size in [SizeRule.none, SizeRule(width: 5, height: 9), SizeRule(width: 4, height: 4, fit: .fill)] {
                let form = DecodeOptions(format: format, isUpright: isUpright, background: 0x336699, size: size)
                // when
                let image = try decode(turned, form)
                for (index, expected) in fixture.frames.enumerated() {
                    let frame = try #require(try image.frame(index))
                    // then
                    let still = try stillPicture(expected, fixture, form)
                    try #require(frame.pixels.plainBytes == still.plainBytes, "\(form), frame \(index)")
                    #expect(frame.form == form && frame.pixels.width == image.pixels.width)
                    #expect(frame.pixels.height == image.pixels.height && frame.pixels.format == format)
                }
            }
        }
    }

    @Test func aStillPictureIsItsOnlyFrame() throws {
        for name in ["png/rgb8.png", "jpeg/grey.jpg"] {
            let image = try decode(Fixtures.bytes(name), DecodeOptions(frames: .preload))
            #expect(image.frameCount == 1 && image.animation == nil)
            #expect(try image.frame(0) === image)
            #expect(try image.frame(1) == nil)
        }
    }

    @Test func theFirstFrameAloneIsAStillPicture() throws {
        let fixture = try AnimationFixture("as-pillow")
        let image = try decode(fixture.bytes, DecodeOptions(frames: .firstOnly))
        #expect(image.frameCount == 1)
        #expect(image.pixels.plainBytes == fixture.frames[0])
        #expect(image.facts?.frameCount == fixture.frames.count)
    }

    /// A default image that is not part of the animation is still the image's picture.
    @Test func theDefaultImageMayBeNoFrame() throws {
        let fixture = try AnimationFixture("apart")
        let image = try decode(fixture.bytes, DecodeOptions())
        #expect(image.pixels.plainBytes != fixture.frames[0])
        #expect(try image.frame(0)?.pixels.plainBytes == fixture.frames[0])
    }

    // MARK: - Preloaded frames

    @Test(arguments: AnimationFixture.names)
    func framesMayBeDecodedWithThePicture(name: String) throws {
        // given
        let fixture = try AnimationFixture(name)
        // when
        let image = try decode(fixture.bytes, DecodeOptions(frames: .preload))
        // then
        for (index, expected) in fixture.frames.enumerated() {
            let frame = try #require(try image.frame(index))
            #expect(frame.pixels.plainBytes == expected)
            #expect(try image.frame(index)?.pixels === frame.pixels)
        }
    }

    @Test(arguments: ["damaged-crc-2", "damaged-data-1", "damaged-short-2", "damaged-empty-1"])
    func aDamagedFrameLeavesTheStillPicture(name: String) throws {
        let bytes = try Fixtures.bytes("frames/bad/\(name).png")
        let image = try decode(bytes, DecodeOptions(frames: .preload))
        #expect(try Raster(image) == Raster(pam: Fixtures.array("frames/bad/still.pam")))
        #expect(image.frameCount == 1)
        #expect(try decode(bytes, DecodeOptions()).frameCount == 3)
    }

    @Test func tooManyFramesAreNotPreloaded() throws {
        // given: 7 frames of 14 x 11 pixels
        let fixture = try AnimationFixture("pillow")
        let outcome = { (maxFrames: Int, maxPixels: Int, size: SizeRule, maxBytes: Int) -> CoderError? in
            var limits = DecodeLimits(maxPixels: maxPixels)
            limits.maxFrames = maxFrames
            limits.maxBytes = maxBytes
            do throws(CoderError) {
                _ = try decoders.decode(
                    fixture.bytes, forms: [DecodeOptions(size: size, frames: .preload)], limits: limits)[0]
                    .image.get()
                return nil
            } catch {
                return error
            }
        }
        // when, then
        #expect(outcome(7, 7 * 154, .none, 0) == nil)
        #expect(outcome(6, 7 * 154, .none, 0) == CoderError(.tooManyFrames, "7 frames"))
        #expect(outcome(7, 7 * 154 - 1, .none, 0) == CoderError(.tooManyFrames, "7 frames of 14 x 11 pixels"))
        // The limit is on their size in memory.
        #expect(outcome(7, 154, SizeRule(width: 4, height: 4), 0) == nil)
        #expect(outcome(7, 7 * 154, .none, 7 * 616) == nil)
        #expect(outcome(7, 7 * 154, .none, 7 * 616 - 1) == CoderError(.tooMuchMemory, "7 frames of 616 bytes"))
    }

    /// Once all frames are decoded, the source of the frames is freed.
    @Test func preloadedFramesFreeTheirSource() throws {
        // given
        var source: OneColourFrames? = OneColourFrames()
        weak let remains = source
        // when
        let form = DecodeOptions(format: .grey8, frames: .preload)
        let limits = DecodeLimits()
        let animation = try #require(
            try Animation(source, form: form, nil, limits: limits, DecodeClock(limits, byteCount: 0)))
        source = nil
        // then
        #expect(remains == nil)
        #expect(animation.frameCount == 3 && animation.loopCount == 5)
        for index in 0..<3 {
            #expect(animation.duration(of: index) == Int64(index * 10))
            #expect(try animation.frame(index).plainBytes == [UInt8(index * 50)])
        }
        #expect(animation.duration(of: 3) == 0 && animation.duration(of: -1) == 0)
    }

    /// All frames together have the time limit of one picture.
    @Test func respectsTheTimeLimit() throws {
        // given: three frames that take 2 ms each
        let source = OneColourFrames(milliseconds: 2)
        var limits = DecodeLimits()
        let outcome = { (limits: DecodeLimits, byteCount: Int) -> CoderError? in
            do throws(CoderError) {
                let clock = DecodeClock(limits, byteCount: byteCount)
                _ = try Animation(source, form: DecodeOptions(frames: .preload), nil, limits: limits, clock)
                return nil
            } catch {
                return error
            }
        }
        // when, then
        (limits.milliseconds, limits.millisecondsPerMiB) = (3, 0)
        #expect(outcome(limits, 0) == CoderError(.tooSlow))
        #expect(outcome(limits, .max) == CoderError(.tooSlow))
        limits.millisecondsPerMiB = 1000
        #expect(outcome(limits, 100 << 20) == nil)
        #expect(outcome(limits, .max) == nil)
        limits.milliseconds = 0
        #expect(outcome(limits, 0) == nil)
    }

    @Test func eachSetOfOptionsHasItsFrames() throws {
        let fixture = try AnimationFixture("as-pillow")
        let forms = [
            DecodeOptions(), DecodeOptions(frames: .preload), DecodeOptions(frames: .firstOnly),
            DecodeOptions(format: .bgra8),
        ]
        let pictures = try decoders.decode(fixture.bytes, forms: forms, limits: DecodeLimits())
        #expect(pictures.map(\.form) == forms && Set(forms).count == 4)
        #expect(try pictures.map { try $0.image.get().frameCount } == [16, 16, 1, 16])
    }

    private func decode(_ bytes: Bytes, _ form: DecodeOptions) throws -> Image {
        try decoders.decode(bytes, form: form, maxPixels: 1 << 20)
    }

    /// Returns the pixels of a whole frame with these options, by way of a PNG that is not animated.
    private func stillPicture(_ rgba: [UInt8], _ fixture: AnimationFixture, _ form: DecodeOptions) throws -> PixelBuffer
    {
        let canvas = try #require(PixelBuffer(width: fixture.width, height: fixture.height))
        rgba.withUnsafeBytes { canvas.base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        let plan =
            form.isUpright
            ? form.size.plan(width: fixture.height, height: fixture.width).transposed
            : form.size.plan(width: fixture.width, height: fixture.height)
        let reduced = try #require(PixelBuffer(width: plan.width, height: plan.height))
        let reducer = try AreaReducer(
            width: fixture.width, height: fixture.height, plan: plan, storedWidth: fixture.width,
            storedHeight: fixture.height, into: reduced, isOpaque: false)
        for y in 0..<fixture.height { reducer.take(canvas.base + y * canvas.stride) }
        return try PixelConverter(plan.isWhole ? canvas : reduced, to: form, orientation: 6).make()
    }

    /// Inserts an Exif block after the header that says 6, a turn by a quarter.
    private static func turned(_ png: [UInt8]) -> [UInt8] {
        let block: [UInt8] = [
            0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0,
        ]
        let named = Array("eXIf".utf8) + block
        var sum = CRC32()
        named.withUnsafeBytes { sum.add($0) }
        let digits = { (number: UInt32) in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let chunk = digits(UInt32(block.count)) + named + digits(sum.value)
        return Array(png[..<33]) + chunk + Array(png[33...])
    }
}

/// A source of three frames of one grey pixel each.
private final class OneColourFrames: FrameSource {
    var encodedByteCount: Int { 0 }
    var keptByteCount: Int { 0 }
    let frameCount = 3
    let loopCount = 5
    private let milliseconds: Int

    init(milliseconds: Int = 0) { self.milliseconds = milliseconds }

    func duration(of index: Int) -> Int64 { Int64(index * 10) }

    func frame(_ index: Int) throws(CoderError) -> PixelBuffer {
        var limits = DecodeLimits()
        (limits.milliseconds, limits.millisecondsPerMiB) = (Int64(milliseconds), 0)
        let clock = DecodeClock(limits, byteCount: 0)
        // It takes processor time, as the limit is on that.
        while milliseconds > 0, (try? clock.check()) != nil {}
        let pixels = try PixelBuffer.make(width: 1, height: 1, .rgba8)
        let grey = UInt32(index * 50) * 0x01_0101 | 0xff00_0000
        pixels.base.storeBytes(of: grey.littleEndian, as: UInt32.self)
        return pixels
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Animations that the library encodes, read back by itself.
@Suite struct APNGEncoderTests {
    private let decoders = DecoderSet(registry: .builtIn)

    /// Frames, durations and loops come back as they were.
    @Test(arguments: AnimationFixture.names)
    func writesWhatItReads(name: String) throws {
        // given
        let fixture = try AnimationFixture(name)
        let image = try decoders.decode(fixture.bytes, form: DecodeOptions(), maxPixels: 1 << 20)
        // when
        let encoded = try ImageEncoder.encode(image, animated(), registry: .builtIn)
        // then
        let again = try decoders.decode(encoded, form: DecodeOptions(), maxPixels: 1 << 20)
        let frames = try #require(again.animation)
        #expect(frames.frameCount == fixture.frames.count && frames.loopCount == fixture.loopCount)
        #expect((0..<frames.frameCount).map { frames.duration(of: $0) } == fixture.durations)
        for (index, expected) in fixture.frames.enumerated() {
            #expect(try frames.frame(index).plainBytes == expected, "frame \(index)")
        }
        #expect(again.pixels.plainBytes == fixture.frames[0])
    }

    /// Of each frame only what differs from the one before is stored.
    @Test func storesWhatDiffers() throws {
        // given: a pixel that moves over a picture which is hard to compress
        var random = SeededRandom(seed: 3)
        let noise = (0..<64 * 64).map { _ in UInt32.random(in: 0..<1 << 24, using: &random) | 0xff00_0000 }
        let frames = try (0..<10).map { number in
            let pixels = try PixelBuffer.make(width: 64, height: 64, .rgba8)
            for (place, pixel) in noise.enumerated() {
                let at = pixels.base + place / 64 * pixels.stride + place % 64 * 4
                at.storeBytes(of: place == number * 65 ? 0xffff_ffff : pixel, as: UInt32.self)
            }
            return (pixels: pixels, duration: Int64(number * 1000))
        }
        let one = try ImageEncoder.encode(frames[0].pixels, EncodeOptions(format: .png))
        // when
        let encoded = try ImageEncoder.encode(Image(frames: frames, loopCount: 2), animated(), registry: .builtIn)
        // then
        #expect(encoded.count < one.count * 3 / 2)
        let again = try #require(
            try decoders.decode(encoded, form: DecodeOptions(), maxPixels: 1 << 20).animation)
        for (index, frame) in frames.enumerated() {
            #expect(try again.frame(index).plainBytes == frame.pixels.plainBytes)
        }
        #expect(again.frameCount == 10 && again.loopCount == 2)
    }

    @Test func aStillPictureAndOtherFormatsHaveNoFrames() throws {
        let fixture = try AnimationFixture("pillow")
        let image = try decoders.decode(fixture.bytes, form: DecodeOptions(), maxPixels: 1 << 20)
        var options = animated()
        #expect(
            APNGAnimation(
                try ImageEncoder.encode(image, EncodeOptions(format: .png), registry: .builtIn),
                limits: DecodeLimits()) == nil)
        options.format = .jpeg
        #expect(throws: EncodeError.unsupported) { try ImageEncoder.encode(image, options, registry: .builtIn) }
        options.format = nil
        options.byteLimit = 100
        #expect(throws: EncodeError.doesNotFit) { try ImageEncoder.encode(image, options, registry: .builtIn) }
        // All frames are scaled.
        options.byteLimit = 0
        options.size = SizeRule(width: 7, height: 7)
        let small = try decoders.decode(
            ImageEncoder.encode(image, options, registry: .builtIn), form: DecodeOptions(), maxPixels: 1 << 20)
        #expect(small.frameCount == 7 && max(small.width, small.height) == 7)
    }

    @Test func aDamagedFrameIsAnError() throws {
        let image = try decoders.decode(
            Fixtures.bytes("frames/bad/damaged-data-1.png"), form: DecodeOptions(), maxPixels: 1 << 20)
        let error = #expect(throws: EncodeError.self) {
            try ImageEncoder.encode(image, animated(), registry: .builtIn)
        }
        guard case .frame = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [0, 1, 10, 33_333, 40_000, 16_666, 1_000_000, 65_535_000, 123_457_000, 65_535_000_000] as [Int64])
    func durationsAreFractions(microseconds: Int64) {
        let (numerator, denominator) = APNGEncoder.fraction(microseconds)
        #expect(numerator <= 65_535 && (1...65_535).contains(denominator))
        #expect(abs(Int64(numerator) * 1_000_000 / Int64(denominator) - microseconds) <= max(10, microseconds / 60_000))
    }

    @Test func aDurationThatIsTooLongIsCut() {
        #expect(APNGEncoder.fraction(.max) == (65_535, 1))
        #expect(APNGEncoder.fraction(40_000) == (40, 1000))
        #expect(APNGEncoder.fraction(33_333) == (1, 30))
    }

    private func animated() -> EncodeOptions {
        var options = EncodeOptions()
        options.isAnimated = true
        return options
    }
}

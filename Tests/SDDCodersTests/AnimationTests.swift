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

    // MARK: - Still pictures that are no frame

    /// A still picture that is not part of the animation is hidden, as in browsers.
    @Test(arguments: [DecodeOptions.Frames.access, .firstOnly, .preload])
    func theFirstFrameIsShown(frames: DecodeOptions.Frames) throws {
        let fixture = try AnimationFixture("apart")
        let image = try decode(fixture.bytes, DecodeOptions(frames: frames))
        #expect(image.pixels.plainBytes == fixture.frames[0])
        #expect(image.frameCount == (frames == .firstOnly ? 1 : 2) && !image.isPartial)
        #expect(try image.frame(0)?.pixels.plainBytes == fixture.frames[0])
    }

    @Test func theHiddenStillPictureIsShownIfAskedFor() throws {
        let fixture = try AnimationFixture("apart")
        let image = try decode(fixture.bytes, DecodeOptions(frames: .still))
        #expect(image.pixels.plainBytes == (try hiddenStill(fixture)) && image.pixels.plainBytes != fixture.frames[0])
        #expect(image.frameCount == 1 && image.animation == nil)
        // For any other animation that is the first frame.
        let other = try AnimationFixture("as-pillow")
        let still = try decode(other.bytes, DecodeOptions(frames: .still))
        #expect(still.frameCount == 1 && still.pixels.plainBytes == other.frames[0])
    }

    /// An animation of one frame has that frame, and no other.
    @Test(arguments: [DecodeOptions.Frames.access, .firstOnly, .preload])
    func oneFrameIsShownForAHiddenStillPicture(frames: DecodeOptions.Frames) throws {
        let fixture = try AnimationFixture("apart")
        let image = try decode(oneFrame(of: fixture), DecodeOptions(frames: frames))
        #expect(image.pixels.plainBytes == fixture.frames[0])
        #expect(image.frameCount == 1 && image.animation == nil && image.facts?.frameCount == 1)
        #expect(try image.frame(0) === image && image.frame(1) == nil)
    }

    /// Sizes, formats and turns are those of the first frame, in one decode for all of them.
    @Test func aHiddenStillPictureLeavesTheFormToTheFrame() throws {
        let fixture = try AnimationFixture("apart")
        let sizes = [SizeRule.none, SizeRule(width: 5, height: 9), SizeRule(width: 4, height: 4, fit: .fill)]
        let forms =
            PixelFormat.allCases.flatMap { format in
                sizes.map { DecodeOptions(format: format, background: 0x336699, size: $0) }
            } + [DecodeOptions(frames: .still), DecodeOptions(isLazy: true)]
        let turned = bytes(of: Self.turned(Array(fixture.bytes.pointer)))
        for (body, counts) in [(turned, Set([1, 2])), (try oneFrame(of: fixture), Set([1]))] {
            let pictures = try decoders.decode(body, forms: forms, limits: DecodeLimits())
            for (form, image) in pictures where form.frames != .still {
                let image = try image.get()
                let frame = try #require(try image.frame(0))
                #expect(try image.decoded().plainBytes == frame.decoded().plainBytes, "\(form)")
            }
            #expect(try Set(pictures.map { try $0.image.get().frameCount }) == counts)
        }
    }

    /// While it arrives, the frame is shown once it is there, and never the hidden still picture.
    @Test func previewsShowTheFirstFrame() throws {
        let fixture = try AnimationFixture("apart")
        for body in [fixture.bytes, try oneFrame(of: fixture)] {
            let whole = Array(body.pointer), form = DecodeOptions()
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            var previews = 0
            for count in 1...whole.count {
                let isLast = count == whole.count
                let step = try stream.read(
                    bytes(of: whole[..<count]), forms: [form], isLast: isLast, previewScans: isLast ? nil : 1)
                previews += step.previews.count
                #expect(step.previews.allSatisfy { $0.image.pixels.plainBytes == fixture.frames[0] })
                if isLast { #expect(try step.pictures?[0].image.get().pixels.plainBytes == fixture.frames[0]) }
            }
            // One for the first frame, and one for each more.
            #expect(previews >= 1 && previews <= 2)
        }
    }

    /// An animation that breaks the rules leaves the still picture; so does a frame that is damaged, where that is
    /// allowed.
    @Test func theHiddenStillPictureRemains() throws {
        let fixture = try AnimationFixture("apart")
        let still = try hiddenStill(fixture)
        // given: more frames than there are
        let broken = try announcing(3, in: fixture)
        #expect(try decode(broken, DecodeOptions()).pixels.plainBytes == still)
        // given: too many frames
        var limits = DecodeLimits()
        limits.maxFrames = 1
        let image = try decoders.decode(fixture.bytes, forms: [DecodeOptions()], limits: limits)[0].image.get()
        #expect(image.pixels.plainBytes == still && image.frameCount == 2 && !image.isPartial)
        // given: a damaged first frame
        let damaged = try damagedFrame(of: fixture)
        #expect(throws: CoderError.self) { try decode(damaged, DecodeOptions()) }
        let rest = try decode(damaged, DecodeOptions(isLenient: true))
        #expect(rest.pixels.plainBytes == still && rest.isPartial)
        #expect(try decode(damaged, DecodeOptions(frames: .still)).pixels.plainBytes == still)
        // given: the end is missing
        let cut = bytes(of: Array(fixture.bytes.pointer).dropLast(20))
        #expect(throws: CoderError.self) { try decode(cut, DecodeOptions()) }
        let beginning = try decode(cut, DecodeOptions(isLenient: true))
        #expect(beginning.pixels.plainBytes == still && beginning.isPartial)
    }

    /// Returns the pixels of the still picture, by way of a PNG without the animation.
    private func hiddenStill(_ fixture: AnimationFixture) throws -> [UInt8] {
        let still = try changed(fixture) { chunk, _ in
            chunk == .acTL || chunk == .fcTL || chunk == .fdAT ? nil : []
        }
        return try decode(still, DecodeOptions()).pixels.plainBytes
    }

    private func oneFrame(of fixture: AnimationFixture) throws -> Bytes {
        var controls = 0
        return try changed(fixture) { chunk, data in
            if chunk == .acTL { return [0, 0, 0, 1] + data[4...] }
            if chunk == .fcTL { controls += 1 }
            return controls > 1 && chunk != .IEND ? nil : []
        }
    }

    private func announcing(_ count: UInt8, in fixture: AnimationFixture) throws -> Bytes {
        try changed(fixture) { chunk, data in chunk == .acTL ? [0, 0, 0, count] + data[4...] : [] }
    }

    private func damagedFrame(of fixture: AnimationFixture) throws -> Bytes {
        var controls = 0
        return try changed(fixture) { chunk, data in
            if chunk == .fcTL { controls += 1 }
            return controls == 1 && chunk == .fdAT ? data[..<8] + data[8...].map { $0 ^ 0x55 } : []
        }
    }

    /// Returns the file with some chunks changed.
    /// - Parameter change: returns the new data of a chunk, empty for the old, or `nil` to leave the chunk out.
    private func changed(_ fixture: AnimationFixture, _ change: (PNGChunkName?, [UInt8]) -> [UInt8]?) throws -> Bytes {
        let whole = Array(fixture.bytes.pointer)
        var made = Array(whole[..<8])
        for chunk in PNGChunks(fixture.bytes.pointer) {
            guard let data = change(chunk.name, Array(chunk.data)) else { continue }
            if let name = chunk.name, !data.isEmpty {
                made += Self.chunk(name, data)
            } else {
                made += whole[chunk.range]
            }
        }
        return bytes(of: made)
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
        let frame = try #require(PixelBuffer(width: fixture.width, height: fixture.height))
        rgba.withUnsafeBytes { frame.base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        let canvas = try PixelConverter(frame, to: form.format.source).make()
        let plan =
            form.isUpright
            ? form.size.plan(width: fixture.height, height: fixture.width).transposed
            : form.size.plan(width: fixture.width, height: fixture.height)
        let reduced = try #require(PixelBuffer(width: plan.width, height: plan.height, format: canvas.format))
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
        let chunk = Self.chunk(.eXIf, block)
        return Array(png[..<33]) + chunk + Array(png[33...])
    }

    private static func chunk(_ name: PNGChunkName, _ data: [UInt8]) -> [UInt8] {
        let digits = { (number: UInt32) in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let named = digits(name.rawValue) + data
        var sum = CRC32()
        named.withUnsafeBytes { sum.add($0) }
        return digits(UInt32(data.count)) + named + digits(sum.value)
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

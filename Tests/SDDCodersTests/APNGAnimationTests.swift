import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

@Suite struct APNGAnimationTests {
    @Test(arguments: AnimationFixture.names)
    func composesAsTheSpecificationSays(name: String) throws {
        // given
        let fixture = try AnimationFixture(name)
        // when
        let animation = try APNGAnimation.make(fixture.bytes)
        // then
        #expect(animation.frameCount == fixture.frames.count)
        #expect(animation.loopCount == fixture.loopCount)
        #expect((0..<animation.frameCount).map { animation.duration(of: $0) } == fixture.durations)
        for (index, expected) in fixture.frames.enumerated() {
            #expect(try animation.plainBytes(index) == expected, "frame \(index)")
        }
        #expect(animation.decodedFrames == fixture.frames.count)
    }

    /// Of 16 bits a channel all are kept where they are asked for, and what is asked for beside them does not change.
    @Test(arguments: ["rgba16", "apart", "translucent"])
    func framesHaveSixteenBitsWhereAskedFor(name: String) throws {
        // given
        let fixture = try AnimationFixture(name)
        let forms = [DecodeOptions(format: .rgba16), DecodeOptions()]
        // when
        let decoded = try DecoderSet(registry: .builtIn).decode(fixture.bytes, forms: forms, limits: DecodeLimits())
        let deep = try decoded[0].image.get(), narrow = try decoded[1].image.get()
        // then
        let frames = try #require(deep.animation)
        for (index, expected) in fixture.frames.enumerated() {
            let frame = try frames.frame(index)
            #expect(frame.format == .rgba16)
            let narrowed = try frame.straightCopy(isNarrow: true).plainBytes
            #expect(zip(narrowed, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "frame \(index)")
            #expect(try narrow.animation?.frame(index).plainBytes == expected, "frame \(index)")
        }
        let first = try frames.frame(0).plainBytes
        #expect(first == deep.pixels.plainBytes)
        let isWidened = stride(from: 0, to: first.count, by: 2).allSatisfy { first[$0] == first[$0 + 1] }
        #expect(isWidened == (name != "rgba16"))
    }

    /// Frames are the same in any order of requests and with any cache size.
    @Test(arguments: AnimationFixture.names, [0, 50_000, 32 << 20])
    func givesTheSameInAnyOrder(name: String, frameCacheBytes: Int) throws {
        // given
        let fixture = try AnimationFixture(name)
        let animation = try APNGAnimation.make(fixture.bytes, frameCacheBytes: frameCacheBytes)
        var random = SeededRandom(seed: 7)
        for _ in 0..<60 {
            // when
            let index = Int.random(in: 0..<animation.frameCount, using: &random)
            // then
            try #require(try animation.plainBytes(index) == fixture.frames[index], "frame \(index)")
        }
    }

    @Test func decodesEachFrameOnceWhenPlayed() throws {
        // given: room for one frame at most
        let fixture = try AnimationFixture("every-operation")
        let animation = try APNGAnimation.make(fixture.bytes, frameCacheBytes: 0)
        // when
        for index in 0..<animation.frameCount { _ = try animation.frame(index) }
        // then
        #expect(animation.decodedFrames == animation.frameCount)
        _ = try animation.frame(animation.frameCount - 1)
        #expect(animation.decodedFrames == animation.frameCount)
        // A step back decodes everything from the beginning.
        _ = try animation.frame(animation.frameCount - 2)
        #expect(animation.decodedFrames == 2 * animation.frameCount - 1)
    }

    @Test func playsAgainFromTheFrameCache() throws {
        let animation = try APNGAnimation.make(AnimationFixture("every-operation").bytes)
        for index in 0..<3 * animation.frameCount { _ = try animation.frame(index % animation.frameCount) }
        #expect(animation.decodedFrames == animation.frameCount)
    }

    /// All frames of "pieces" fill the canvas, so that none needs another.
    @Test func beginsWithAFrameThatNeedsNoOther() throws {
        let animation = try APNGAnimation.make(AnimationFixture("pieces").bytes, frameCacheBytes: 0)
        _ = try animation.frame(2)
        #expect(animation.decodedFrames == 1)
    }

    @Test func beginsOnAnEmptyCanvas() throws {
        let animation = try APNGAnimation.make(AnimationFixture("rgb-background").bytes, frameCacheBytes: 0)
        _ = try animation.frame(1)
        #expect(animation.decodedFrames == 1)
    }

    @Test func isSharedByThreads() throws {
        // given
        let fixture = try AnimationFixture("translucent")
        let animation = try APNGAnimation.make(fixture.bytes, frameCacheBytes: 100_000)
        let wrong = Monitor(0)
        // when
        let threads = try (0..<4).map { number in
            try NativeThread(name: "player") {
                var random = SeededRandom(seed: UInt64(number))
                for _ in 0..<40 {
                    let index = Int.random(in: 0..<animation.frameCount, using: &random)
                    if (try? animation.plainBytes(index)) != fixture.frames[index] { wrong.withLock { $0 += 1 } }
                }
            }
        }
        for thread in threads { thread.join() }
        // then
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test(arguments: ["damaged-crc-2", "damaged-data-1", "damaged-short-2", "damaged-empty-1"])
    func reportsADamagedFrameWhenItIsNeeded(name: String) throws {
        // given
        let animation = try APNGAnimation.make(Fixtures.bytes("frames/bad/\(name).png"))
        let damaged = try #require(name.last?.wholeNumberValue)
        // when, then
        for _ in 0..<2 {
            for index in 0..<damaged { _ = try animation.frame(index) }
            let error = #expect(throws: CoderError.self) { try animation.frame(damaged) }
            #expect(error?.kind == .corrupt || error?.kind == .truncated)
        }
        // A later frame that fills the canvas does not need the damaged one.
        if damaged == 1 { _ = try animation.frame(2) }
    }

    @Test func hasNoFrameAfterTheLast() throws {
        let animation = try APNGAnimation.make(AnimationFixture("pillow").bytes)
        #expect(throws: CoderError.self) { try animation.frame(animation.frameCount) }
        #expect(throws: CoderError.self) { try animation.frame(-1) }
        #expect(animation.duration(of: -1) == 0 && animation.duration(of: .max) == 0)
    }

    @Test func doesNotDecodeMoreFramesThanAllowed() throws {
        let bytes = try AnimationFixture("pillow").bytes
        let fitting = try APNGAnimation.make(bytes, maxFrames: 7)
        _ = try fitting.frame(6)
        let oneOver = try APNGAnimation.make(bytes, maxFrames: 6)
        #expect(oneOver.frameCount == 7)
        #expect(throws: CoderError(.tooManyFrames, "7 frames")) { try oneOver.frame(0) }
        #expect(oneOver.decodedFrames == 0)
    }

    @Test func theBeginningOfAFileHasItsCompleteFrames() throws {
        // given
        let fixture = try AnimationFixture("as-pillow")
        let whole = Array(fixture.bytes.pointer)
        for count in 0..<whole.count {
            let beginning = bytes(of: whole[..<count])
            // when
            let animation = APNGAnimation(beginning, limits: DecodeLimits(), isWhole: false)
            // then
            let complete = APNGAnimation.completeFrames(in: beginning)
            #expect((animation?.frameCount ?? complete) == complete)
            if let animation, count % 100 == 0 || count > whole.count - 20 {
                #expect(try animation.plainBytes(complete - 1) == fixture.frames[complete - 1], "\(count) bytes")
            }
            #expect(APNGAnimation(beginning, limits: DecodeLimits()) == nil, "\(count) bytes")
        }
        #expect(APNGAnimation.completeFrames(in: fixture.bytes) == fixture.frames.count)
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Damaged animations give frames or an error, and never end the process.
@Suite struct AnimationDamageTests {
    private static let names = ["every-operation", "palette", "grey1", "apart", "delays", "pieces", "interlaced"]

    @Test(arguments: names)
    func survivesRandomBytes(name: String) throws {
        // given
        let fixture = try AnimationFixture(name)
        let whole = Array(fixture.bytes.pointer)
        var random = SeededRandom(seed: 2026)
        var framesSeen = 0
        for round in 0..<TestLength.count(2000, short: 300) {
            var damaged = whole
            for _ in 0...(round % 4) {
                let place = Int.random(in: 8..<damaged.count, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            // when
            framesSeen += play(damaged, fixture)
            // With correct checksums, the code behind their check runs too.
            framesSeen += play(Pictures.withChecksums(damaged), fixture)
        }
        // then: not everything was refused
        #expect(framesSeen > 0)
        #expect(play(whole, fixture) == fixture.frames.count)
    }

    @Test(arguments: names)
    func survivesEveryCut(name: String) throws {
        let fixture = try AnimationFixture(name)
        let whole = Array(fixture.bytes.pointer)
        for count in 0..<whole.count {
            let beginning = bytes(of: whole[..<count])
            #expect(APNGAnimation(beginning, limits: DecodeLimits()) == nil)
            let complete = APNGAnimation.completeFrames(in: beginning)
            #expect(complete <= fixture.frames.count)
            guard count % 50 == 0 else { continue }
            let animation = APNGAnimation(beginning, limits: DecodeLimits(), isWhole: false)
            if let animation { #expect(try animation.plainBytes(complete - 1) == fixture.frames[complete - 1]) }
        }
    }

    @Test func survivesShiftedChunks() throws {
        // given
        let fixture = try AnimationFixture("as-pillow")
        let whole = Array(fixture.bytes.pointer)
        let chunks = PNGChunks(fixture.bytes.pointer).map(\.range)
        var random = SeededRandom(seed: 5)
        for _ in 0..<2000 {
            var order = chunks
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let taken = order.remove(at: Int.random(in: 1..<order.count, using: &random))
                if Bool.random(using: &random) {
                    order.insert(taken, at: Int.random(in: 1...order.count, using: &random))
                }
            }
            // when
            _ = play(whole[..<8] + order.flatMap { whole[$0] }, fixture)
        }
        // then
        #expect(play(whole, fixture) == fixture.frames.count)
    }

    /// - Returns: The number of frames.
    private func play(_ array: [UInt8], _ fixture: AnimationFixture) -> Int {
        var limits = DecodeLimits(maxPixels: 1 << 16)
        limits.maxFrames = 40
        let body = bytes(of: array)
        guard let animation = APNGAnimation(body, limits: limits) else { return 0 }
        #expect(animation.frameCount >= 1 && APNGAnimation.completeFrames(in: body) == animation.frameCount)
        var frames = 0
        for index in 0..<min(animation.frameCount, 40) where (try? animation.frame(index)) != nil { frames += 1 }
        return frames
    }
}

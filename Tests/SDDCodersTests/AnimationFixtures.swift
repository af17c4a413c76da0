import SDDBase
import TestSupport

@testable import SDDCoders

/// An animation of Tests/Fixtures/frames, and the expected frames.
struct AnimationFixture {
    static let names = [
        "every-operation", "as-pillow", "translucent", "interlaced", "palette", "palette-over", "grey1",
        "rgb-background",
        "rgb-trns", "rgba16", "apart", "first-previous", "delays", "pieces", "pillow",
    ]

    let bytes: Bytes
    let width: Int
    let height: Int
    /// The composed frames as RGBA without padding.
    let frames: [[UInt8]]
    let loopCount: Int
    /// The durations of the frames in microseconds.
    let durations: [Int64]

    init(_ name: String) throws {
        let lines = String(decoding: try Fixtures.array("frames/frames.txt"), as: UTF8.self).split(separator: "\n")
        let words = lines.map { $0.split(separator: " ") }.first { $0.first == name[...] } ?? []
        guard words.count > 3, let count = Int(words[1]), let loopCount = Int(words[2]) else {
            throw TestSupportFailure("no line for \(name)")
        }
        bytes = try Fixtures.bytes("frames/\(name).png")
        let facts = try ImageFacts(of: bytes.pointer)
        (width, height) = (facts.width, facts.height)
        let all = try Fixtures.array("frames/\(name).frames")
        let size = all.count / count
        frames = (0..<count).map { Array(all[$0 * size..<($0 + 1) * size]) }
        self.loopCount = loopCount
        durations = words[3...].compactMap { Int64($0) }
    }
}

extension APNGAnimation {
    /// Makes an animation; the test fails if the bytes are not one.
    static func make(_ bytes: Bytes, frameCacheBytes: Int = 32 << 20, maxFrames: Int = 10_000) throws -> APNGAnimation {
        var limits = DecodeLimits()
        limits.frameCacheBytes = frameCacheBytes
        limits.maxFrames = maxFrames
        guard let made = APNGAnimation(bytes, limits: limits) else { throw TestSupportFailure("no animation") }
        return made
    }

    func plainBytes(_ index: Int) throws -> [UInt8] { try frame(index).plainBytes }
}

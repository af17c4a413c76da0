import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

@Suite struct APNGParserTests {
    private static let broken = [
        "actl-late", "actl-missing", "actl-no-frames", "actl-over-31-bits", "actl-short", "actl-too-few",
        "actl-too-many", "actl-twice", "actl-wrong-crc", "fctl-before-actl", "fctl-blending", "fctl-disposal",
        "fctl-far-away", "fctl-first-small", "fctl-huge", "fctl-long", "fctl-no-height", "fctl-no-width",
        "fctl-too-high", "fctl-too-wide", "fctl-twice", "fctl-without-data", "fctl-without-data-at-end",
        "fctl-wrong-crc", "fdat-before-idat", "fdat-first", "fdat-short", "number-again", "number-gap", "number-not-0",
    ]

    /// A file that breaks a rule is a still picture, never an error.
    @Test(arguments: broken)
    func aBrokenAnimationIsAStillPicture(name: String) throws {
        // given
        let bytes = try Fixtures.bytes("frames/bad/\(name).png")
        // when
        let image = try DecoderSet(registry: .builtIn).decode(bytes, form: DecodeOptions(), maxPixels: 1 << 20)
        // then
        #expect(try Raster(image) == Raster(pam: Fixtures.array("frames/bad/still.pam")))
        #expect(image.animation == nil && image.frameCount == 1)
        #expect(parsed(bytes) == .broken)
    }

    @Test(arguments: AnimationFixture.names)
    func readsToTheEnd(name: String) throws {
        let fixture = try AnimationFixture(name)
        #expect(parsed(fixture.bytes) == .complete)
        // Bytes after the picture are ignored.
        let more = bytes(of: Array(fixture.bytes.pointer) + Array(fixture.bytes.pointer))
        #expect(parsed(more) == .complete)
    }

    @Test(arguments: Pictures.pngs + Pictures.jpegs)
    func findsNoAnimationInStillPictures(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        #expect(parsed(bytes) == .broken)
        #expect(APNGAnimation.completeFrames(in: bytes) == 0)
    }

    /// Parses each beginning of a file: a frame is complete when something else has begun.
    @Test(arguments: AnimationFixture.names)
    func countsTheFramesThatAreComplete(name: String) throws {
        // given: the offsets of the chunks, by a walk of this test's own
        let fixture = try AnimationFixture(name)
        let whole = Array(fixture.bytes.pointer)
        var complete: [(from: Int, frames: Int)] = [(0, 0)]
        var begun = 0, hasData = false, isFirst = false
        var offset = 8
        while offset + 8 <= whole.count {
            let length = whole[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let letters = String(decoding: whole[offset + 4..<offset + 8], as: UTF8.self)
            let ends = letters == "fcTL" || letters == "IEND" || isFirst && letters != "IDAT"
            if hasData && ends { complete.append((offset + 8, begun)) }
            if ends { hasData = false }
            if letters == "fcTL" { begun += 1 }
            if begun > 0 && (letters == "IDAT" || letters == "fdAT") { (hasData, isFirst) = (true, letters == "IDAT") }
            offset += 12 + length
        }
        #expect(complete.last?.frames == fixture.frames.count)
        // when
        for count in 0...whole.count {
            let told = APNGAnimation.completeFrames(in: bytes(of: whole[..<count]))
            // then
            let expected = complete.last { $0.from <= count }?.frames
            try #require(told == expected, "\(count) bytes")
        }
    }

    @Test func computesTheChecksumOfTheStandard() {
        // given: the check value of CRC-32 in the catalogue of such sums
        var sum = CRC32()
        // when
        for part in ["1234", "", "56789"] { Array(part.utf8).withUnsafeBytes { sum.add($0) } }
        // then
        #expect(sum.value == 0xcbf4_3926)
    }

    private func parsed(_ bytes: Bytes) -> APNGParser.Outcome {
        var parser = APNGParser(mostFrames: 100)
        parser.read(bytes.pointer)
        return parser.outcome
    }
}

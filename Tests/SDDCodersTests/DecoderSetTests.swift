import SDDBase
import SDDCoders
import TestSupport
import Testing

@Suite struct DecoderSetTests {
    private let decoders = DecoderSet(registry: .builtIn)

    @Test func anEmptyBodyIsReportedAsEmpty() {
        #expect(decoders.outcome([]) == .failure(.empty))
    }

    @Test(arguments: ["<!DOCTYPE html><html></html>", "GIF89a", "\u{89}", "PNG", "x"])
    func bytesThatAreNoPictureAreOfUnknownFormat(text: String) {
        #expect(decoders.outcome(text.utf8) == .failure(.unknownFormat))
    }

    @Test(
        arguments: [
            [0xff, 0xd8], [0xff, 0xd8, 0xff], [0x89, 0x50], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
        ] as [[UInt8]])
    func aHeaderAloneIsTruncated(bytes: [UInt8]) {
        #expect(decoders.outcome(bytes) == .failure(.truncated))
    }

    @Test(arguments: ["jpeg/size-17x3.jpg", "png/size-17x3.png"])
    func takesUpToTheLimitOfPixels(name: String) throws {
        // given
        let bytes = try Fixtures.bytes(name)
        // when
        let fitting = decoders.outcome(bytes, maxPixels: 51)
        let oneOver = decoders.outcome(bytes, maxPixels: 50)
        let nonsense = decoders.outcome(bytes, maxPixels: -1)
        // then
        #expect(try fitting == .picture(Pictures.expected(name)))
        #expect(oneOver == .failure(.tooManyPixels))
        #expect(nonsense == .failure(.tooManyPixels))
    }

    @Test func theErrorSaysTheExcessiveSize() throws {
        // given
        let bytes = try Fixtures.bytes("png/bad/huge.png")
        // when
        let error = #expect(throws: CoderError.self) {
            try decoders.decode(bytes, form: .stored, maxPixels: 128 << 20)
        }
        // then
        #expect(error == CoderError(.tooManyPixels, "2147483647 x 2147483647 pixels"))
    }

    @Test func asksTheCoderThatWasRegisteredLast() throws {
        // given
        var registry = CoderRegistry.builtIn
        registry.register(RefusingCoder(format: .png))
        let decoders = DecoderSet(registry: registry)
        // when
        let png = try decoders.outcome(Fixtures.bytes("png/rgb8.png"))
        let jpeg = try decoders.outcome(Fixtures.bytes("jpeg/grey.jpg"))
        let untouched = try self.decoders.outcome(Fixtures.bytes("png/rgb8.png"))
        // then
        #expect(png == .failure(.unsupported))
        #expect(try jpeg == .picture(Pictures.expected("jpeg/grey.jpg")))
        #expect(try untouched == .picture(Pictures.expected("png/rgb8.png")))
    }

    @Test func aFormatWithoutACoderIsUnknown() throws {
        // given
        let decoders = DecoderSet(registry: CoderRegistry([JPEGCoder()]))
        // when
        let outcome = try decoders.outcome(Fixtures.bytes("png/rgb8.png"))
        // then
        #expect(outcome == .failure(.unknownFormat))
    }
}

private struct RefusingCoder: ImageCoding {
    let format: ImageFormat

    func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading {
        throw CoderError(.unsupported, "refused")
    }
}

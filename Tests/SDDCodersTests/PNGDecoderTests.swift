import SDDBase
import SDDCoders
import TestSupport
import Testing

@Suite struct PNGDecoderTests {
    private let decoders = DecoderSet(registry: .builtIn)

    @Test(arguments: Pictures.pngs)
    func givesThePixelsOfTheSpecification(name: String) throws {
        // given
        let bytes = try Fixtures.bytes(name)
        // when
        let image = try decoders.decode(bytes, form: .stored, maxPixels: 1 << 20)
        // then
        #expect(try Raster(image) == Pictures.expected(name))
        #expect(image.format == .png)
        #expect(image.bytes === bytes)
    }

    @Test(arguments: [
        ("huge", CoderError.Kind.tooManyPixels), ("idat-apart", .corrupt), ("idat-twice", .corrupt),
        ("idat-wrong-adler", .corrupt),
        ("idat-wrong-adler-apart", .corrupt), ("idat-wrong-crc", .corrupt), ("no-idat", .corrupt),
        ("over-31-bits", .corrupt), ("palette-missing", .corrupt), ("too-few-rows", .corrupt),
        ("trns-wrong-crc", .corrupt), ("unknown-critical", .unsupported), ("zero-height", .zeroPixels),
        ("zero-width", .zeroPixels),
    ])
    func reportsTheKindOfError(name: String, kind: CoderError.Kind) throws {
        // given
        let bytes = try Fixtures.bytes("png/bad/\(name).png")
        // when
        let outcome = decoders.outcome(bytes, maxPixels: 128 << 20)
        // then
        #expect(outcome == .failure(kind))
    }

    @Test func keepsTheMessageOfTheLibrary() throws {
        // given
        let bytes = try Fixtures.bytes("png/bad/idat-wrong-crc.png")
        // when
        let error = #expect(throws: CoderError.self) {
            try decoders.decode(bytes, form: .stored, maxPixels: 1 << 20)
        }
        // then
        #expect(error == CoderError(.corrupt, "IDAT: CRC error"))
    }

    @Test(arguments: Pictures.pngs)
    func needsEveryByteUpToTheEnd(name: String) throws {
        // given
        let whole = try Fixtures.array(name)
        // Every cut of a small file; of the one with large texts, every 61st.
        for count in stride(from: 2, to: whole.count, by: whole.count < 4096 ? 1 : 61) {
            // when
            let outcome = decoders.outcome(whole.prefix(count))
            // then
            #expect(outcome == .failure(.truncated), "\(count) bytes")
        }
    }

    @Test func ignoresBytesAfterTheEnd() throws {
        // given
        let name = "png/palette4-interlaced.png"
        let whole = try Fixtures.array(name)
        // when
        let outcome = decoders.outcome(whole + [1, 2, 3] + whole)
        // then
        #expect(try outcome == .picture(Pictures.expected(name)))
    }
}

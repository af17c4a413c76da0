import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Code points of AVIF and HEIF, some of which mean another curve than the same numbers in a PNG.
@Suite struct CodePointTests {
    private static let films = [1, 6, 11, 14, 15]

    private static func colour(of points: CodePoints) -> PictureColour? {
        var description = ColourDescription()
        description.codePoints = points
        return PictureColour.made(of: description)
    }

    /// Makes an image of 16 x 16 colours.
    private func image(_ points: CodePoints) throws -> Image {
        let pixels = try #require(PixelBuffer(width: 16, height: 16))
        for index in 0..<256 {
            let pixel = SIMD4(UInt8(index), UInt8(255 - index), UInt8(index * 7 & 0xff), 255)
            (pixels.base + index / 16 * pixels.stride).storeBytes(
                of: pixel, toByteOffset: index % 16 * 4, as: SIMD4<UInt8>.self)
        }
        return Image(pixels: pixels, format: nil, bytes: nil, colour: Self.colour(of: points))
    }

    private func inSRGB(_ image: Image) throws -> [UInt8] {
        let pixels = try image.decoded().straightCopy()
        try image.colour?.converter?.convert(pixels)
        return pixels.plainBytes
    }

    @Test(arguments: films + [2, 4, 8, 13])
    func aPNGOfAStillHasItsColours(transfer: Int) throws {
        // given
        let still = try image(CodePoints(primaries: 12, transfer: transfer, isOfStills: true))
        // when
        let png = try ImageEncoder.encode(
            still.decoded(), EncodeOptions(format: .png), colour: EncodedColour(of: still))
        // then
        let form = DecodeOptions(colour: .sRGB)
        let again = try DecoderSet(registry: .builtIn).decode(png, form: form, maxPixels: 1 << 20)
        #expect(try again.pixels.plainBytes == inSRGB(still))
    }

    @Test(arguments: films)
    func otherFormatsOfAPNGOfFilmsAreConverted(transfer: Int) throws {
        let colour = EncodedColour(of: try image(CodePoints(primaries: 9, transfer: transfer)))
        let parts = colour.parts(for: try #require(ImageFormat(rawValue: 1000)))
        #expect(parts.codePoints == nil && colour.converter(ifNotSaidBy: parts) != nil)
        #expect(colour.parts(for: .png).codePoints?.transfer == transfer)
    }

    @Test(arguments: films)
    func otherFormatsOfAStillSayWhatItMeans(transfer: Int) throws {
        let colour = EncodedColour(of: try image(CodePoints(primaries: 9, transfer: transfer, isOfStills: true)))
        let points = colour.parts(for: try #require(ImageFormat(rawValue: 1000))).codePoints
        #expect((points?.primaries, points?.transfer) == (9, 13))
    }

    /// What a still leaves open is that of sRGB, as in browsers, unless it leaves everything open.
    @Test func unspecifiedNumbersOfStillsAreThoseOfSRGB() throws {
        let still = try image(CodePoints(primaries: 12, transfer: 2, isOfStills: true))
        #expect(try inSRGB(still) == inSRGB(image(CodePoints(primaries: 12, transfer: 13))))
        #expect(try inSRGB(still) != still.pixels.plainBytes)
        #expect(Self.colour(of: CodePoints(primaries: 2, transfer: 13, isOfStills: true))?.kind == .sRGB)
        #expect(Self.colour(of: CodePoints(primaries: 2, transfer: 2, isOfStills: true)) == nil)
        #expect(Self.colour(of: CodePoints(primaries: 12, transfer: 2)) == nil)
    }
}

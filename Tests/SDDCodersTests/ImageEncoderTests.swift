import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// JPEGs are compared with the files of `cjpeg`, and PNGs pixel by pixel.
@Suite struct ImageEncoderTests {
    private let decoders = DecoderSet(registry: .builtIn)

    // MARK: JPEG

    @Test(arguments: [1, 30, 75, 100])
    func aJPEGIsTheFileOfCjpeg(quality: Int) throws {
        var options = EncodeOptions(format: .jpeg)
        options.quality = quality
        #expect(try encode("opaque", options) == Fixtures.array("encoded/opaque-\(quality).jpg"))
    }

    @Test func chromaAndScansAreAsByCjpeg() throws {
        var options = EncodeOptions(format: .jpeg)
        (options.quality, options.chroma) = (90, .halfWidth)
        #expect(try encode("opaque", options) == Fixtures.array("encoded/opaque-90-422.jpg"))
        options.chroma = .full
        #expect(try encode("opaque", options) == Fixtures.array("encoded/opaque-90-444.jpg"))
        (options.quality, options.chroma, options.isProgressive) = (60, .half, true)
        #expect(try encode("opaque", options) == Fixtures.array("encoded/opaque-60-progressive.jpg"))
    }

    /// Grey is stored as grey; all other formats give the same picture.
    @Test func aJPEGIsMadeOfAnyPixelFormat() throws {
        var options = EncodeOptions(format: .jpeg)
        options.quality = 80
        #expect(try encode("opaque", options, as: .grey8) == Fixtures.array("encoded/opaque-80-grey.jpg"))
        options.quality = 75
        for format in PixelFormat.allCases where format != .grey8 {
            let made = try encode("opaque", options, as: format)
            #expect(try made == Fixtures.array("encoded/opaque-75.jpg"), "\(format)")
        }
    }

    @Test(arguments: [PixelFormat.rgba8, .bgra8])
    func theBackgroundShowsThroughInAJPEG(format: PixelFormat) throws {
        var options = EncodeOptions(format: .jpeg)
        (options.quality, options.background) = (80, 0x336699)
        #expect(try encode("glass", options, as: format) == Fixtures.array("encoded/glass-80.jpg"))
    }

    @Test func aJPEGHasSidesUpTo65500() throws {
        for (width, height) in [(65_500, 1), (1, 65_500), (1, 1)] {
            let made = try ImageEncoder.encode(Self.grey(width, height), EncodeOptions())
            let image = try decoders.decode(made, form: DecodeOptions(format: .grey8), maxPixels: 1 << 20)
            #expect(image.format == .jpeg && image.pixels.width == width && image.pixels.height == height)
            #expect(image.pixels.plainBytes.allSatisfy { $0 == 77 })
        }
        for (width, height) in [(65_501, 1), (1, 65_501)] {
            let pixels = try Self.grey(width, height)
            #expect(throws: EncodeError.doesNotFit) {
                try ImageEncoder.encode(pixels, EncodeOptions(format: .jpeg))
            }
            let made = try ImageEncoder.encode(pixels, EncodeOptions())
            let image = try decoders.decode(made, form: DecodeOptions(format: .grey8), maxPixels: 1 << 20)
            #expect(image.format == .png && image.pixels.plainBytes == pixels.plainBytes)
        }
    }

    @Test(arguments: [0, 1, 2, 700, 900, 1100, 1400, 3000])
    func usesTheHighestQualityThatFits(limit: Int64) throws {
        // given
        var options = EncodeOptions(format: .jpeg)
        options.quality = 95
        var sizes: [Int: [UInt8]] = [:]
        for quality in 1...95 {
            options.quality = quality
            sizes[quality] = try encode("opaque", options)
        }
        let fitting = sizes.filter { limit == 0 || $0.value.count <= limit }.max { $0.key < $1.key }
        // when
        options.byteLimit = limit
        // then
        guard let fitting else {
            #expect(throws: EncodeError.doesNotFit) { try encode("opaque", options) }
            return
        }
        #expect(try encode("opaque", options) == fitting.value)
    }

    // MARK: PNG

    @Test(arguments: PixelFormat.allCases)
    func aPNGKeepsEveryPixel(format: PixelFormat) throws {
        for name in ["opaque", "glass"] {
            // given
            let pixels = try Self.pixels(name, as: format)
            // when
            let made = try ImageEncoder.encode(pixels, EncodeOptions(format: .png))
            // then
            let image = try decoders.decode(made, form: DecodeOptions(format: format), maxPixels: 1 << 20)
            #expect(image.pixels.plainBytes == pixels.plainBytes, "\(name)")
            let channels = format == .grey8 ? 1 : name == "glass" && format.hasAlpha ? 4 : 3
            #expect(image.facts?.channels == channels, "\(name)")
        }
    }

    /// Of 16 bits a channel all are kept, also where the colours are converted first.
    @Test(arguments: [PixelFormat.rgba16, .rgba16Premultiplied], ["rgba16", "rgb16", "grey-alpha16"])
    func aPNGKeepsSixteenBits(format: PixelFormat, name: String) throws {
        // given
        let form = DecodeOptions(format: format)
        let stored = try decoders.decode(Fixtures.bytes("png/\(name).png"), form: form, maxPixels: 1 << 20)
        // when
        let made = try ImageEncoder.encode(stored.pixels, EncodeOptions(format: .png))
        // then
        let again = try decoders.decode(made, form: form, maxPixels: 1 << 20)
        #expect(again.pixels.plainBytes == stored.pixels.plainBytes)
        #expect(again.facts?.depth == 16)
        #expect(again.facts?.channels == (name == "rgb16" ? 3 : 4))
    }

    @Test func sixteenBitsAreConvertedWithAllOfThem() throws {
        // given: a PNG of colours has no profile of greys
        let deep = DecodeOptions(format: .rgba16)
        let profiled = try decoders.decode(Fixtures.bytes("colour/grey.jpg"), form: deep, maxPixels: 1 << 20)
        let expected = try profiled.pixels.straightCopy()
        try profiled.colour?.converter?.convert(expected)
        // when
        let made = try ImageEncoder.encode(
            profiled.pixels, EncodeOptions(format: .png), colour: EncodedColour(of: profiled))
        // then
        let again = try decoders.decode(made, form: deep, maxPixels: 1 << 20)
        #expect(again.pixels.plainBytes == expected.plainBytes)
    }

    @Test func aPNGIsReducedUntilItFits() throws {
        let pixels = try Self.pixels("glass")
        let whole = try ImageEncoder.encode(pixels, EncodeOptions(format: .png)).count
        var options = EncodeOptions(format: .png)
        for limit in [whole, whole - 1, whole / 2, whole / 10, 100] {
            options.byteLimit = Int64(limit)
            let made = try ImageEncoder.encode(pixels, options)
            let image = try decoders.decode(made, form: DecodeOptions(), maxPixels: 1 << 20)
            #expect(made.count <= limit && (image.pixels.width == 37) == (limit == whole))
            // The result is not much smaller than it has to be.
            #expect(made.count > limit / 2, "\(limit): \(made.count)")
            let expected = try pixels.resized(
                SizeRule(width: image.pixels.width, height: image.pixels.height, fit: .stretch))
            #expect(image.pixels.plainBytes == expected.plainBytes)
        }
        // The signature, IHDR, IDAT and IEND of a single pixel are larger.
        options.byteLimit = 56
        #expect(throws: EncodeError.doesNotFit) { try ImageEncoder.encode(pixels, options) }
    }

    // MARK: Both

    @Test func transparencyDecidesTheFormat() throws {
        for format in PixelFormat.allCases {
            let glass = try ImageEncoder.encode(Self.pixels("glass", as: format), EncodeOptions())
            #expect(ImageFormat(sniffing: glass) == (format.hasAlpha ? .png : .jpeg), "\(format)")
            let opaque = try ImageEncoder.encode(Self.pixels("opaque", as: format), EncodeOptions())
            #expect(ImageFormat(sniffing: opaque) == .jpeg, "\(format)")
        }
    }

    @Test(arguments: PixelFormat.allCases)
    func aPictureIsMadeToFit(format: PixelFormat) throws {
        var options = EncodeOptions(format: .png)
        options.size = SizeRule(width: 10, height: 10)
        let made = try ImageEncoder.encode(Self.pixels("glass", as: format), options)
        let image = try decoders.decode(made, form: DecodeOptions(format: format), maxPixels: 1 << 20)
        // 29 * 10 / 37
        #expect(image.pixels.width == 10 && image.pixels.height == 8)
        #expect(image.facts?.channels == (format == .grey8 ? 1 : format.hasAlpha ? 4 : 3))
        options.size = SizeRule(width: 100, height: 100)
        let whole = try ImageEncoder.encode(Self.pixels("opaque"), options)
        #expect(try decoders.decode(whole, form: DecodeOptions(), maxPixels: 1 << 20).pixels.width == 37)
    }

    // MARK: Pixels

    private func encode(_ name: String, _ options: EncodeOptions, as format: PixelFormat = .rgba8) throws -> [UInt8] {
        let made = try ImageEncoder.encode(Self.pixels(name, as: format), options)
        return withExtendedLifetime(made) { Array(made.pointer) }
    }

    private static func pixels(_ name: String, as format: PixelFormat = .rgba8) throws -> PixelBuffer {
        try Raster(pam: Fixtures.array("encoded/\(name).pam")).pixels(as: format)
    }

    private static func grey(_ width: Int, _ height: Int) throws -> PixelBuffer {
        let pixels = try #require(PixelBuffer(width: width, height: height, format: .grey8))
        for y in 0..<height {
            (pixels.base + y * pixels.stride).initializeMemory(as: UInt8.self, repeating: 77, count: width)
        }
        return pixels
    }
}

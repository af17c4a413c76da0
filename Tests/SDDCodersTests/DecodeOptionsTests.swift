import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Rows C6 to C8: pixels as the decode options ask for them, compared with those of Pillow for the same files.
@Suite struct DecodeOptionsTests {
    private static let names =
        [
            "animated.png", "animated-default-apart.png", "grey.jpg", "inks.jpg", "levels.png", "orientation.png",
        ] + (1...8).map { "orientation-\($0).jpg" }

    private static let suffixes: [(PixelFormat, String)] = [
        (.rgba8Premultiplied, "rgba8-premultiplied"), (.bgra8, "bgra8"), (.bgra8Premultiplied, "bgra8-premultiplied"),
        (.rgb8, "rgb8"), (.grey8, "grey8"),
    ]

    /// The sizes that are combined with each format.
    private static let sizes = [SizeRule.none, SizeRule(width: 5), SizeRule(width: 7, height: 6, fit: .fill)]

    private let decoders = DecoderSet(registry: .builtIn)

    /// Pillow shows still pictures, also those that an animation hides.
    @Test(arguments: names)
    func givesThePixelsOfPillow(name: String) throws {
        // given
        let bytes = try Fixtures.bytes("facts/\(name)")
        let stem = "facts/\(name.dropLast(4))."
        for (format, suffix) in Self.suffixes {
            // when
            let form = DecodeOptions(format: format, background: 0x336699, frames: .still)
            let image = try decode(bytes, form)
            // then
            #expect(image.pixels.format == format)
            #expect(image.pixels.plainBytes == (try Fixtures.array(stem + suffix)), "\(suffix)")
        }
        let upright = try decode(bytes, DecodeOptions(frames: .still))
        #expect(try Raster(upright) == Raster(pam: Fixtures.array(stem + "upright.pam")))
        let stored = try decode(bytes, DecodeOptions(isUpright: false, frames: .still))
        #expect(try Raster(stored) == Raster(pam: Fixtures.array(stem + "pam")))
    }

    /// The planes hold the bytes that RGB8 has pixel by pixel.
    @Test(arguments: names)
    func planesHoldTheBytesOfRGB8(name: String) throws {
        let expected = try Fixtures.array("facts/\(name.dropLast(4)).rgb8")
        let form = DecodeOptions(format: .rgb8Planar, background: 0x336699, frames: .still)
        let planes = (0..<3).flatMap { plane in expected.indices.filter { $0 % 3 == plane }.map { expected[$0] } }
        #expect(try decode(Fixtures.bytes("facts/\(name)"), form).pixels.plainBytes == planes)
    }

    /// Rows begin at multiples of the alignment, and are otherwise the same.
    @Test(arguments: names)
    func rowsAreAligned(name: String) throws {
        let bytes = try Fixtures.bytes("facts/\(name)")
        for format in PixelFormat.allCases {
            for size in Self.sizes {
                let packed = try decode(bytes, DecodeOptions(format: format, background: 0x0102_03, size: size)).pixels
                #expect(packed.stride == packed.width * format.bytesPerPixel)
                for alignment in [2, 64, 4096] {
                    let memory = PixelMemory(rowAlignment: alignment)
                    let form = DecodeOptions(format: format, background: 0x0102_03, size: size, memory: memory)
                    let pixels = try decode(bytes, form).pixels
                    #expect(pixels.stride % alignment == 0 && pixels.stride < packed.stride + alignment)
                    #expect(Int(bitPattern: pixels.base) % alignment == 0)
                    #expect(pixels.byteCount == pixels.stride * pixels.height * format.planeCount)
                    #expect(pixels.plainBytes == packed.plainBytes, "\(form)")
                }
            }
        }
    }

    /// The pixels do not depend on what else is decoded at the same time.
    @Test(arguments: names)
    func otherOptionsDoNotChangeThePixels(name: String) throws {
        // given
        let bytes = try Fixtures.bytes("facts/\(name)")
        let forms = PixelFormat.allCases.flatMap { format in
            [true, false].map { DecodeOptions(format: format, isUpright: $0, background: 0x0102_03) }
        }
        // when
        let pictures = try decoders.decode(bytes, forms: forms, limits: DecodeLimits(maxPixels: 1 << 20))
        // then
        #expect(pictures.map(\.form) == forms)
        for picture in pictures {
            let alone = try decode(bytes, picture.form)
            let image = try picture.image.get()
            #expect(image.pixels.plainBytes == alone.pixels.plainBytes, "\(picture.form)")
            #expect(image.bytes === bytes)
        }
    }

    /// Compares pictures larger than a tile, in every orientation, with the definition.
    @Test(arguments: 1...8)
    func turnsLargePicturesToo(orientation: Int) throws {
        // given
        let (width, height) = (97, 71)
        let level = { (x: Int, y: Int) in UInt8(truncatingIfNeeded: x * 7 + y * 31) }
        let stored = try #require(PixelBuffer(width: width, height: height))
        for y in 0..<height {
            for x in 0..<width {
                let grey = UInt32(level(x, y)) * 0x01_0101 | 0xff00_0000
                stored.base.storeBytes(of: grey.littleEndian, toByteOffset: y * stored.stride + x * 4, as: UInt32.self)
            }
        }
        // when
        let pixels = try PixelConverter(stored, to: DecodeOptions(format: .grey8), orientation: orientation).make()
        // then
        let isTurned = orientation > 4
        #expect(pixels.width == (isTurned ? height : width) && pixels.height == (isTurned ? width : height))
        let made = pixels.plainBytes
        for y in 0..<pixels.height {
            for x in 0..<pixels.width {
                // Maps back to the stored picture: Exif names an orientation by where its first row and column lie.
                let (column, row) = isTurned ? (y, x) : (x, y)
                let sourceX = [2, 3, 7, 8].contains(orientation) ? width - 1 - column : column
                let sourceY = [3, 4, 6, 7].contains(orientation) ? height - 1 - row : row
                try #require(made[y * pixels.width + x] == level(sourceX, sourceY), "\(x), \(y)")
            }
        }
    }

    @Test func equalOptionsAreEqual() {
        #expect(DecodeOptions(background: 1) == DecodeOptions(background: 2))
        #expect(DecodeOptions(format: .rgb8, background: 1) != DecodeOptions(format: .rgb8, background: 2))
        #expect(DecodeOptions(format: .rgb8, background: 0xff00_0001) == DecodeOptions(format: .rgb8, background: 1))
        #expect(DecodeOptions(isUpright: false) != DecodeOptions())
        #expect(DecodeOptions(memory: PixelMemory(rowAlignment: 4)) != DecodeOptions())
    }

    @Test func aLimitAppliesToAllOptions() throws {
        let bytes = try Fixtures.bytes("facts/orientation-6.jpg")
        for form in [DecodeOptions(), DecodeOptions(format: .grey8), DecodeOptions(format: .bgra8, isUpright: false)] {
            #expect(throws: CoderError(.tooManyPixels, "12 x 8 pixels")) {
                try decoders.decode(bytes, form: form, maxPixels: 95)
            }
        }
    }

    private func decode(_ bytes: Bytes, _ form: DecodeOptions) throws -> Image {
        try decoders.decode(bytes, form: form, maxPixels: 1 << 20)
    }
}

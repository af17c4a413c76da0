import SDDBase
import SDDCoders
import TestSupport
import Testing

/// Rows C6 to C8: pixels as the caller wants them; compared with what Pillow makes of the same files.
@Suite struct PixelFormTests {
    private static let names =
        [
            "animated.png", "animated-default-apart.png", "grey.jpg", "inks.jpg", "levels.png", "orientation.png",
        ] + (1...8).map { "orientation-\($0).jpg" }

    private static let suffixes: [(PixelFormat, String)] = [
        (.rgba8Premultiplied, "rgba8-premultiplied"), (.bgra8, "bgra8"), (.bgra8Premultiplied, "bgra8-premultiplied"),
        (.rgb8, "rgb8"), (.grey8, "grey8"),
    ]

    private let decoders = DecoderSet(registry: .builtIn)

    @Test(arguments: names)
    func isThatOfPillow(name: String) throws {
        // given
        let bytes = try Fixtures.bytes("facts/\(name)")
        let stem = "facts/\(name.dropLast(4))."
        for (format, suffix) in Self.suffixes {
            // when
            let form = PixelForm(format: format, background: 0x336699)
            let image = try decode(bytes, form)
            // then
            #expect(image.pixels.format == format)
            #expect(Self.plainBytes(of: image.pixels) == (try Fixtures.array(stem + suffix)), "\(suffix)")
        }
        let upright = try decode(bytes, PixelForm())
        #expect(try Raster(upright) == Raster(pam: Fixtures.array(stem + "upright.pam")))
        let stored = try decode(bytes, PixelForm(isUpright: false))
        #expect(try Raster(stored) == Raster(pam: Fixtures.array(stem + "pam")))
    }

    /// Whatever else is asked for at the same time.
    @Test(arguments: names)
    func isTheSameInCompany(name: String) throws {
        // given
        let bytes = try Fixtures.bytes("facts/\(name)")
        let forms = PixelFormat.allCases.flatMap { format in
            [true, false].map { PixelForm(format: format, isUpright: $0, background: 0x0102_03) }
        }
        // when
        let pictures = try decoders.decode(bytes, forms: forms, maxPixels: 1 << 20)
        // then
        #expect(pictures.map(\.form) == forms)
        for picture in pictures {
            let alone = try decode(bytes, picture.form)
            #expect(Self.plainBytes(of: picture.image.pixels) == Self.plainBytes(of: alone.pixels), "\(picture.form)")
            #expect(picture.image.bytes === bytes)
        }
    }

    /// Larger than a tile, in every way a picture can lie, against the definition.
    @Test(arguments: 1...8)
    func turnsLargePicturesToo(orientation: Int) throws {
        // given
        let jpeg = try Fixtures.array("facts/orientation-\(orientation).jpg")
        let (width, height) = (97, 71)
        let bytes = bytes(of: try Self.png(width: width, height: height, exifOf: jpeg))
        // when
        let image = try decode(bytes, PixelForm(format: .grey8))
        // then
        let isTurned = orientation > 4
        #expect(image.pixels.width == (isTurned ? height : width) && image.pixels.height == (isTurned ? width : height))
        let made = Self.plainBytes(of: image.pixels)
        for y in 0..<image.pixels.height {
            for x in 0..<image.pixels.width {
                // Where the corner of the stored picture has gone, by the names Exif gives its sides.
                let (column, row) = isTurned ? (y, x) : (x, y)
                let sourceX = [2, 3, 7, 8].contains(orientation) ? width - 1 - column : column
                let sourceY = [3, 4, 6, 7].contains(orientation) ? height - 1 - row : row
                try #require(made[y * image.pixels.width + x] == Self.level(sourceX, sourceY), "\(x), \(y)")
            }
        }
    }

    @Test func equalFormsAreEqual() {
        #expect(PixelForm(background: 1) == PixelForm(background: 2))
        #expect(PixelForm(format: .rgb8, background: 1) != PixelForm(format: .rgb8, background: 2))
        #expect(PixelForm(format: .rgb8, background: 0xff00_0001) == PixelForm(format: .rgb8, background: 1))
        #expect(PixelForm(isUpright: false) != PixelForm())
    }

    @Test func aLimitHoldsForEveryForm() throws {
        let bytes = try Fixtures.bytes("facts/orientation-6.jpg")
        for form in [PixelForm(), PixelForm(format: .grey8), PixelForm(format: .bgra8, isUpright: false)] {
            #expect(throws: CoderError(.tooManyPixels, "12 x 8 pixels")) {
                try decoders.decode(bytes, options: DecodeOptions(maxPixels: 95, form: form))
            }
        }
    }

    private func decode(_ bytes: Bytes, _ form: PixelForm) throws -> Image {
        try decoders.decode(bytes, options: DecodeOptions(maxPixels: 1 << 20, form: form))
    }

    private static func plainBytes(of pixels: PixelBuffer) -> [UInt8] {
        // Safety: the buffer lives until the bytes are copied.
        let bytes = (0..<pixels.height).flatMap { y in
            Array(
                UnsafeRawBufferPointer(
                    start: pixels.base + y * pixels.stride, count: pixels.width * pixels.format.bytesPerPixel))
        }
        return withExtendedLifetime(pixels) { bytes }
    }

    private static func level(_ x: Int, _ y: Int) -> UInt8 { UInt8(truncatingIfNeeded: x * 7 + y * 31) }

    /// A grey PNG, its data stored without packing, with the Exif block of a JPEG.
    private static func png(width: Int, height: Int, exifOf jpeg: [UInt8]) throws -> [UInt8] {
        let name = try #require(jpeg.indices.first { jpeg[$0...].starts(with: Array("Exif\0\0".utf8)) })
        let length = Int(jpeg[name - 2]) << 8 | Int(jpeg[name - 1])
        let exif = Array(jpeg[(name + 6)..<(name - 2 + length)])
        let rows = (0..<height).flatMap { y -> [UInt8] in [0] + (0..<width).map { level($0, y) } }
        var sums: (UInt32, UInt32) = (1, 0)
        for byte in rows {
            sums.0 = (sums.0 + UInt32(byte)) % 65_521
            sums.1 = (sums.1 + sums.0) % 65_521
        }
        let count = UInt16(rows.count)
        let block: [UInt8] = [0x78, 1, 1] + number(count).reversed() + number(~count).reversed() + rows
        let data = block + number(sums.1 << 16 | sums.0)
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + chunk("IHDR", number(UInt32(width)) + number(UInt32(height)) + [8, 0, 0, 0, 0]) + chunk("eXIf", exif)
            + chunk("IDAT", data) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + data
        var remainder: UInt32 = 0xffff_ffff
        for byte in named {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0xedb8_8320 : 0) }
        }
        return number(UInt32(data.count)) + named + number(~remainder)
    }

    private static func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

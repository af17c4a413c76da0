import Testing

@testable import SDDCoders

/// Rows of every format as RGBA, computed by hand.
@Suite struct PixelRowsTests {
    @Test(
        arguments: [
            (PixelFormat.rgba8, [1, 2, 3, 4], [1, 2, 3, 4]), (.bgra8, [1, 2, 3, 4], [3, 2, 1, 4]),
            (.rgb8, [1, 2, 3], [1, 2, 3, 255]), (.grey8, [9], [9, 9, 9, 255]),
            // 64 * 255 / 128 = 127.5; 3 * 255 / 128 = 5.98
            (.rgba8Premultiplied, [64, 128, 3, 128], [128, 255, 6, 128]),
            (.bgra8Premultiplied, [64, 128, 3, 128], [6, 255, 128, 128]),
            (.rgba8Premultiplied, [7, 8, 9, 255], [7, 8, 9, 255]), (.rgba8Premultiplied, [0, 0, 0, 0], [0, 0, 0, 0]),
            // Impossible values: colours above their alpha.
            (.rgba8Premultiplied, [255, 11, 0, 10], [255, 255, 0, 10]),
            (.bgra8Premultiplied, [9, 9, 9, 0], [0, 0, 0, 0]),
        ] as [(PixelFormat, [UInt8], [UInt8])])
    func readsPixelsAsStraightRGBA(format: PixelFormat, stored: [UInt8], expected: [UInt8]) throws {
        let pixels = try #require(PixelBuffer(width: 3, height: 2, format: format))
        pixels.base.initializeMemory(as: UInt8.self, repeating: 0, count: pixels.byteCount)
        let size = format.bytesPerPixel
        pixels.base.advanced(by: pixels.stride + size).copyMemory(from: stored, byteCount: size)
        var row = [UInt8](repeating: 99, count: 13)
        row.withUnsafeMutableBytes { row in if let base = row.baseAddress { pixels.readRow(1, to: base) } }
        let none: [UInt8] = format.hasAlpha ? [0, 0, 0, 0] : [0, 0, 0, 255]
        #expect(row == Array([none, expected, none, [99]].joined()))
    }

    /// Premultiplying after unpremultiplying restores the value, for any alpha.
    @Test func unpremultiplyingCanBeUndone() throws {
        let pixels = try #require(PixelBuffer(width: 256, height: 256, format: .rgba8Premultiplied))
        for alpha in 0...255 {
            for x in 0...255 {
                let colour = UInt8(min(x, alpha))
                let place = pixels.base + alpha * pixels.stride + x * 4
                place.storeBytes(of: (colour, colour, 0, UInt8(alpha)), as: (UInt8, UInt8, UInt8, UInt8).self)
            }
        }
        let form = DecodeOptions(format: .rgba8Premultiplied)
        let again = try PixelConverter(pixels.straightCopy(), to: form, orientation: 1).make()
        #expect(again.plainBytes == pixels.plainBytes)
    }

    /// Rows with 16 bits are read too, and give the nearest value of 8 bits.
    @Test func deepRowsAreRead() throws {
        let pixels = try #require(PixelBuffer(width: 3, height: 1, format: .rgba16Premultiplied))
        let channels: [UInt16] = [100, 32_768, 0, 32_768, 7, 8, 9, 0, 65_535, 128, 385, 65_535]
        channels.withUnsafeBytes { pixels.base.copyMemory(from: $0.baseAddress!, byteCount: 24) }
        let deep = try pixels.straightCopy()
        let read = (0..<12).map { deep.base.load(fromByteOffset: $0 * 2, as: UInt16.self) }
        // 100 * 65535 / 32768 is 199.99, and 128 and 385 are 0.498 and 1.498 of 257
        #expect(read == [200, 65_535, 0, 32_768, 0, 0, 0, 0, 65_535, 128, 385, 65_535])
        var narrow = [UInt8](repeating: 1, count: 12)
        narrow.withUnsafeMutableBytes { pixels.readRow(0, to: $0.baseAddress!) }
        #expect(narrow == [1, 255, 0, 128, 0, 0, 0, 0, 255, 0, 1, 255])
    }

    @Test(arguments: PixelFormat.allCases)
    func onePixelMakesARowNotOpaque(format: PixelFormat) throws {
        let pixels = try #require(PixelBuffer(width: 5, height: 4, format: format))
        pixels.base.initializeMemory(as: UInt8.self, repeating: 255, count: pixels.byteCount)
        #expect(pixels.isOpaque)
        (pixels.base + pixels.byteCount - 1).storeBytes(of: 254, as: UInt8.self)
        #expect(pixels.isOpaque == !format.hasAlpha)
    }
}

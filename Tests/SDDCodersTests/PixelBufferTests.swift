import SDDCoders
import Testing

@Suite struct PixelBufferTests {
    @Test func hasFourBytesPerPixel() throws {
        // when
        let pixels = try #require(PixelBuffer(width: 17, height: 3))
        // then
        #expect(pixels.stride >= 17 * 4)
        #expect(pixels.byteCount == pixels.stride * 3)
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (1, -1), (Int.max, 1), (Int.max / 4, 2), (1 << 31, 1 << 31)])
    func isNilForImpossibleSizes(width: Int, height: Int) {
        #expect(PixelBuffer(width: width, height: height) == nil)
    }
}

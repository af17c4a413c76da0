// Rows of pictures with 16 bits per channel.

extension PixelBuffer {
    func isDeepOpaque(row y: Int) -> Bool {
        (0..<width).allSatisfy { deepPixel($0, y).w == .max }
    }

    /// Writes a row as RGBA16, alpha not premultiplied: eight times `width` bytes.
    func readDeepRow(_ y: Int, to target: UnsafeMutableRawPointer) {
        for x in 0..<width { (target + x * 8).storeBytes(of: straight(x, y), as: SIMD4<UInt16>.self) }
    }

    /// Writes a row as RGBA8, each channel rounded to the nearest 8-bit value.
    func readNarrowedRow(_ y: Int, to target: UnsafeMutableRawPointer) {
        for x in 0..<width {
            let pixel = straight(x, y)
            let narrowed = (SIMD4<UInt32>(truncatingIfNeeded: pixel) &* 255 &+ 32_895) &>> 16
            (target + x * 4).storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: narrowed), as: SIMD4<UInt8>.self)
        }
    }

    private func deepPixel(_ x: Int, _ y: Int) -> SIMD4<UInt16> {
        (base + y * stride + x * 8).loadUnaligned(as: SIMD4<UInt16>.self)
    }

    /// Returns a pixel with alpha divided out, rounded. The application's pixels may have colours above their alpha;
    /// those are clamped to the maximum.
    private func straight(_ x: Int, _ y: Int) -> SIMD4<UInt16> {
        let pixel = deepPixel(x, y)
        let alpha = UInt64(pixel.w)
        guard format == .rgba16Premultiplied, alpha < 65_535 else { return pixel }
        if alpha == 0 { return .zero }
        let colour = { (value: UInt16) in UInt16(min(65_535, (UInt64(value) * 65_535 + alpha / 2) / alpha)) }
        return SIMD4(colour(pixel.x), colour(pixel.y), colour(pixel.z), pixel.w)
    }
}

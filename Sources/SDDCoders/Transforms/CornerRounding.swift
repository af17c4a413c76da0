extension PixelBuffer {
    /// Returns a copy whose corners are transparent outside of quarter circles; pixels on a circle are faded in
    /// proportion. It has the same format, or RGBA8 if that has no alpha.
    func withRoundCorners(radius: Int, _ corners: PictureTransform.Corners) throws(CoderError) -> PixelBuffer {
        let rounding = CornerRounding(radius: radius, corners, width: width, height: height)
        let made = try straightCopy()
        rounding.apply(to: made)
        return try PixelConverter(made, to: format.hasAlpha ? format : .rgba8).make()
    }
}

/// Fades what is outside of round corners.
private struct CornerRounding {
    private let outline: Outline
    /// Number of pixels from a corner, in both directions, that its circle may affect.
    private let side: Int

    init(radius: Int, _ corners: PictureTransform.Corners, width: Int, height: Int) {
        outline = Outline(radius: radius, corners, width: width, height: height)
        side = Int(outline.radius.rounded(.up))
    }

    /// - Parameter pixels: RGBA8 or RGBA16, of the size given to `init`, and not written by any other code.
    func apply(to pixels: PixelBuffer) {
        for rows in [0..<side, max(side, pixels.height - side)..<pixels.height] {
            for y in rows {
                for x in 0..<side { fade(pixels, x, y) }
                for x in max(side, pixels.width - side)..<pixels.width { fade(pixels, x, y) }
            }
        }
    }

    private func fade(_ pixels: PixelBuffer, _ x: Int, _ y: Int) {
        let left = outline.coverage(x, y)
        if left >= 1 { return }
        let row = pixels.base + y * pixels.stride
        if pixels.format == .rgba16 {
            fade(row + x * 8 + 6, left, UInt16.self)
        } else {
            fade(row + x * 4 + 3, left, UInt8.self)
        }
    }

    private func fade<Channel: FixedWidthInteger & BitwiseCopyable>(
        _ alpha: UnsafeMutableRawPointer, _ left: Double, _: Channel.Type
    ) {
        let faded = Double(alpha.loadUnaligned(as: Channel.self)) * left
        alpha.storeBytes(of: Channel(max(0, min(Double(Channel.max), faded.rounded()))), as: Channel.self)
    }
}

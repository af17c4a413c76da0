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

/// Computes how much of each pixel the round corners leave.
private struct CornerRounding {
    /// Radius, at most half of the shorter side, so that circles do not overlap.
    private let radius: Double
    private let corners: PictureTransform.Corners
    /// Number of pixels from a corner, in both directions, that its circle may affect.
    private let side: Int

    init(radius: Int, _ corners: PictureTransform.Corners, width: Int, height: Int) {
        self.radius = min(Double(max(radius, 0)), Double(min(width, height)) / 2)
        self.corners = corners
        side = Int(self.radius.rounded(.up))
    }

    /// Fades the corners.
    /// - Parameter pixels: RGBA8 or RGBA16, of the size given to `init`, and not written by any other code.
    func apply(to pixels: PixelBuffer) {
        for y in 0..<side {
            for x in 0..<side {
                let left = coverage(x, y)
                if left >= 1 { continue }
                let (right, bottom) = (pixels.width - 1 - x, pixels.height - 1 - y)
                if corners.contains(.topLeft) { fade(pixels, x, y, left) }
                if corners.contains(.topRight) { fade(pixels, right, y, left) }
                if corners.contains(.bottomLeft) { fade(pixels, x, bottom, left) }
                if corners.contains(.bottomRight) { fade(pixels, right, bottom, left) }
            }
        }
    }

    /// Returns how much of a pixel is within the circle, 0 to 1, from the distance between their centres.
    private func coverage(_ x: Int, _ y: Int) -> Double {
        let (wide, high) = (radius - (Double(x) + 0.5), radius - (Double(y) + 0.5))
        // Beyond the circle's centre the picture's edge is straight.
        if wide <= 0 || high <= 0 { return 1 }
        return max(0, min(1, radius - (wide * wide + high * high).squareRoot() + 0.5))
    }

    private func fade(_ pixels: PixelBuffer, _ x: Int, _ y: Int, _ left: Double) {
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

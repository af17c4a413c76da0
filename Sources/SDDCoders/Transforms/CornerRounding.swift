extension PixelBuffer {
    /// With the corners outside of quarter circles transparent, and what the circles cut in proportion. In the same
    /// format, or RGBA8 where it has no alpha.
    func withRoundCorners(radius: Int, _ corners: PictureTransform.Corners) throws(CoderError) -> PixelBuffer {
        let rounding = CornerRounding(radius: radius, corners, width: width, height: height)
        let made = try straightCopy()
        rounding.apply(to: made)
        return try PixelForming(made, to: PixelForm(format: format.hasAlpha ? format : .rgba8), orientation: 1).make()
    }
}

/// How much of each pixel a picture's round corners leave.
private struct CornerRounding {
    /// At most half of the shorter side, so that no two circles meet.
    private let radius: Double
    private let corners: PictureTransform.Corners
    /// Pixels from a corner that its circle may touch, in both directions.
    private let side: Int

    init(radius: Int, _ corners: PictureTransform.Corners, width: Int, height: Int) {
        self.radius = min(Double(max(radius, 0)), Double(min(width, height)) / 2)
        self.corners = corners
        side = Int(self.radius.rounded(.up))
    }

    /// - Parameter pixels: RGBA8 or RGBA16, of the size that `init` was told, written by nobody else.
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

    /// How much of a pixel is within the circle, 0 to 1, by the distance of its middle from the circle's.
    private func coverage(_ x: Int, _ y: Int) -> Double {
        let (wide, high) = (radius - (Double(x) + 0.5), radius - (Double(y) + 0.5))
        // Beside the middle, the picture's edge is straight.
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

/// A rectangle with round corners, the same number of pixels from each edge of a picture.
struct Outline {
    private let inset: Int
    /// Radius, at most half of the shorter side, so that circles do not overlap.
    let radius: Double
    private let corners: PictureTransform.Corners
    private let width: Int
    private let height: Int

    init(inset: Int = 0, radius: Int, _ corners: PictureTransform.Corners, width: Int, height: Int) {
        self.inset = inset
        (self.width, self.height) = (width - 2 * inset, height - 2 * inset)
        self.radius = max(0, min(Double(radius), Double(min(self.width, self.height)) / 2))
        self.corners = corners
    }

    /// Returns how much of a pixel of the picture is within the outline, 0 to 1, from the distance between the centres
    /// of the pixel and of the circle.
    func coverage(_ x: Int, _ y: Int) -> Double {
        let (x, y) = (x - inset, y - inset)
        guard x >= 0, y >= 0, x < width, y < height else { return 0 }
        let (isLeft, isTop) = (2 * x < width, 2 * y < height)
        let corner: PictureTransform.Corners =
            isTop ? (isLeft ? .topLeft : .topRight) : (isLeft ? .bottomLeft : .bottomRight)
        if !corners.contains(corner) { return 1 }
        let wide = radius - (Double(isLeft ? x : width - 1 - x) + 0.5)
        let high = radius - (Double(isTop ? y : height - 1 - y) + 0.5)
        // Beyond the circle's centre the picture's edge is straight.
        if wide <= 0 || high <= 0 { return 1 }
        return max(0, min(1, radius - (wide * wide + high * high).squareRoot() + 0.5))
    }
}

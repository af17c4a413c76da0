extension PixelBuffer {
    /// Returns a copy with a border along the inside of its edges, and of the quarter circles of round corners. It has
    /// the same format.
    func withBorder(_ border: PictureTransform.Border) throws(CoderError) -> PixelBuffer {
        let plane = try PixelPlane(self)
        BorderDrawing(border, width: width, height: height).apply(to: plane)
        return try PixelConverter(plane.buffer, to: format).make()
    }
}

/// Computes how much of each pixel a border covers: what lies within the picture's outline and outside of the outline
/// that is the border's width smaller.
private struct BorderDrawing {
    private let outer: Outline
    private let inner: Outline
    private let colour: SIMD4<Double>
    /// Number of pixels from an edge that the border may cover.
    private let depth: Int
    private let width: Int
    private let height: Int

    init(_ border: PictureTransform.Border, width: Int, height: Int) {
        let most = (min(width, height) + 1) / 2
        let line = min(border.width, most)
        outer = Outline(inset: 0, radius: border.radius, border.corners, width: width, height: height)
        inner = Outline(inset: line, radius: border.radius - line, border.corners, width: width, height: height)
        colour = border.colour.pixel
        depth = min(most, max(line, min(border.radius, most)))
        (self.width, self.height) = (width, height)
    }

    func apply(to plane: PixelPlane) {
        for y in 0..<height {
            if y < depth || y >= height - depth {
                for x in 0..<width { draw(x, y, on: plane) }
            } else {
                for x in 0..<depth { draw(x, y, on: plane) }
                for x in max(depth, width - depth)..<width { draw(x, y, on: plane) }
            }
        }
    }

    private func draw(_ x: Int, _ y: Int, on plane: PixelPlane) {
        let coverage = outer.coverage(x, y) - inner.coverage(x, y)
        if coverage > 0 { plane[x, y] = colour.over(plane[x, y], coverage: coverage) }
    }
}

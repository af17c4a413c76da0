/// One frame of an animated PNG, as described by its fcTL chunk (PNG, Third Edition, 11.3.6.2).
struct APNGFrame {
    /// Treatment of the frame's area before the next frame is drawn.
    enum Disposal: Int { case none, background, previous }
    enum Blend: Int { case source, over }

    /// Area of the frame within the canvas, never empty.
    let area: FrameArea
    /// Time for which the frame is shown, in microseconds.
    let duration: Int64
    let disposal: Disposal
    let blend: Blend
    /// Byte range from the start of the frame's first IDAT or fdAT chunk to the end of its last; other chunks may lie
    /// between.
    var data = 0..<0

    /// Returns `nil` for a frame that breaks the rules.
    /// - Parameter cursor: positioned after the sequence number.
    init?(_ cursor: inout ByteCursor, canvasWidth: Int, height canvasHeight: Int) {
        // All are below 2^32, so that no sum overflows.
        guard let width = cursor.number32(), let height = cursor.number32(), let x = cursor.number32(),
            let y = cursor.number32(), width > 0, height > 0, x + width <= canvasWidth, y + height <= canvasHeight,
            let numerator = cursor.number16(), let denominator = cursor.number16(),
            let disposal = cursor.number8().flatMap({ Disposal(rawValue: $0) }),
            let blend = cursor.number8().flatMap({ Blend(rawValue: $0) })
        else { return nil }
        area = FrameArea(x: x, y: y, width: width, height: height)
        duration = Int64(numerator) * 1_000_000 / Int64(denominator == 0 ? 100 : denominator)
        self.disposal = disposal
        self.blend = blend
    }
}

/// Area of a frame on its canvas, in pixels.
struct FrameArea: Equatable {
    let x: Int
    let y: Int
    let width: Int
    let height: Int

    func covers(_ width: Int, _ height: Int) -> Bool { self == FrameArea(x: 0, y: 0, width: width, height: height) }
}

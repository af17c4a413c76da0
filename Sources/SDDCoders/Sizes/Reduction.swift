/// The parameters for scaling a picture, perhaps already reduced by its decoder, to the size of a plan. A value.
struct Reduction {
    /// Size of the picture whose rows arrive; it covers at least the plan's part.
    let width: Int
    let height: Int
    /// The plan, in the pixels of the picture as stored.
    let plan: SizePlan
    let storedWidth: Int
    let storedHeight: Int
    /// Format of the source and of the target: RGBA8 or RGBA16.
    let format: PixelFormat
    /// True if no pixel is transparent.
    let isOpaque: Bool
    /// True if the fourth channel is an ink, not alpha.
    var hasInks = false

    func makeReducer(in memory: PixelMemory = .library) throws(CoderError) -> AreaReducer {
        try AreaReducer(
            width: width, height: height, plan: plan, storedWidth: storedWidth, storedHeight: storedHeight,
            into: try PixelBuffer.make(width: plan.width, height: plan.height, format, in: memory), isOpaque: isOpaque,
            hasInks: hasInks)
    }

    /// Scales a whole picture in memory.
    func reduce(_ whole: PixelBuffer, in memory: PixelMemory = .library) throws(CoderError) -> PixelBuffer {
        let reducer = try makeReducer(in: memory)
        for y in 0..<height { reducer.take(whole.base + y * whole.stride) }
        return reducer.target
    }
}

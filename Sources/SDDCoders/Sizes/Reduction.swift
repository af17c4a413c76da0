/// How a picture of one size, itself perhaps made smaller by its decoder, becomes that of a plan. A value.
struct Reduction {
    /// Of the rows that come: at least those of the plan's part.
    let width: Int
    let height: Int
    /// In the pixels of the picture as stored.
    let plan: SizePlan
    let storedWidth: Int
    let storedHeight: Int
    /// Of what comes and what is made: RGBA8 or RGBA16.
    let format: PixelFormat
    /// Nothing in it is transparent.
    let isOpaque: Bool

    func makeReducer(in memory: PixelMemory = .library) throws(CoderError) -> AreaReducer {
        try AreaReducer(
            width: width, height: height, plan: plan, storedWidth: storedWidth, storedHeight: storedHeight,
            into: try PixelBuffer.make(width: plan.width, height: plan.height, format, in: memory), isOpaque: isOpaque)
    }

    /// Of a whole picture in memory.
    func reduce(_ whole: PixelBuffer, in memory: PixelMemory = .library) throws(CoderError) -> PixelBuffer {
        let reducer = try makeReducer(in: memory)
        for y in 0..<height { reducer.take(whole.base + y * whole.stride) }
        return reducer.target
    }
}

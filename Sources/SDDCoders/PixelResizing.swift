extension PixelBuffer {
    /// A smaller picture in the same format, by area; itself, if it is small enough.
    func resized(_ size: SizeRule) throws(CoderError) -> PixelBuffer {
        let plan = size.plan(width: width, height: height)
        if plan.isWhole { return self }
        let reduction = Reduction(width: width, height: height, plan: plan, storedWidth: width, storedHeight: height)
        let reducer = try reduction.makeReducer(isOpaque: isOpaque)
        let row = try PixelBuffer.make(width: width, height: 1, .rgba8)
        for y in 0..<height {
            readRow(y, to: row.base)
            reducer.take(row.base)
        }
        withExtendedLifetime(row) {}
        return try PixelForming(reducer.target, to: PixelForm(format: format), orientation: 1).make()
    }
}

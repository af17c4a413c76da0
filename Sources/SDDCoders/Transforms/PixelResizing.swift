extension PixelBuffer {
    /// Returns a picture of the rule's size in the same format, reduced by area or enlarged; returns this one if it has
    /// that size already.
    func resized(_ size: SizeRule) throws(CoderError) -> PixelBuffer {
        let plan = size.plan(width: width, height: height)
        if plan.isWhole { return self }
        let reduction = Reduction(
            width: width, height: height, plan: plan, storedWidth: width, storedHeight: height, format: format.source,
            isOpaque: isOpaque)
        let reducer = try reduction.makeReducer()
        let row = try PixelBuffer.make(width: width, height: 1, format.source)
        for y in 0..<height {
            readSourceRow(y, to: row.base)
            reducer.take(row.base)
        }
        withExtendedLifetime(row) {}
        return try PixelConverter(reducer.target, to: format).make()
    }
}

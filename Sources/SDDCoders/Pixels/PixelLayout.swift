/// Arrangement of a picture's rows in memory: `stride` bytes apart, one plane after the other.
struct PixelLayout {
    let rowBytes: Int
    let stride: Int
    let rowCount: Int

    /// Returns `nil` if a side is not positive, or if a product overflows.
    /// - Parameter stride: 0 means the smallest possible one.
    init?(width: Int, height: Int, format: PixelFormat, rowAlignment: Int, stride given: Int = 0) {
        let (rowBytes, isWide) = width.multipliedReportingOverflow(by: format.bytesPerPixel)
        let (rowCount, isHigh) = height.multipliedReportingOverflow(by: format.planeCount)
        guard width > 0, height > 0, !isWide, !isHigh, rowBytes <= Int.max - rowAlignment else { return nil }
        let stride = given > 0 ? given : (rowBytes + rowAlignment - 1) & ~(rowAlignment - 1)
        let (all, isLarge) = stride.multipliedReportingOverflow(by: rowCount)
        guard !isLarge, all <= Int.max / 2 else { return nil }
        self.rowBytes = rowBytes
        self.stride = stride
        self.rowCount = rowCount
    }

    var byteCount: Int { stride * rowCount }

    /// Bytes without the padding after the last row.
    var leastByteCount: Int { byteCount - stride + rowBytes }
}

internal import SDDBase

/// Pixel memory: rows from the top, `stride` bytes apart. The only place that asks for pixels, and it
/// checks. Written by one decoder, then read-only and shared. Any thread.
package final class PixelBuffer: @unchecked Sendable {
    // Safety: the decoder that made the buffer is its only writer, and gives it away when it is done.
    private let block: SpareMemory.Block
    package let width: Int
    package let height: Int
    package let stride: Int
    package let format: PixelFormat

    package var base: UnsafeMutableRawPointer { block.base }
    package var byteCount: Int { stride * height }

    /// nil when a size is not positive, the product overflows, or there is no memory.
    package init?(width: Int, height: Int, format: PixelFormat = .rgba8) {
        let (stride, wide) = width.multipliedReportingOverflow(by: format.bytesPerPixel)
        let (size, large) = stride.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !wide, !large, size <= Int.max / 2, let block = SpareMemory.pixels.allocate(size)
        else {
            return nil
        }
        self.block = block
        self.width = width
        self.height = height
        self.stride = stride
        self.format = format
    }

    deinit { SpareMemory.pixels.free(block) }
}

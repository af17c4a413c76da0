import Glibc
internal import SDDBase

/// Pixel memory: RGBA8, rows from the top, `stride` bytes apart. The only place that allocates pixels,
/// and it checks. Written by one decoder, then read-only and shared. Any thread.
package final class PixelBuffer: @unchecked Sendable {
    // Safety: the decoder that made the buffer is its only writer, and gives it away when it is done.
    package let base: UnsafeMutableRawPointer
    package let width: Int
    package let height: Int
    package let stride: Int

    package var byteCount: Int { stride * height }

    /// nil when a size is not positive, the product overflows, or there is no memory.
    package init?(width: Int, height: Int) {
        let (stride, wide) = width.multipliedReportingOverflow(by: 4)
        let (size, large) = stride.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !wide, !large, let base = malloc(size) else { return nil }
        self.base = base
        self.width = width
        self.height = height
        self.stride = stride
    }

    deinit { free(base) }
}

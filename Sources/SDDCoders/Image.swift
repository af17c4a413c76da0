package import SDDBase

/// A decoded picture and the bytes it came from. Immutable; any thread.
package final class Image: Sendable {
    package let pixels: PixelBuffer
    package let format: ImageFormat
    package let bytes: Bytes

    package init(pixels: PixelBuffer, format: ImageFormat, bytes: Bytes) {
        self.pixels = pixels
        self.format = format
        self.bytes = bytes
    }
}

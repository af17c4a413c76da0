package import SDDBase

/// Turns whole bodies into pictures. Made by one worker thread, used again and again by that thread
/// alone, so that the C library's pools live on from picture to picture.
package protocol ImageDecoding: AnyObject {
    /// The pixels as stored.
    /// - Parameters:
    ///   - wanted: what they are for: if the decoder can write just that, it does, else RGBA8.
    ///   - maxPixels: largest width x height; checked before any pixel memory is taken.
    func decode(_ bytes: Bytes, wanted: PixelFormat, maxPixels: Int) throws(CoderError) -> PixelBuffer
}

/// A format the library can decode: what a `CoderRegistry` holds.
package protocol ImageCoding: Sendable {
    var format: ImageFormat { get }
    func makeDecoder() throws(CoderError) -> any ImageDecoding
}

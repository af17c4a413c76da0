package import SDDBase

/// Turns whole bodies into pictures. Made by one worker thread, used again and again by that thread
/// alone, so that the C library's pools live on from picture to picture.
package protocol ImageDecoding: AnyObject {
    /// The pixels as stored, or a smaller picture of them.
    /// - Parameters:
    ///   - wanted: what they are for: if the decoder can write just that, it does, else RGBA8.
    ///   - maxPixels: largest width x height as stored; checked before any pixel memory is taken.
    ///   - plan: what to make of a picture of that width and height.
    func decode(
        _ bytes: Bytes, wanted: PixelFormat, maxPixels: Int, plan: (Int, Int) -> SizePlan
    ) throws(CoderError) -> PixelBuffer
}

/// A format the library can decode: what a `CoderRegistry` holds.
package protocol ImageCoding: Sendable {
    var format: ImageFormat { get }
    func makeDecoder() throws(CoderError) -> any ImageDecoding
}

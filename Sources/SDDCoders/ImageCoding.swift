package import SDDBase

/// Turns whole bodies into pictures. Made by one worker thread, used again and again by that thread
/// alone, so that the C library's pools live on from picture to picture.
package protocol ImageDecoding: AnyObject {
    func decode(_ bytes: Bytes, options: DecodeOptions) throws(CoderError) -> Image
}

/// A format the library can decode: what a `CoderRegistry` holds.
package protocol ImageCoding: Sendable {
    var format: ImageFormat { get }
    func makeDecoder() throws(CoderError) -> any ImageDecoding
}

package import SDDBase

/// What a decoder is to make of a body.
package struct DecodeTask {
    /// What the pixels are for: if the decoder can write just that, it does, else RGBA8.
    let wanted: PixelFormat
    let limits: DecodeLimits
    /// What to make of a picture of that width and height.
    let plan: (Int, Int) -> SizePlan
}

/// How much a picture may cost.
package struct DecodeLimits: Sendable {
    /// Largest width x height as stored; checked before any pixel memory is taken.
    package var maxPixels = 128 << 20

    package init(maxPixels: Int = 128 << 20) { self.maxPixels = maxPixels }
}

/// Turns whole bodies into pictures. Made by one worker thread, used again and again by that thread
/// alone, so that the C library's pools live on from picture to picture.
package protocol ImageDecoding: AnyObject {
    /// The pixels as stored, or a smaller picture of them.
    func decode(_ bytes: Bytes, _ task: DecodeTask) throws(CoderError) -> PixelBuffer
}

/// A format the library can decode: what a `CoderRegistry` holds.
package protocol ImageCoding: Sendable {
    var format: ImageFormat { get }
    func makeDecoder() throws(CoderError) -> any ImageDecoding
}

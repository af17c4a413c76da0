/// A conversion of pixels to sRGB. Callable from any thread.
protocol PixelConverting: AnyObject, Sendable {
    /// True if it takes RGBA8 and nothing else.
    var takesBytesAlone: Bool { get }
    /// Converts pixels in place. Alpha is not multiplied, or the picture is opaque.
    func convert(_ pixels: PixelBuffer) throws(CoderError)
}

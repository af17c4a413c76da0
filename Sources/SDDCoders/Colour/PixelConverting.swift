/// What converts pixels to sRGB. Callable from any thread.
protocol PixelConverting: AnyObject, Sendable {
    /// Converts pixels in place. Alpha is not multiplied, or the picture is opaque.
    func convert(_ pixels: PixelBuffer) throws(CoderError)
}

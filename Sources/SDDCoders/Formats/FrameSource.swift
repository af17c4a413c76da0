/// The frames of an animated picture, each composed as it is shown. Callable from any thread.
package protocol FrameSource: AnyObject, Sendable {
    var frameCount: Int { get }
    /// Number of times the animation plays; 0 means forever.
    var loopCount: Int { get }

    /// Returns how long a frame is shown, in microseconds; 0 if the frame does not exist or cannot be decoded.
    func duration(of index: Int) -> Int64

    /// Bytes of the encoded data that frames are decoded from.
    var encodedByteCount: Int { get }
    /// Bytes of frames that are kept; it may change with each `frame(_:)`. Takes no lock.
    var keptByteCount: Int { get }

    /// Returns a frame as RGBA8 or RGBA16, as stored: neither turned nor scaled.
    func frame(_ index: Int) throws(CoderError) -> PixelBuffer
    /// Whether a frame that `frame(_:)` has returned is damaged, or may be drawn on one that is.
    func isDamaged(_ index: Int) -> Bool
}

extension FrameSource {
    package func isDamaged(_ index: Int) -> Bool { false }
}

/// The frames of an animated picture, each as it is shown: composed. Any thread.
package protocol FrameSource: AnyObject, Sendable {
    var frameCount: Int { get }
    /// 0: for ever.
    var loopCount: Int { get }

    /// In microseconds; 0 for a frame that does not exist, or cannot be decoded.
    func duration(of index: Int) -> Int64

    /// Of the bytes that frames are made of.
    var encodedByteCount: Int { get }
    /// Of frames that are kept, which may be more or fewer after each `frame(_:)`. Takes no lock.
    var keptByteCount: Int { get }

    /// RGBA8, as stored: before it is turned, or made smaller.
    func frame(_ index: Int) throws(CoderError) -> PixelBuffer
}

package import SDDBase

/// An application's coder: its C vtable, wrapped for Swift. Called from any thread, also from several at a time, and
/// with no lock held.
package protocol AppCoder: AnyObject, Sendable {
    var name: String { get }
    var format: ImageFormat { get }
    /// MIME type such as "image/webp"; `nil` if the coder does not state one.
    var mimeType: String? { get }
    var canEncode: Bool { get }

    /// Whether the coder decodes a body.
    /// - Parameter bytes: a body, or its beginning.
    /// - Returns: `nil` if the bytes are too few to tell.
    func canDecode(_ bytes: UnsafeRawBufferPointer) -> Bool?
    func open(_ task: AppDecodeTask) throws(CoderError) -> any AppDecoder
    /// Encodes pixels and appends the result to `bytes`.
    /// - Parameters:
    ///   - pixels: RGBA8.
    ///   - quality: 1 to 100.
    func encode(_ pixels: PixelBuffer, quality: Int, into bytes: ByteBuilder) throws(CoderError)
}

extension AppCoder {
    package var mimeType: String? { nil }
}

/// The decoder that an application's coder opens for one body. Used by one thread at a time.
package protocol AppDecoder: AnyObject {
    /// Passes the next bytes of the body. If the first piece is also the last one, its bytes stay valid until `close`,
    /// else only during the call.
    func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError)
    func next() throws(CoderError) -> AppAnswer
    /// Ends the decoder. Called once, as the last call.
    func close()
}

/// Parameters of a decode by an application's coder.
package struct AppDecodeTask: Sendable {
    package var maxPixels = DecodeLimits().maxPixels
    /// The coder may return a frame smaller than its picture if both sides are at least this long; 0 means frames as
    /// large as the picture.
    package var wantedSide = 0

    package init(maxPixels: Int = DecodeLimits().maxPixels, wantedSide: Int = 0) {
        self.maxPixels = maxPixels
        self.wantedSide = wantedSide
    }

    /// Makes a task whose frames are large enough for each of the forms.
    /// - Parameter isMade: true if the body already has its final size, so that all of the picture is needed.
    init(for forms: [DecodeOptions], limits: DecodeLimits, isMade: Bool) {
        if isMade {
            self.init(maxPixels: limits.maxPixels)
            return
        }
        let sides = forms.map { $0.size.byteLimit > 0 ? 0 : max($0.size.width, $0.size.height) }
        self.init(maxPixels: limits.maxPixels, wantedSide: sides.contains(0) ? 0 : sides.max() ?? 0)
    }
}

package enum AppAnswer {
    /// A frame whose pixels are borrowed until the next call of the same decoder.
    case frame(AppFrame)
    /// The decoder needs more bytes for the next frame.
    case incomplete
    /// The previous frame was the last one.
    case end
}

/// A frame as an application's coder returns it; none of its fields has been checked.
package struct AppFrame {
    package var pixels: UnsafeRawPointer?
    package var stride = 0
    package var width: Int32 = 0
    package var height: Int32 = 0
    /// Size of the whole picture; if both are 0, it is the size of the frame.
    package var pictureWidth: Int32 = 0
    package var pictureHeight: Int32 = 0
    package var pixelFormat: Int32 = 0
    /// Exif orientation; 0 means 1.
    package var orientation: Int32 = 0
    /// Number of frames; 0 means 1.
    package var frameCount: Int32 = 0
    package var loopCount: Int32 = 0
    /// Time for which the frame is shown, in microseconds.
    package var duration: Int64 = 0

    package init() {}
}

package import SDDBase

/// An application's coder: its C vtable, wrapped for Swift. Called from any thread, also from several at a time, and
/// with no lock held.
package protocol AppCoder: AnyObject, Sendable {
    var name: String { get }
    var format: ImageFormat { get }
    /// MIME type such as "image/webp"; `nil` if the coder does not state one.
    var mimeType: String? { get }
    var canEncode: Bool { get }
    /// Whether it encodes animations.
    var canEncodeFrames: Bool { get }
    /// Whether its decoders take a body in pieces, and show what they have so far.
    var hasPreviews: Bool { get }
    /// True for a coder that is installed beside the library. It checks `AppDecodeTask.maxPixels` before it takes
    /// memory.
    var isInstalled: Bool { get }

    /// The path of the shared object that the coder was loaded from; `nil` for functions of the application itself.
    var object: String? { get }
    /// Whether its pictures are programs, which are decoded by helpers unless the application says otherwise.
    var wantsIsolation: Bool { get }
    /// Whether it draws frames of any size.
    var draws: Bool { get }

    /// Whether the coder decodes a body.
    /// - Parameter bytes: a body, or its beginning.
    /// - Returns: `nil` if the bytes are too few to tell.
    func canDecode(_ bytes: UnsafeRawBufferPointer) -> Bool?
    func open(_ task: AppDecodeTask) throws(CoderError) -> any AppDecoder
    /// Encodes pixels and appends the result to `bytes`.
    /// - Parameters:
    ///   - pixels: RGBA8.
    ///   - colour: what is to be stored with them.
    ///   - quality: 1 to 100.
    func encode(
        _ pixels: PixelBuffer, _ colour: StoredColour, quality: Int, into bytes: ByteBuilder
    ) throws(CoderError)
    /// Encodes all frames of an animation and appends the result to `bytes`.
    func encodeFrames(_ frames: any FrameFeeding, quality: Int, into bytes: ByteBuilder) throws(CoderError)
}

extension AppCoder {
    package var mimeType: String? { nil }
    package var hasPreviews: Bool { false }
    package var canEncodeFrames: Bool { false }
    package func encodeFrames(_ frames: any FrameFeeding, quality: Int, into bytes: ByteBuilder) throws(CoderError) {
        throw CoderError(.unsupported)
    }
    package var isInstalled: Bool { false }
    package var object: String? { nil }
    package var wantsIsolation: Bool { false }
    package var draws: Bool { false }
}

/// The frames of an animation that a coder encodes, one after the other. Used by one thread.
package protocol FrameFeeding: AnyObject {
    var frameCount: Int { get }
    /// Number of times the animation plays; 0 means forever.
    var loopCount: Int { get }

    /// Returns the next frame as RGBA8, and how long it is shown, in microseconds; `nil` after the last one. The pixels
    /// stay valid until the next call.
    func nextFrame() throws(CoderError) -> (pixels: PixelBuffer, duration: Int64)?
}

/// The decoder that an application's coder opens for one body. Used by one thread at a time.
package protocol AppDecoder: AnyObject {
    /// Passes the next bytes of the body. If the first piece is also the last one, its bytes stay valid until `close`,
    /// else only during the call.
    func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError)
    /// Says what the picture will take, before the first frame is asked for.
    func estimate() throws(CoderError) -> AppEstimate
    /// Sets the size of the frames of a coder that draws. What it takes is estimated again afterwards.
    func resize(width: Int, height: Int) throws(CoderError)
    func next() throws(CoderError) -> AppAnswer
    /// Shows the picture as far as the pieces that have been fed allow.
    func preview() throws(CoderError) -> AppPreview
    /// True if the decoder has lost what it was fed, and another one is to be opened.
    var isLost: Bool { get }
    /// Ends the decoder. Called once, as the last call, on any thread.
    func close()
}

extension AppDecoder {
    package func estimate() throws(CoderError) -> AppEstimate { .unknown }
    package func resize(width: Int, height: Int) throws(CoderError) {}
    package func preview() throws(CoderError) -> AppPreview { .wholeOnly(AppFrame()) }
    package var isLost: Bool { false }
}

/// The answer of a decoder that is asked to show a body which is still arriving.
package enum AppPreview {
    /// Nothing is known yet.
    case nothing
    /// A frame; its pixels are `nil` if only the sizes are known. `goodRows` is `nil` if later bytes improve all rows.
    case frame(AppFrame, goodRows: Int?)
    /// The body cannot be decoded before its end. Perhaps the sizes are known.
    case wholeOnly(AppFrame)
}

/// The answer of a decoder that is asked what its picture will take.
package enum AppEstimate: Sendable {
    /// The coder makes no estimates.
    case unknown
    /// The decoder needs more bytes to tell.
    case incomplete
    /// The size of the picture, and the bytes of memory that the decoder takes at most, its frames included.
    case known(width: Int32, height: Int32, bytes: Int64)
}

/// Parameters of a decode by an application's coder.
package struct AppDecodeTask: Sendable {
    package var maxPixels = DecodeLimits().maxPixels
    /// The coder may return a frame smaller than its picture if both sides are at least this long; 0 means frames as
    /// large as the picture.
    package var wantedSide = 0
    /// True if what there is of a damaged body is accepted.
    package var keepsRest = false
    /// The processes that decode with coders from shared objects, and the limits there.
    var helpers: HelperPool?
    var limits = DecodeLimits()

    /// The error for a picture that has more pixels than the limits on memory allow, if they allow fewer than the limit
    /// on pixels.
    package fileprivate(set) var excess: CoderError?
}

extension AppDecodeTask {
    /// Returns the task with as many pixels as the limits on memory allow for a body of so many bytes: a coder needs at
    /// least 4 bytes for each.
    func limited(by limits: DecodeLimits, forBodyOf encoded: Int) -> AppDecodeTask {
        var task = self
        if limits.maxBytes > 0, limits.maxBytes / 4 < task.maxPixels {
            task.maxPixels = max(1, limits.maxBytes / 4)
            task.excess = CoderError(.tooMuchMemory, "more than \(limits.maxBytes) bytes")
        }
        guard limits.maxRatio > 0 else { return task }
        let (product, overflow) = encoded.multipliedReportingOverflow(by: limits.maxRatio)
        let allowed = overflow ? .max : max(product, DecodeLimits.smallBytes)
        if allowed / 4 < task.maxPixels {
            task.maxPixels = allowed / 4
            task.excess = CoderError(.tooMuchForBody, "more than \(allowed) bytes for a body of \(encoded)")
        }
        return task
    }

    /// Makes a task whose frames are large enough for each of the forms. A form that wants exact means needs all of the
    /// picture.
    /// - Parameter isMade: true if the body already has its final size, so that all of the picture is needed.
    init(for forms: [DecodeOptions], limits: DecodeLimits, isMade: Bool) {
        let needsAll = isMade || forms.contains { $0.size.byteLimit > 0 || $0.size.isExact }
        let sides = needsAll ? [0] : forms.map(\.size.neededSide)
        self.init(
            maxPixels: limits.maxPixels, wantedSide: sides.contains(0) ? 0 : sides.max() ?? 0,
            keepsRest: forms.contains(where: \.isLenient))
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
    /// The picture's colour profile, borrowed like the pixels; empty if there is none.
    package var profile = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Code points of ITU-T H.273; 0 if they are not stated.
    package var primaries: Int32 = 0
    package var transfer: Int32 = 0
    /// Number of good rows of a damaged body; 0 means that the body is whole.
    package var goodRows: Int32 = 0

    package init() {}
}

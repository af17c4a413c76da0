package import SDDBase

/// A coder of the host's: what its C vtable says, without C. Any thread, several at a time; called with no lock held.
package protocol HostCoder: AnyObject, Sendable {
    var name: String { get }
    var format: ImageFormat { get }
    /// "image/webp"; nil if it is not said.
    var mimeType: String? { get }
    var canEncode: Bool { get }

    /// - Parameter bytes: a body, or its beginning. nil: too few to tell.
    func canDecode(_ bytes: UnsafeRawBufferPointer) -> Bool?
    func open(_ task: HostTask) throws(CoderError) -> any HostDecoder
    /// - Parameters:
    ///   - pixels: RGBA8.
    ///   - quality: 1 to 100.
    func encode(_ pixels: PixelBuffer, quality: Int, into bytes: ByteBuilder) throws(CoderError)
}

extension HostCoder {
    package var mimeType: String? { nil }
}

/// What a coder of the host's makes of one body. One thread at a time.
package protocol HostDecoder: AnyObject {
    /// If the first piece is the last one, its bytes stay until `close`; else for the call alone.
    func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError)
    func next() throws(CoderError) -> HostAnswer
    /// Once; nothing after it.
    func close()
}

/// What is to be decoded.
package struct HostTask: Sendable {
    package var maxPixels = DecodeLimits().maxPixels
    /// Both sides of a frame that is smaller than its picture are at least so long; 0: frames as large as the picture.
    package var wantedSide = 0

    package init(maxPixels: Int = DecodeLimits().maxPixels, wantedSide: Int = 0) {
        self.maxPixels = maxPixels
        self.wantedSide = wantedSide
    }

    /// Large enough for each of these forms.
    /// - Parameter isMade: all of the picture is.
    init(for forms: [PixelForm], limits: DecodeLimits, isMade: Bool) {
        if isMade {
            self.init(maxPixels: limits.maxPixels)
            return
        }
        let sides = forms.map { $0.size.byteLimit > 0 ? 0 : max($0.size.width, $0.size.height) }
        self.init(maxPixels: limits.maxPixels, wantedSide: sides.contains(0) ? 0 : sides.max() ?? 0)
    }
}

package enum HostAnswer {
    /// Its pixels are lent until the next call of the same decoder.
    case frame(HostFrame)
    /// It needs more bytes for the next one.
    case incomplete
    /// There is none behind the one before.
    case end
}

/// A frame as a coder of the host's gives it: nothing of it has been checked.
package struct HostFrame {
    package var pixels: UnsafeRawPointer?
    package var stride = 0
    package var width: Int32 = 0
    package var height: Int32 = 0
    /// Of the whole picture; both 0: the frame's.
    package var pictureWidth: Int32 = 0
    package var pictureHeight: Int32 = 0
    package var pixelFormat: Int32 = 0
    /// 0: 1.
    package var orientation: Int32 = 0
    /// 0: 1.
    package var frameCount: Int32 = 0
    package var loopCount: Int32 = 0
    /// Microseconds.
    package var duration: Int64 = 0

    package init() {}
}

/// Properties of a picture that its encoded bytes state before the first pixel.
package struct ImageFacts: Equatable, Sendable {
    /// The reason why no facts were found.
    package enum Failure: Error {
        /// The bytes do not begin like any format of the library.
        case unknownFormat
        /// The bytes can never become a picture.
        case malformed
        /// The bytes may become a picture once more of them arrive.
        case incomplete
    }

    package let format: ImageFormat
    /// Size in pixels, as stored: before `orientation` is applied.
    package let width: Int
    package let height: Int
    /// Channels: 1 is grey, 2 grey and alpha, 3 colour, 4 colour and alpha or, in a JPEG, four inks.
    package let channels: Int
    /// Bits per channel.
    package let depth: Int
    /// True for a progressive JPEG and an interlaced PNG.
    package internal(set) var isProgressive: Bool
    package var frameCount = 1
    /// Number of times the animation plays; 0 means forever.
    package var loopCount = 1
    /// True for an animated PNG whose still picture is none of its frames.
    package var hidesStill = false
    /// Exif orientation, 1 to 8.
    package var orientation = 1
    /// The colours that the picture states; `nil` if that is nothing, or was not read.
    package var colour: PictureColour?
    /// True if `colour` is what a note says, and the encoded pixels are in sRGB already.
    var isNoted = false
    /// Bytes of all coefficients of a JPEG in libjpeg's memory; 0 for other formats.
    var coefficientBytes = 0
    /// Bytes of those that are kept of a whole progressive JPEG at an eighth of its size.
    var coefficientBytesAtAnEighth = 0

    package init(of bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard let format = ImageFormat.builtIn.first(where: { $0.mayBegin(bytes) }) else { throw .unknownFormat }
        // The magic number itself may be truncated.
        guard bytes.count >= format.magicNumber.count else { throw .incomplete }
        self = format == .png ? try Self.png(bytes) : try Self.jpeg(bytes)
    }

    /// True if the picture has an alpha channel; the fourth channel of a JPEG is an ink.
    package var hasAlpha: Bool { channels == 2 || (channels == 4 && format == .png) }

    init(
        format: ImageFormat, width: Int, height: Int, channels: Int, depth: Int, isProgressive: Bool
    ) throws(Failure) {
        guard width > 0, height > 0, width <= Int32.max, height <= Int32.max else { throw .malformed }
        self.format = format
        self.width = width
        self.height = height
        self.channels = channels
        self.depth = depth
        self.isProgressive = isProgressive
    }
}

/// What encoded bytes say of a picture in front of its first pixel.
package struct ImageFacts: Equatable, Sendable {
    /// Why there are none.
    package enum Failure: Error {
        /// No format of ours begins like this.
        case unknownFormat
        /// They can never become a picture.
        case malformed
        /// What there is may become one.
        case incomplete
    }

    package let format: ImageFormat
    /// In pixels, as stored: before `orientation` is applied.
    package let width: Int
    package let height: Int
    /// 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha or, in a JPEG, four inks.
    package let channels: Int
    /// Bits a channel.
    package let depth: Int
    /// A JPEG in several passes of growing quality, a PNG that is interlaced.
    package let isProgressive: Bool
    package var frameCount = 1
    /// 0: for ever.
    package var loopCount = 1
    /// Exif's: 1 to 8.
    package var orientation = 1
    /// All coefficients of a JPEG, in libjpeg's memory. 0 for other formats.
    var coefficientBytes = 0

    package init(of bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard let format = ImageFormat.builtIn.first(where: { $0.mayBegin(bytes) }) else { throw .unknownFormat }
        // The format's own number may still be cut.
        guard bytes.count >= format.magicNumber.count else { throw .incomplete }
        self = format == .png ? try Self.png(bytes) : try Self.jpeg(bytes)
    }

    /// Four channels of a JPEG are inks.
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

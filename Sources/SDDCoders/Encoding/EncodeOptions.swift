/// Options of an encode: format, quality and size.
package struct EncodeOptions: Hashable, Sendable {
    /// Chroma subsampling. The raw values are SDD_CHROMA_ of the C header.
    package enum Chroma: Int32, Sendable {
        case half = 0
        case halfWidth = 1
        case full = 2
    }

    /// The format to encode; `nil` means PNG if the pixels are not opaque or too large for JPEG, else JPEG.
    package var format: ImageFormat?
    /// JPEG quality on libjpeg's scale, 1 to 100.
    package var quality = 90
    /// Rule by which a picture that is too large is resized.
    package var size = SizeRule.none
    /// Largest size of the encoded file in bytes; 0 means no limit.
    package var byteLimit: Int64 = 0
    /// Colour that shows through transparent pixels in a JPEG: 0xRRGGBB.
    package var background: UInt32 = 0
    package var isProgressive = false
    package var chroma = Chroma.half
    /// True if all frames of an animated image are encoded.
    package var isAnimated = false

    package init(format: ImageFormat? = nil) { self.format = format }
}

/// The reason why an encode failed.
package enum EncodeError: Error, Equatable {
    /// The picture does not fit into the byte limit, or into the format: a JPEG's sides have at most 65,500 pixels.
    case doesNotFit
    case noMemory
    /// No coder encodes the format, or the application's coder failed.
    case unsupported
    /// The installed coder of the format cannot be loaded. The value is the reason, without a full stop.
    case notLoaded(String)
    /// The format does not take the colour profile. It is not thrown to callers.
    case profileRefused
    /// A frame cannot be decoded.
    case frame(CoderError)
    /// The C library failed for another reason.
    case failed
}

/// What is to be made of pixels: a JPEG or a PNG, how good, and how large.
package struct EncodeOptions: Hashable, Sendable {
    /// How much of the colours is kept apart from the light. The raw values are SDD_CHROMA_ of the C header.
    package enum Chroma: Int32, Sendable {
        case half = 0
        case halfWidth = 1
        case full = 2
    }

    /// nil: PNG where something shows through, or JPEG has no such size; else JPEG.
    package var format: ImageFormat?
    /// 1 to 100: of a JPEG libjpeg's.
    package var quality = 90
    /// What becomes of a picture that is too large.
    package var size = SizeRule.none
    /// At most so many bytes; 0: any number.
    package var byteLimit: Int64 = 0
    /// What shows through in a JPEG: 0xRRGGBB.
    package var background: UInt32 = 0
    package var isProgressive = false
    package var chroma = Chroma.half

    package init(format: ImageFormat? = nil) { self.format = format }
}

/// Why pixels gave no bytes.
package enum EncodeError: Error, Equatable {
    /// Into the limit of bytes, or into the format: a JPEG's sides have at most 65,500 pixels.
    case doesNotFit
    case noMemory
    /// Nobody encodes that format, or its coder of the host's would not.
    case unsupported
    /// The library of C said no for a reason of its own.
    case failed
}

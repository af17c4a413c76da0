/// How pixels lie in memory. The raw values are SDD_PIXEL_FORMAT_ of the C header.
package enum PixelFormat: Int32, Sendable, Hashable, CaseIterable {
    case rgba8 = 1
    case rgba8Premultiplied = 2
    case bgra8 = 3
    case bgra8Premultiplied = 4
    case rgb8 = 5
    case grey8 = 6

    package var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied: 4
        case .rgb8: 3
        case .grey8: 1
        }
    }

    var hasAlpha: Bool { bytesPerPixel == 4 }
}

/// What a caller wants of the pixels. Of one body, equal forms are equal pixels.
package struct PixelForm: Hashable, Sendable {
    package let format: PixelFormat
    /// Turned as Exif's orientation says; else as stored.
    package let isUpright: Bool
    /// What shows through where the format has no alpha: 0xRRGGBB.
    package let background: UInt32
    package let size: SizeRule
    /// A picture that is cut or damaged is taken as far as it is good.
    package let isLenient: Bool
    /// What a body is that nobody knows by its first bytes.
    package let formatHint: ImageFormat?

    package init(
        format: PixelFormat = .rgba8, isUpright: Bool = true, background: UInt32 = 0, size: SizeRule = .none,
        isLenient: Bool = false, formatHint: ImageFormat? = nil
    ) {
        self.format = format
        self.isUpright = isUpright
        self.size = size
        self.isLenient = isLenient
        self.formatHint = formatHint
        // Where it does not matter, all are equal.
        self.background = format.hasAlpha ? 0 : background & 0xff_ffff
    }
}

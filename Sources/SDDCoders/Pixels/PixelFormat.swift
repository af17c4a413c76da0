/// Layout of pixels in memory. The raw values are SDD_PIXEL_FORMAT_ of the C header.
package enum PixelFormat: Int32, Sendable, Hashable, CaseIterable {
    case rgba8 = 1
    case rgba8Premultiplied = 2
    case bgra8 = 3
    case bgra8Premultiplied = 4
    case rgb8 = 5
    case grey8 = 6
    /// 16 bits per channel in native byte order, as in `rgba16Premultiplied`.
    case rgba16 = 7
    case rgba16Premultiplied = 8
    /// Red, green and blue in three planes, one after the other.
    case rgb8Planar = 9

    /// Bytes from one pixel of a row to the next.
    package var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied: 4
        case .rgb8: 3
        case .grey8, .rgb8Planar: 1
        case .rgba16, .rgba16Premultiplied: 8
        }
    }

    package var planeCount: Int { self == .rgb8Planar ? 3 : 1 }

    var hasAlpha: Bool { bytesPerPixel >= 4 }

    /// The non-premultiplied RGBA format with as many bits per channel, from which every other format can be made.
    var source: PixelFormat { bytesPerPixel == 8 ? .rgba16 : .rgba8 }
}

/// A format of encoded pictures. The raw values are SDD_IMAGE_FORMAT_ of the C header. The set is open, since the
/// application's coders may add formats of their own.
package struct ImageFormat: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    /// Returns `nil` for a value that no format can have: below `firstAppCoder` only the header's values are valid.
    package init?(rawValue: Int32) {
        guard (1...Self.icc.rawValue).contains(rawValue) || rawValue >= Self.firstAppCoder else { return nil }
        self.init(rawValue)
    }

    private init(_ rawValue: Int32) { self.rawValue = rawValue }

    package static let firstAppCoder: Int32 = 1000

    package static let jpeg = ImageFormat(1)
    package static let png = ImageFormat(2)
    package static let gif = ImageFormat(3)
    package static let webp = ImageFormat(4)
    package static let avif = ImageFormat(5)
    package static let heif = ImageFormat(6)
    package static let tiff = ImageFormat(7)
    package static let bmp = ImageFormat(8)
    package static let pdf = ImageFormat(9)
    package static let svg = ImageFormat(10)
    package static let jxl = ImageFormat(11)
    package static let ico = ImageFormat(12)
    /// Pixels with a profile, see `ProfileEngine`: never a body from outside.
    package static let icc = ImageFormat(13)
}

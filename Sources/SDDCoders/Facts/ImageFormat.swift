/// A kind of encoded picture. The raw values are SDD_IMAGE_FORMAT_ of the C header: an open set, since a coder of the
/// host's may bring a format of its own.
package struct ImageFormat: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    /// nil for a number that no format has, nor may have: below the host's own there are those of the header only.
    package init?(rawValue: Int32) {
        guard (1...Self.svg.rawValue).contains(rawValue) || rawValue >= Self.firstOfHost else { return nil }
        self.init(rawValue)
    }

    private init(_ rawValue: Int32) { self.rawValue = rawValue }

    package static let firstOfHost: Int32 = 1000

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
}

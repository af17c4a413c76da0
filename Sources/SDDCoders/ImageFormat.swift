package import SDDBase

/// Kinds of encoded picture, told by their first bytes, never by a name or a content type. The raw
/// values are SDD_IMAGE_FORMAT_ of the C header.
package enum ImageFormat: Int32, Sendable, Hashable {
    case jpeg = 1
    case png = 2

    /// The format whose whole magic number the bytes begin with.
    package init?(sniffing bytes: Bytes) {
        let start = bytes.pointer.prefix(8)
        if start.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if start.elementsEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else {
            return nil
        }
    }
}

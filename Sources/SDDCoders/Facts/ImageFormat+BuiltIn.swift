package import SDDBase

/// The formats that the library itself decodes, recognized by their first bytes, never by a name or a content type.
extension ImageFormat {
    static let builtIn: [ImageFormat] = [.jpeg, .png]

    /// Returns the format whose magic number the bytes begin with. A body that is truncated within the magic number,
    /// but after its second byte, has the format, too; the decoder then reports the truncation.
    package init?(sniffing bytes: Bytes) {
        guard bytes.count >= 2, let found = Self.builtIn.first(where: { $0.mayBegin(bytes.pointer) }) else {
            return nil
        }
        self = found
    }

    /// Whether the bytes match the format's magic number, as far as both go.
    func mayBegin(_ bytes: UnsafeRawBufferPointer) -> Bool {
        zip(bytes, magicNumber).allSatisfy { $0 == $1 }
    }

    var magicNumber: [UInt8] {
        switch self {
        case .jpeg: [0xff, 0xd8, 0xff]
        case .png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        default: []
        }
    }
}

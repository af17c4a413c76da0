package import SDDBase

/// The formats that the library itself decodes, told by their first bytes, never by a name or a content type.
extension ImageFormat {
    static let builtIn: [ImageFormat] = [.jpeg, .png]

    /// The format whose magic number the bytes begin with. A body that is cut inside the number, but
    /// after its second byte, is of the format too: then the decoder tells that it is cut.
    package init?(sniffing bytes: Bytes) {
        guard bytes.count >= 2, let found = Self.builtIn.first(where: { $0.mayBegin(bytes.pointer) }) else {
            return nil
        }
        self = found
    }

    /// Whether the bytes are of the format as far as its magic number goes, or they do.
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

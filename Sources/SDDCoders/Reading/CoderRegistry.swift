package import SDDBase

/// Who may be asked to decode or encode. A value: change a copy, then make `DecoderSet`s from it.
package struct CoderRegistry: Sendable {
    /// What comes with the library: JPEG and PNG.
    package static let builtIn = CoderRegistry([JPEGCoder(), PNGCoder()])

    private var coders: [any ImageCoding]
    private var hostLists: [HostCoderList] = []

    package init(_ coders: [any ImageCoding] = []) { self.coders = coders }

    /// From now on `coder` is asked before all others, so that it can replace one of the same format.
    package mutating func register(_ coder: any ImageCoding) { coders.append(coder) }

    package func coder(for format: ImageFormat) -> (any ImageCoding)? {
        coders.last { $0.format == format }
    }

    // MARK: - The host's

    /// The same, but that those in the first list are asked first, then those in the next, and then its own. The lists
    /// may change at any time.
    package func asking(_ lists: [HostCoderList]) -> CoderRegistry {
        var registry = self
        registry.hostLists = lists
        return registry
    }

    /// Whether one of them takes a body that begins like this; nil: the first that may cannot tell yet, and those behind
    /// it must not come before it.
    func isForHost(_ bytes: Bytes) -> Bool? {
        for list in hostLists {
            for coder in list.newestFirst {
                switch coder.canDecode(bytes.pointer) {
                case true: return true
                case nil: return nil
                case false: continue
                }
            }
        }
        return false
    }

    /// The first that takes a whole body; else, if that is of no format of the library's, the first of the format that
    /// is hinted at.
    func hostCoder(for bytes: Bytes, hint: ImageFormat?) -> (any HostCoder)? {
        if let coder = firstOfHost({ $0.canDecode(bytes.pointer) == true }) { return coder }
        guard let hint, ImageFormat(sniffing: bytes) == nil else { return nil }
        return firstOfHost { $0.format == hint }
    }

    private func firstOfHost(_ condition: (any HostCoder) -> Bool) -> (any HostCoder)? {
        for list in hostLists {
            if let coder = list.newestFirst.first(where: condition) { return coder }
        }
        return nil
    }

    func hostEncodes(_ format: ImageFormat) -> Bool { firstOfHost { $0.format == format && $0.canEncode } != nil }

    /// By the first that encodes that format.
    /// - Parameter quality: 1 to 100.
    package func encode(
        _ pixels: PixelBuffer, as format: ImageFormat, quality: Int
    ) throws(CoderError) -> Bytes {
        guard let coder = firstOfHost({ $0.format == format && $0.canEncode }) else { throw CoderError(.unknownFormat) }
        let bytes = ByteBuilder()
        try coder.encode(pixels.format == .rgba8 ? pixels : pixels.straightCopy(), quality: quality, into: bytes)
        return bytes.take()
    }
}

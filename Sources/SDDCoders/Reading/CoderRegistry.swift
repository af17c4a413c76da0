package import SDDBase

/// The coders that may decode or encode pictures. A value: change a copy, then make `DecoderSet`s from it.
package struct CoderRegistry: Sendable {
    /// The coders that come with the library: JPEG and PNG.
    package static let builtIn = CoderRegistry([JPEGCoder(), PNGCoder()])

    private var coders: [any ImageCoding]
    private var appLists: [AppCoderList] = []

    package init(_ coders: [any ImageCoding] = []) { self.coders = coders }

    /// Adds a coder that takes precedence over all others, so that it can replace one of the same format.
    package mutating func register(_ coder: any ImageCoding) { coders.append(coder) }

    package func coder(for format: ImageFormat) -> (any ImageCoding)? {
        coders.last { $0.format == format }
    }

    // MARK: - The application's coders

    /// Returns a copy that prefers the coders in `lists` to its own: first those of the first list, then those of the
    /// next. The lists may change at any time.
    package func asking(_ lists: [AppCoderList]) -> CoderRegistry {
        var registry = self
        registry.appLists = lists
        return registry
    }

    /// Whether an application's coder takes a body that begins like this. Returns `nil` if a coder cannot tell yet; the
    /// coders after it must not be preferred to it.
    func isForApp(_ bytes: Bytes) -> Bool? {
        for list in appLists {
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

    /// Returns the first of the application's coders that takes a whole body. If there is none and the body has no
    /// format of the library's, returns the first one for the format `hint`.
    func appCoder(for bytes: Bytes, hint: ImageFormat?) -> (any AppCoder)? {
        if let coder = firstAppCoder({ $0.canDecode(bytes.pointer) == true }) { return coder }
        guard let hint, ImageFormat(sniffing: bytes) == nil else { return nil }
        return firstAppCoder { $0.format == hint }
    }

    private func firstAppCoder(_ condition: (any AppCoder) -> Bool) -> (any AppCoder)? {
        for list in appLists {
            if let coder = list.newestFirst.first(where: condition) { return coder }
        }
        return nil
    }

    func appEncodes(_ format: ImageFormat) -> Bool { firstAppCoder { $0.format == format && $0.canEncode } != nil }

    /// Encodes pixels with the first of the application's coders that encodes the format.
    /// - Parameter quality: 1 to 100.
    package func encode(
        _ pixels: PixelBuffer, as format: ImageFormat, quality: Int
    ) throws(CoderError) -> Bytes {
        guard let coder = firstAppCoder({ $0.format == format && $0.canEncode }) else {
            throw CoderError(.unknownFormat)
        }
        let bytes = ByteBuilder()
        let narrow = pixels.format == .rgba8 ? pixels : try pixels.straightCopy(isNarrow: true)
        try coder.encode(narrow, quality: quality, into: bytes)
        return bytes.take()
    }
}

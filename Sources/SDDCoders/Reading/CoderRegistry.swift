package import SDDBase

/// The coders that may decode or encode pictures. A value: change a copy, then make `DecoderSet`s from it.
package struct CoderRegistry: Sendable {
    /// The coders that come with the library: JPEG and PNG.
    package static let builtIn = CoderRegistry([JPEGCoder(), PNGCoder()])

    private var coders: [any ImageCoding]
    private var appLists: [AppCoderList] = []
    private var installed: InstalledCoders?
    /// The processes that decode, if this process does not.
    package private(set) var helpers: HelperPool?

    package init(_ coders: [any ImageCoding] = []) { self.coders = coders }

    /// Adds a coder that takes precedence over all others, so that it can replace one of the same format.
    package mutating func register(_ coder: any ImageCoding) { coders.append(coder) }

    package func coder(for format: ImageFormat) -> (any ImageCoding)? {
        guard let coder = coders.last(where: { $0.format == format }) else { return nil }
        return helpers.map { IsolatedCoder(format, $0) } ?? coder
    }

    // MARK: - The application's coders

    /// Returns a copy that prefers the coders in `lists` to its own: first those of the first list, then those of the
    /// next. The lists may change at any time.
    /// - Parameter installed: coders for formats that the library's own do not decode.
    package func asking(_ lists: [AppCoderList], installed: InstalledCoders? = nil) -> CoderRegistry {
        var registry = self
        registry.appLists = lists
        registry.installed = installed
        return registry
    }

    /// Returns a copy whose pictures are decoded by helpers, but for those that functions of the application decode.
    package func isolated(by helpers: HelperPool?) -> CoderRegistry {
        var registry = self
        registry.helpers = helpers
        return registry
    }

    /// The coders of the library, of the process, and those that are installed, for pictures that no downloader decodes.
    package static var ofProcess: CoderRegistry { builtIn.asking([.process], installed: .process) }

    /// The format of a body, if an installed coder decodes it.
    private func installedFormat(of bytes: Bytes) -> ImageFormat? {
        guard let installed, ImageFormat(sniffing: bytes) == nil,
            let format = ImageFormat(magicNumberOf: bytes.pointer),
            installed.has(format)
        else { return nil }
        return format
    }

    /// Whether more bytes are needed to tell which installed coder decodes a body.
    func isUndecided(_ bytes: Bytes) -> Bool {
        guard let installed, !installed.formats.isEmpty else { return false }
        return ImageFormat.isUndecided(bytes.pointer)
    }

    /// Whether an installed coder decodes a body that begins like this. Loads no coder.
    func isForInstalled(_ bytes: Bytes) -> Bool { installedFormat(of: bytes) != nil }

    /// Whether an application's coder takes a body that begins like this. Returns `nil` if a coder cannot tell yet; the
    /// coders after it must not be preferred to it.
    func isForApp(_ bytes: Bytes) -> Bool? {
        for list in appLists {
            for coder in list.newestFirst {
                switch takes(bytes, coder) {
                case true: return true
                case nil: return nil
                case false: continue
                }
            }
        }
        return false
    }

    /// Returns the first of the application's coders that takes a whole body, or else the installed coder of its format.
    /// If there is none and the body has no format of the library's, returns the first one for the format `hint`.
    /// - Throws: if the installed coder cannot be loaded.
    func appCoder(for bytes: Bytes, hint: ImageFormat?) throws(CoderError) -> (any AppCoder)? {
        if let coder = firstAppCoder({ takes(bytes, $0) == true }) { return coder }
        if let format = installedFormat(of: bytes) { return try installed?.coder(for: format) }
        guard let hint, ImageFormat(sniffing: bytes) == nil else { return nil }
        return firstAppCoder { $0.format == hint }
    }

    private func takes(_ bytes: Bytes, _ coder: any AppCoder) -> Bool? {
        guard let helpers, let object = coder.object else { return coder.canDecode(bytes.pointer) }
        return helpers.canDecode(bytes, object)
    }

    private func firstAppCoder(_ condition: (any AppCoder) -> Bool) -> (any AppCoder)? {
        for list in appLists {
            if let coder = list.newestFirst.first(where: condition) { return coder }
        }
        return nil
    }

    /// Returns the first of the application's coders that encodes a format, or else the installed one.
    /// - Throws: if the installed coder cannot be loaded.
    package func encodingCoder(_ format: ImageFormat) throws(CoderError) -> (any AppCoder)? {
        if let coder = firstAppCoder({ $0.format == format && $0.canEncode }) { return coder }
        guard coder(for: format) == nil, let coder = try installed?.coder(for: format), coder.canEncode else {
            return nil
        }
        return coder
    }

    /// Encodes pixels with one of the application's coders.
    /// - Parameter quality: 1 to 100.
    package static func encode(
        _ pixels: PixelBuffer, with coder: any AppCoder, quality: Int
    ) throws(CoderError) -> Bytes {
        let bytes = ByteBuilder()
        let narrow = pixels.format == .rgba8 ? pixels : try pixels.straightCopy(isNarrow: true)
        try coder.encode(narrow, quality: quality, into: bytes)
        return bytes.take()
    }
}

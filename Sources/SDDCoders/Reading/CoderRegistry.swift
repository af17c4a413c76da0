package import SDDBase

/// The coders that may decode or encode pictures. A value: change a copy, then make `DecoderSet`s from it.
package struct CoderRegistry: Sendable {
    /// The coders that come with the library: JPEG and PNG.
    package static let builtIn = CoderRegistry([JPEGCoder(), PNGCoder()])

    private var coders: [any ImageCoding]
    private var appLists: [AppCoderList] = []
    private(set) var installed: InstalledCoders?
    /// The processes that decode, if this process does not.
    private var helpers: HelperPool?
    private var programs = ProgramHelpers.here

    /// Which processes decode the pictures of a coder that wants isolation, where others are decoded by this process.
    private enum ProgramHelpers {
        case here
        case pool(HelperPool)
        /// One for each picture, which ends with it.
        case own
    }

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

    /// Returns a copy in which helpers decode the pictures of coders that want isolation.
    package func isolatingPrograms(by helpers: HelperPool) -> CoderRegistry {
        var registry = self
        registry.programs = .pool(helpers)
        return registry
    }

    /// The coders of the library, of the process, and those that are installed, for pictures that no downloader decodes.
    package static var ofProcess: CoderRegistry {
        var registry = builtIn.asking([.process], installed: .process)
        registry.programs = .own
        return registry
    }

    /// Returns the helpers that decode the pictures of a coder; `nil` if this process does.
    func helpers(for coder: any AppCoder, _ limits: DecodeLimits) -> HelperPool? {
        if coder.object == nil { return nil }
        if let helpers { return helpers }
        guard coder.wantsIsolation else { return nil }
        switch programs {
        case .here: return nil
        case .pool(let pool): return pool
        case .own:
            let pool = InstalledCoders.process.makeHelpers(limits)
            pool.close()
            return pool
        }
    }

    /// Whether helpers may decode a body.
    package func mayIsolate(_ bytes: Bytes) -> Bool {
        if helpers != nil { return true }
        if case .here = programs { return false }
        return ImageFormat(sniffing: bytes) == nil
    }

    /// Ends the helpers that nothing is asked of.
    package func endIdleHelpers() { eachPool { $0.endIdle() } }

    /// Ends all helpers, each with what it decodes.
    package func closeHelpers() { eachPool { $0.close() } }

    private func eachPool(_ body: (HelperPool) -> Void) {
        if let helpers { body(helpers) }
        if case .pool(let pool) = programs { body(pool) }
    }

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
        var isSilent = false
        for coder in appCoders {
            switch taking(bytes, coder) {
            case .takes: return true
            case .undecided: return nil
            case .refuses: continue
            case .silent: isSilent = true
            }
        }
        return isSilent && !isKnown(bytes)
    }

    /// Returns the first of the application's coders that takes a whole body, or else the installed coder of its format.
    /// If there is none and the body has no format of the library's, returns one that could not be asked, so that it is
    /// asked to decode the body and the error tells why.
    /// - Throws: if the installed coder cannot be loaded.
    func appCoder(for bytes: Bytes) throws(CoderError) -> (any AppCoder)? {
        var silent: (any AppCoder)?
        for coder in appCoders {
            switch taking(bytes, coder) {
            case .takes: return coder
            case .silent: silent = silent ?? coder
            case .refuses, .undecided: continue
            }
        }
        if let format = installedFormat(of: bytes) { return try installed?.coder(for: format) }
        return ImageFormat(sniffing: bytes) == nil ? silent : nil
    }

    /// Returns the first of the application's coders of a format.
    func appCoder(of format: ImageFormat) -> (any AppCoder)? { firstAppCoder { $0.format == format } }

    /// Whether a coder of the library, or an installed one, decodes a body that begins like this.
    private func isKnown(_ bytes: Bytes) -> Bool { ImageFormat(sniffing: bytes) != nil || isForInstalled(bytes) }

    private enum Taking { case takes, refuses, undecided, silent }

    /// Asks a coder whether it decodes a body; `.silent` if it is in a process that cannot be asked.
    private func taking(_ bytes: Bytes, _ coder: any AppCoder) -> Taking {
        let answer: Bool?
        if let helpers, let object = coder.object {
            do throws(CoderError) { answer = try helpers.canDecode(bytes, object) } catch { return .silent }
        } else {
            answer = coder.canDecode(bytes.pointer)
        }
        return answer.map { $0 ? .takes : .refuses } ?? .undecided
    }

    /// The application's coders, in the order in which they are asked.
    private var appCoders: some Sequence<any AppCoder> { appLists.lazy.flatMap(\.newestFirst) }

    private func firstAppCoder(_ condition: (any AppCoder) -> Bool) -> (any AppCoder)? {
        appCoders.first(where: condition)
    }

    /// Returns the first of the application's coders that encodes a format, or else the installed one.
    /// - Parameter ofFrames: whether it is to encode animations.
    /// - Throws: if the installed coder cannot be loaded.
    package func encodingCoder(_ format: ImageFormat, ofFrames: Bool = false) throws(CoderError) -> (any AppCoder)? {
        let encodes = { (coder: any AppCoder) in ofFrames ? coder.canEncodeFrames : coder.canEncode }
        if let coder = firstAppCoder({ $0.format == format && encodes($0) }) { return coder }
        guard coder(for: format) == nil, let coder = try installed?.coder(for: format), encodes(coder) else {
            return nil
        }
        return coder
    }

    /// The installed coder for profiles that the library does not read; `nil` if there is none, or it cannot be loaded,
    /// which was logged then.
    var profileCoder: (any AppCoder)? {
        do throws(CoderError) { return try installed?.coder(for: .icc) } catch { return nil }
    }

    /// Encodes pixels with one of the application's coders.
    /// - Parameter quality: 1 to 100.
    package static func encode(
        _ pixels: PixelBuffer, _ colour: StoredColour, with coder: any AppCoder, quality: Int
    ) throws(CoderError) -> Bytes {
        let bytes = ByteBuilder()
        let narrow = pixels.format == .rgba8 ? pixels : try pixels.straightCopy(isNarrow: true)
        try coder.encode(narrow, colour, quality: quality, into: bytes)
        return bytes.take()
    }
}

internal import Glibc
internal import SDDBase

/// The place from which installed coders come. The coders know no files, so the façade supplies it.
package protocol CoderSource: Sendable {
    /// Looks which coders there are. Called once, with a lock held.
    func findFormats() -> [ImageFormat]
    /// Loads the coder of a format that `findFormats` has returned. Called once for each, without a lock.
    /// - Throws: `.unknownFormat`, with the file and the reason.
    func load(_ format: ImageFormat) throws(CoderError) -> any AppCoder
}

/// The coders that are installed beside the library, one for each format. They are looked for when the first is needed,
/// and each is loaded for the first body of its format, by one thread; others wait for it. Callable from any thread.
package final class InstalledCoders: Sendable {
    /// The coders that every downloader uses, unless its configuration says otherwise.
    package static let process = InstalledCoders()

    private enum Slot {
        case found
        case loaded(any AppCoder)
        case failed(CoderError)
    }

    private struct State {
        var source: (any CoderSource)?
        /// `nil` before anybody has looked.
        var slots: [ImageFormat: Slot]?
        /// The thread that is loading a coder. Only one does so at a time.
        var loader: pthread_t?
        /// True while a thread forks: no load begins then, since the child would have half of a loaded object.
        var isForking = false
    }

    private let state = Monitor(State())

    package init() {}

    /// Sets the source, before anything else is called.
    package func setSource(_ source: any CoderSource) { state.withLock { $0.source = source } }

    /// The formats of the coders that were found, also of those that have failed to load.
    package var formats: [ImageFormat] { state.withLock { state in Array(Self.slots(&state).keys) } }

    func has(_ format: ImageFormat) -> Bool { state.withLock { Self.slots(&$0)[format] != nil } }

    private static func slots(_ state: inout State) -> [ImageFormat: Slot] {
        if let slots = state.slots { return slots }
        guard let source = state.source else { return [:] }
        var slots: [ImageFormat: Slot] = [:]
        for format in source.findFormats() { slots[format] = .found }
        state.slots = slots
        return slots
    }

    /// Returns the coder of a format, which is loaded if it has not been yet; `nil` if none is installed.
    /// - Throws: the reason why it could not be loaded, again each time.
    package func coder(for format: ImageFormat) throws(CoderError) -> (any AppCoder)? {
        enum Turn { case known(Slot?), mine(any CoderSource), recursive }
        let thread = pthread_self()
        let turn = state.wait { state -> Turn? in
            guard let slot = Self.slots(&state)[format] else { return .known(nil) }
            guard case .found = slot, let source = state.source else { return .known(slot) }
            if let loader = state.loader, pthread_equal(loader, thread) != 0 { return .recursive }
            if state.loader != nil || state.isForking { return nil }
            state.loader = thread
            return .mine(source)
        }
        switch turn {
        case .known(nil): return nil
        case .known(.loaded(let coder)): return coder
        case .known(.failed(let error)): throw error
        case .known(.found), .recursive: throw CoderError(.unknownFormat, "its coder is being loaded")
        case .mine(let source): return try load(format, from: source)
        }
    }

    private func load(_ format: ImageFormat, from source: any CoderSource) throws(CoderError) -> any AppCoder {
        let result = Result { () throws(CoderError) in try source.load(format) }
        state.withLock { state in
            state.loader = nil
            switch result {
            case .success(let coder): state.slots?[format] = .loaded(coder)
            case .failure(let error): state.slots?[format] = .failed(error)
            }
        }
        state.broadcast()
        return try result.get()
    }

    // MARK: - Fork

    /// Waits until no other thread is loading a coder. The first step of a fork, before any lock is held.
    package func awaitLoads() {
        let thread = pthread_self()
        state.wait { state -> Void? in
            if let loader = state.loader, pthread_equal(loader, thread) == 0 { return nil }
            state.isForking = true
            return ()
        }
    }

    package func lockForFork() { state.lockForFork() }

    package func unlockInParent() {
        state.unlockInParent()
        forkEnds()
    }

    package func resetInChild() {
        state.resetInChild()
        forkEnds()
    }

    private func forkEnds() {
        state.withLock { $0.isForking = false }
        state.broadcast()
    }
}

extension ImageFormat {
    /// The media types by which requests ask for the format; empty for formats of the application.
    package var mediaTypes: [String] {
        switch self {
        case .jpeg: ["image/jpeg"]
        case .png: ["image/png"]
        case .gif: ["image/gif"]
        case .webp: ["image/webp"]
        case .avif: ["image/avif"]
        case .heif: ["image/heic", "image/heif"]
        case .jxl: ["image/jxl"]
        default: []
        }
    }

    /// The Debian package that has the coder of the format; `nil` for formats that no package decodes.
    package var coderPackage: String? {
        switch self {
        case .webp: "libsdd-coder-webp"
        case .avif: "libsdd-coder-avif"
        case .gif: "libsdd-coder-gif"
        case .jxl: "libsdd-coder-jxl"
        case .heif: "libsdd-coder-heif"
        default: nil
        }
    }

    /// The name of the format in messages; `nil` for formats of the application.
    package var name: String? {
        let names = ["JPEG", "PNG", "GIF", "WebP", "AVIF", "HEIF", "TIFF", "BMP", "PDF", "SVG", "JPEG XL"]
        return names.indices.contains(Int(rawValue) - 1) ? names[Int(rawValue) - 1] : nil
    }
}

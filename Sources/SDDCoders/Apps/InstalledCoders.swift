internal import Glibc
internal import SDDBase

/// The place from which installed coders come. The coders know no files, so the façade supplies it.
package protocol CoderSource: Sendable {
    /// Looks which coders there are. Called without a lock, perhaps by several threads at a time.
    func findCoders() -> FoundCoders
    /// Loads the coder of a format that `findCoders` has returned with that place. Called once for each, without a lock.
    /// - Throws: `.unknownFormat`, with the file and the reason.
    func load(_ format: ImageFormat, in place: String) throws(CoderError) -> any AppCoder
    /// Finds the program that decodes in processes of its own.
    /// - Throws: `.noDecoder`.
    func findDecoder(_ limits: DecodeLimits) throws(CoderError) -> HelperProgram
}

/// The coders that a source has.
package struct FoundCoders: Sendable {
    /// Where the coder of each format is.
    package var places: [ImageFormat: String]
    /// Clauses that say why a coder that is there is not used, by its format.
    package var refusals: [ImageFormat: String]

    package init(places: [ImageFormat: String] = [:], refusals: [ImageFormat: String] = [:]) {
        (self.places, self.refusals) = (places, refusals)
    }
}

/// The coders that are installed beside the library, one for each format. They are looked for when the first is needed,
/// and each is loaded for the first body of its format, by one thread; others wait for it. Callable from any thread.
///
/// No lock is held while the source is asked: it calls the system's loader, and a thread that forks in the constructor of
/// a shared object has the loader's lock and waits for those of the library.
package final class InstalledCoders: Sendable {
    /// The coders that every downloader uses, unless its configuration says otherwise.
    package static let process = InstalledCoders()

    private enum Slot {
        /// It is not loaded yet; the place is the source's.
        case found(String)
        case loaded(any AppCoder)
        case failed(CoderError)
    }

    /// A load that is under way.
    private struct Loading {
        let thread: pthread_t
        let format: ImageFormat

        var isOfThisThread: Bool { pthread_equal(thread, pthread_self()) != 0 }
    }

    private struct State {
        var source: (any CoderSource)?
        /// `nil` before anybody has looked.
        var slots: [ImageFormat: Slot]?
        var refusals: [ImageFormat: String] = [:]
        /// Only one coder is loaded at a time.
        var loading: Loading?
        /// True while a thread forks: no load begins then, since the child would have half of a loaded object.
        var isForking = false
    }

    private let state = Monitor(State())

    package init() {}

    /// Sets the source, before anything else is called.
    package func setSource(_ source: any CoderSource) { state.withLock { $0.source = source } }

    /// Returns processes for coders that want isolation. The program is looked for when the first one starts.
    package func makeHelpers(_ limits: DecodeLimits, memory: (any MemoryKeeping)? = nil) -> HelperPool {
        HelperPool(memory: memory) { () throws(CoderError) in
            guard let source = self.state.withLock({ $0.source }) else { throw CoderError(.noDecoder) }
            return try source.findDecoder(limits)
        }
    }

    /// The formats of the coders that were found, also of those that have failed to load.
    package var formats: [ImageFormat] {
        look()
        return state.withLock { Array(($0.slots ?? [:]).keys) }
    }

    func has(_ format: ImageFormat) -> Bool {
        look()
        return state.withLock { $0.slots?[format] != nil }
    }

    /// Looks for coders if nobody has. Of several threads that do so, the first to find them counts.
    private func look() {
        let source = state.withLock { $0.slots == nil ? $0.source : nil }
        guard let source else { return }
        let found = source.findCoders()
        state.withLock { state in
            guard state.slots == nil else { return }
            (state.slots, state.refusals) = (found.places.mapValues { .found($0) }, found.refusals)
        }
    }

    /// A clause that says why the coder of a format is not used, though it is there; `nil` if none is.
    func refusal(of format: ImageFormat) -> String? {
        look()
        return state.withLock { $0.refusals[format] }
    }

    /// Returns the coder of a format, which is loaded if it has not been yet; `nil` if none is installed.
    /// - Throws: the reason why it could not be loaded, again each time.
    package func coder(for format: ImageFormat) throws(CoderError) -> (any AppCoder)? {
        enum Turn { case known(Slot?), mine(any CoderSource, String), recursive }
        look()
        let turn = state.wait { state -> Turn? in
            guard let slot = state.slots?[format] else { return .known(nil) }
            guard case .found(let place) = slot, let source = state.source else { return .known(slot) }
            if state.loading?.isOfThisThread == true { return .recursive }
            if state.loading != nil || state.isForking { return nil }
            state.loading = Loading(thread: pthread_self(), format: format)
            return .mine(source, place)
        }
        switch turn {
        case .known(nil): return nil
        case .known(.loaded(let coder)): return coder
        case .known(.failed(let error)): throw error
        case .known(.found), .recursive: throw CoderError(.unknownFormat, "its coder is being loaded")
        case .mine(let source, let place): return try load(format, in: place, from: source)
        }
    }

    private func load(
        _ format: ImageFormat, in place: String, from source: any CoderSource
    ) throws(CoderError) -> any AppCoder {
        let result = Result { () throws(CoderError) in try source.load(format, in: place) }
        state.withLock { state in
            state.loading = nil
            switch result {
            case .success(let coder): state.slots?[format] = .loaded(coder)
            case .failure(let error): state.slots?[format] = .failed(error)
            }
        }
        state.broadcast()
        return try result.get()
    }

    // MARK: - Fork

    /// Waits until no other thread is loading a coder, but not for ever: that thread may wait for the system's loader,
    /// which belongs to the thread that forks if it is in the constructor of a shared object. The first step of a fork,
    /// before any lock is held.
    package func awaitLoads(milliseconds: Int64 = 1000) {
        state.withLock { $0.isForking = true }
        _ = state.wait(milliseconds: milliseconds) { state -> Void? in
            state.loading?.isOfThisThread == false ? nil : ()
        }
    }

    package func lockForFork() { state.lockForFork() }

    package func unlockInParent() {
        state.unlockInParent()
        forkEnds()
    }

    package func resetInChild() {
        state.resetInChild()
        state.withLock { state in
            // The child has half of an object that another thread was loading.
            guard let loading = state.loading, !loading.isOfThisThread else { return }
            let error = CoderError(.unknownFormat, "its coder was being loaded when this process was forked")
            state.slots?[loading.format] = .failed(error)
            state.loading = nil
        }
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
        case .bmp: ["image/bmp"]
        case .ico: ["image/x-icon"]
        case .svg: ["image/svg+xml"]
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
        case .bmp, .ico: "libsdd-coder-bmp"
        case .svg: "libsdd-coder-svg"
        default: nil
        }
    }

    /// The name of the format in messages; `nil` for formats of the application.
    package var name: String? {
        let names = ["JPEG", "PNG", "GIF", "WebP", "AVIF", "HEIF", "TIFF", "BMP", "PDF", "SVG", "JPEG XL", "ICO"]
        return names.indices.contains(Int(rawValue) - 1) ? names[Int(rawValue) - 1] : nil
    }
}

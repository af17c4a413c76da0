package import SDDBase
import SDDCaches
package import SDDCoders

/// An item to be stored in a cache; the header's `sdd_cache_item`.
package struct CacheItem: Sendable {
    package var key: String
    package var image: Image?
    package var bytes: Bytes?
    package var extended: Bytes?
    /// The HTTP metadata, or the request fields the item was selected by; see `EntryMetadata`.
    var http: [UInt8] = []
    package var levels: CacheLevels

    package init(key: String, image: Image?, bytes: Bytes?, extended: Bytes?, levels: CacheLevels) {
        self.key = key
        self.image = image
        self.bytes = bytes
        self.extended = extended
        self.levels = levels
    }

    /// The encoded bytes to store: the item's own, or else the bytes the image was decoded from, unless it is scaled or
    /// partial.
    fileprivate var knownBytes: Bytes? {
        if let bytes { return bytes }
        guard let image, !image.isScaled, !image.isPartial else { return nil }
        return image.bytes
    }

    /// Makes the entry to write to disk. May encode the image; called on a disk thread.
    func made(_ serializer: ImageCache.Serializer?) -> DiskQueue.Made {
        if let serializer {
            return serializer(image, bytes, key).map { .entry(metadata(of: $0), $0) } ?? .nothing
        }
        if let bytes = knownBytes { return .entry(metadata(of: bytes), bytes) }
        do throws(EncodeError) {
            guard let bytes = try encoded() else { return .impossible }
            return .entry(metadata(of: bytes), bytes)
        } catch {
            return .noMemory
        }
    }

    /// Encodes the image in its own format if the library can (row I16), and if that keeps what shows through; otherwise
    /// as PNG if it has transparency, else as JPEG.
    /// - Throws: only `noMemory`: an image to be stored losslessly must not become lossy for lack of memory.
    private func encoded() throws(EncodeError) -> Bytes? {
        guard let image, let pixels = try? image.decoded() else { return nil }
        let orientation = image.form.isUpright ? 1 : image.facts?.orientation ?? 1
        // Its own format may have no encoder, or none that takes this image.
        let isOwn =
            switch image.format {
            // Corners may have been rounded.
            case .jpeg: pixels.isOpaque
            case .png: true
            // Only the library's own formats keep what an image said of its colours before they were converted, and how
            // it is to be turned if it was not.
            default: !image.isConverted && orientation == 1
            }
        for options in isOwn ? [EncodeOptions(format: image.format), EncodeOptions()] : [EncodeOptions()] {
            do throws(EncodeError) {
                let bytes = try ImageEncoder.encode(
                    pixels, options, colour: EncodedColour(of: image, isForItself: true), registry: .ofProcess)
                return orientation == 1 ? bytes : try OrientationWriting.add(orientation, to: bytes)
            } catch .noMemory {
                throw .noMemory
            } catch {
                continue
            }
        }
        return nil
    }

    func metadata(of body: Bytes) -> EntryMetadata {
        EntryMetadata(
            key: key, http: http, user: extended.map { unsafe Array($0.pointer) } ?? [],
            format: Self.formatNumber(of: body))
    }

    /// Bytes of memory that the item holds until it is written.
    fileprivate var heldBytes: Int {
        let (sum, overflow) = (image?.memoryCost ?? 0).addingReportingOverflow(
            (bytes?.heldBytes ?? 0) + (extended?.heldBytes ?? 0))
        return overflow ? .max : sum
    }

    static func formatNumber(of body: Bytes) -> Int32 { unsafe ImageFormat(magicNumberOf: body.pointer)?.rawValue ?? 0 }
}

// MARK: - Storing

extension ImageCache {
    /// Stores an item in memory at once, and on disk soon.
    /// - Parameters:
    ///   - isAwaited: a caller waits until it is on disk; otherwise it may be dropped if too much waits to be written.
    ///   - done: called once, with the error if it was not written to disk.
    package func store(
        _ item: CacheItem, isAwaited: Bool = true, done: @escaping @Sendable (DownloadError?) -> Void
    ) {
        if item.image == nil && item.bytes == nil { return done(.nothingToStore) }
        if item.levels.contains(.memory) {
            if let image = item.image { storeInMemory(image, for: item.key) } else { removeFromMemory(item.key) }
        }
        guard item.levels.contains(.disk), let disk, isOpen else { return done(nil) }
        let answer: @Sendable (CacheError?) -> Void = { done($0.map { DownloadError($0) }) }
        if serializer == nil, let bytes = item.knownBytes {
            return disk.store(item.metadata(of: bytes), bytes, isAwaited: isAwaited, then: answer)
        }
        disk.store(item.key, cost: item.heldBytes, isAwaited: isAwaited, then: answer) { [serializer] in
            item.made(serializer)
        }
    }

    /// Stores an image under a key once, even if several loads that share the image store it. `done` is called once for
    /// each call.
    func storeOnce(_ item: CacheItem, isAwaited: Bool, done: @escaping @Sendable (DownloadError?) -> Void) {
        guard let image = item.image else { return done(nil) }
        let own = Storing(image)
        let key = ExactText(item.key)
        let step = storing.withLock { storing in
            if let other = storing[key], other.image === image { return other.joined(by: done) }
            if storing.count >= Storing.mostRemembered { storing = storing.filter { !$0.value.isDone } }
            own.waiting = [done]
            storing[key] = own
            return .first
        }
        switch step {
        case .joined: break
        case .isDone(let error): done(error)
        case .first:
            store(item, isAwaited: isAwaited) { [self] error in
                for done in storing.withLock({ _ in own.finish(error) }) { done(error) }
            }
        }
    }

    /// A store of an image that is under way or done, and the callbacks that wait for it.
    final class Storing: @unchecked Sendable {
        enum Step {
            case first, joined
            case isDone(DownloadError?)
        }

        static let mostRemembered = 64

        // Safety: touched under the lock of its cache.
        weak var image: Image?
        var waiting: [@Sendable (DownloadError?) -> Void] = []
        private(set) var isDone = false
        private var error: DownloadError?

        init(_ image: Image) { self.image = image }

        func joined(by done: @escaping @Sendable (DownloadError?) -> Void) -> Step {
            if isDone { return .isDone(error) }
            waiting.append(done)
            return .joined
        }

        /// Marks the store as done.
        /// - Returns: the callbacks to call.
        func finish(_ error: DownloadError?) -> [@Sendable (DownloadError?) -> Void] {
            defer { waiting = [] }
            isDone = true
            self.error = error
            return waiting
        }
    }

    /// Stores an item and waits for the disk.
    package func storeNow(_ item: CacheItem) -> DownloadError? {
        let outcome = Monitor<DownloadError??>(nil)
        store(item) { error in
            outcome.withLock { $0 = .some(error) }
            outcome.broadcast()
        }
        return outcome.wait { $0 }
    }
}

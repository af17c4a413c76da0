package import SDDBase
import SDDCaches
package import SDDCoders

/// What is to be stored in a cache; `sdd_cache_item` of the header.
package struct CacheItem: Sendable {
    package var key: String
    package var image: Image?
    package var bytes: Bytes?
    package var extended: Bytes?
    /// What HTTP says of it, or for which request fields it is: see `EntryMetadata`.
    var http: [UInt8] = []
    package var levels: CacheLevels

    package init(key: String, image: Image?, bytes: Bytes?, extended: Bytes?, levels: CacheLevels) {
        self.key = key
        self.image = image
        self.bytes = bytes
        self.extended = extended
        self.levels = levels
    }

    /// Without anything else those that the image was made of, if it is as they have it.
    fileprivate var knownBytes: Bytes? {
        if let bytes { return bytes }
        guard let image, !image.isScaled, !image.isPartial else { return nil }
        return image.bytes
    }

    /// What goes to disk. Takes the time of encoding, on a disk thread.
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

    /// Row I16: the image's own format, where we can; else PNG if anything shows through, else JPEG.
    /// - Throws: only `noMemory`, for a picture that was to be stored without loss must not become one with it.
    private func encoded() throws(EncodeError) -> Bytes? {
        guard let image, let pixels = try? image.decoded() else { return nil }
        let registry = CoderRegistry.builtIn.asking([.process])
        // Its own format may not be one of those, or not for such a picture.
        for options in [EncodeOptions(format: image.format), EncodeOptions()] {
            do throws(EncodeError) {
                return try ImageEncoder.encode(pixels, options, registry: registry)
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

    /// Bytes that are held until it has been written.
    fileprivate var heldBytes: Int {
        let (sum, overflow) = (image?.memoryCost ?? 0).addingReportingOverflow(
            (bytes?.heldBytes ?? 0) + (extended?.heldBytes ?? 0))
        return overflow ? .max : sum
    }

    static func formatNumber(of body: Bytes) -> Int32 { unsafe ImageFormat(magicNumberOf: body.pointer)?.rawValue ?? 0 }
}

// MARK: - Storing

extension ImageCache {
    /// In memory at once, on disk soon.
    /// - Parameters:
    ///   - isAwaited: somebody waits until it is on disk; else it may be given up where too much waits to be written.
    ///   - done: called once; with the failure, if it did not come to the disk.
    package func store(
        _ item: CacheItem, isAwaited: Bool = true, done: @escaping @Sendable (DownloadError?) -> Void
    ) {
        if item.image == nil && item.bytes == nil { return done(.nothingToStore) }
        if item.levels.contains(.memory) {
            if let image = item.image { remember(image, for: item.key) } else { forget(item.key) }
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

    /// The same, but once for an image and key: those who share a picture all come with it. Called once for each call.
    func storeOnce(_ item: CacheItem, isAwaited: Bool, done: @escaping @Sendable () -> Void) {
        guard let image = item.image else { return done() }
        let own = Storing(image)
        let step = storing.withLock { storing in
            if let other = storing[item.key], other.image === image { return other.joined(by: done) }
            if storing.count >= Storing.mostRemembered { storing = storing.filter { !$0.value.isDone } }
            own.waiting = [done]
            storing[item.key] = own
            return .first
        }
        switch step {
        case .joined: break
        case .isDone: done()
        case .first:
            store(item, isAwaited: isAwaited) { [self] _ in
                for done in storing.withLock({ _ in own.finish() }) { done() }
            }
        }
    }

    /// An image on its way to the disk, or there, and who waits for that.
    final class Storing: @unchecked Sendable {
        enum Step { case first, joined, isDone }

        static let mostRemembered = 64

        // Safety: touched under the lock of its cache.
        weak var image: Image?
        var waiting: [@Sendable () -> Void] = []
        private(set) var isDone = false

        init(_ image: Image) { self.image = image }

        func joined(by done: @escaping @Sendable () -> Void) -> Step {
            if isDone { return .isDone }
            waiting.append(done)
            return .joined
        }

        /// - Returns: who is to be told.
        func finish() -> [@Sendable () -> Void] {
            defer { waiting = [] }
            isDone = true
            return waiting
        }
    }

    /// Waits for the disk.
    package func storeNow(_ item: CacheItem) -> DownloadError? {
        let outcome = Monitor<DownloadError??>(nil)
        store(item) { error in
            outcome.withLock { $0 = .some(error) }
            outcome.broadcast()
        }
        return outcome.wait { $0 }
    }
}

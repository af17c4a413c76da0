package import SDDBase
package import SDDCaches
package import SDDCoders

/// A cache lookup for an image: in memory, on disk in its wanted form, and on disk as its original. Immutable and
/// thread-safe.
package final class ImageCacheLookup: CacheLookup {
    private let search: MemorySearch
    private let levels: CacheLevels
    /// The cache that is searched for the original, if that differs from what is wanted.
    private let originals: Originals
    private let wantsImage: Bool
    private let wantsBytes: Bool
    private let keepsInMemory: Bool
    package let hashKey: UInt64

    private var cache: ImageCache { search.cache }
    private var original: String { search.original }
    private var wanted: String? { search.wanted }
    private var form: DecodeOptions { search.form }
    /// The header fields of the request; `nil` if any entry will do.
    private var headers: HTTPFields? { search.headers }

    package struct Originals: Sendable {
        let cache: ImageCache
        let levels: CacheLevels

        package init(_ cache: ImageCache, _ levels: CacheLevels) {
            self.cache = cache
            self.levels = levels
        }
    }

    /// - Parameters:
    ///   - originals: nil: the same levels, but not memory.
    ///   - keepsInMemory: whether an image decoded from an entry is stored in memory; nil: if memory was searched.
    ///   - headers: the request's header fields; nil: any entry will do.
    ///   - hashKey: a hash of `key`; nil: it is made here.
    package convenience init(
        _ cache: ImageCache, key: String, form: DecodeOptions, levels: CacheLevels, originals: Originals? = nil,
        wantsImage: Bool, wantsBytes: Bool, keepsInMemory: Bool? = nil, headers: HTTPFields? = nil,
        hashKey: UInt64? = nil
    ) {
        let search = MemorySearch(
            cache, original: key, wanted: wantsImage ? CacheKeys.key(of: key, as: form) : key, form: form,
            headers: headers)
        self.init(
            search, levels: levels, originals: originals ?? Originals(cache, levels.intersection(.disk)),
            wantsImage: wantsImage, wantsBytes: wantsBytes, keepsInMemory: keepsInMemory ?? levels.contains(.memory),
            hashKey: hashKey ?? UInt64(truncatingIfNeeded: key.hashValue))
    }

    init(
        _ search: MemorySearch, levels: CacheLevels, originals: Originals, wantsImage: Bool, wantsBytes: Bool,
        keepsInMemory: Bool, hashKey: UInt64
    ) {
        self.search = search
        self.levels = levels
        self.originals = originals
        self.wantsImage = wantsImage
        self.wantsBytes = wantsBytes
        self.keepsInMemory = keepsInMemory
        self.hashKey = hashKey
    }

    package func isSame(as other: any CacheLookup) -> Bool {
        guard let other = other as? ImageCacheLookup else { return false }
        return cache === other.cache && original.hasSameBytes(as: other.original)
            && wanted.hasSameBytes(as: other.wanted) && levels == other.levels
            && originals.cache === other.originals.cache && originals.levels == other.originals.levels
            && wantsImage == other.wantsImage && wantsBytes == other.wantsBytes
            && keepsInMemory == other.keepsInMemory && form == other.form && headers == other.headers
    }

    package var originalKey: String { original }

    /// Whether an original on disk would do.
    var takesOriginals: Bool { (hasOriginal ? originals.levels : levels).contains(.disk) }

    /// A number that changes whenever an image is stored in the memory that this looks in.
    var memoryVersion: Int { cache.memoryVersion }
    /// The number before the search that was made ahead of the lookup, if there was one.
    var versionAhead: Int? { search.known?.version }

    package func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        finish(firstStep(), for: context.wish) { [self] hit in
            answer(hit.map { .found(asWanted($0)) } ?? .failed(.notCached))
        }
    }

    /// Returns what a query hands out of a hit: the same from memory as from disk.
    private func asWanted(_ hit: CacheHit) -> CacheHit {
        if !wantsBytes { (hit.handsOutBytes, hit.extended) = (false, nil) }
        return hit
    }

    /// Does the rest of the lookup on disk threads.
    /// - Parameters:
    ///   - wish: the caller's wish to read; if it is withdrawn, there may be no answer.
    ///   - answer: called once, before this returns or later on a disk thread.
    func finish(_ step: Step, for wish: DiskRead? = nil, _ answer: @escaping @Sendable (CacheHit?) -> Void) {
        switch step {
        case .done(let hit): answer(hit)
        case .readWanted(let disk, let key, let ready):
            disk.read(key, for: wish) { [self] entry in
                finish(self.step(afterWanted: entry, ready), for: wish, answer)
            }
        case .readOriginal(let disk, let ready):
            disk.read(original, for: wish) { [self] entry in
                finish(self.step(afterOriginal: entry, ready), for: wish, answer)
            }
        }
    }

    package func raise(_ wish: DiskRead, to priority: Priority) {
        ownDisk?.raise(wish, to: priority)
        if let originalDisk, originalDisk !== ownDisk { originalDisk.raise(wish, to: priority) }
    }

    /// Does the rest of the lookup on the calling thread, and waits for the disk.
    func finish(_ step: Step) -> CacheHit? {
        var step = step
        while true {
            switch step {
            case .done(let hit): return hit
            case .readWanted(let disk, let key, let ready): step = self.step(afterWanted: disk.read(key), ready)
            case .readOriginal(let disk, let ready): step = self.step(afterOriginal: disk.read(original), ready)
            }
        }
    }

    /// Looks in all levels on the calling thread, waits for the disk, and decodes there.
    package func resultNow(wantsBytes: Bool) -> DownloadResult {
        let time = SystemTime()
        let hit = finish(firstStep())
        guard let hit else {
            return DownloadResult(error: .notCached, stage: .queue, ended: time.monotonicMicroseconds())
        }
        do throws(CoderError) {
            let image = wantsImage ? try hit.picture(in: search.form) : nil
            return hit.result(image, wantsBytes: wantsBytes, at: time.monotonicMicroseconds())
        } catch {
            return DownloadResult(error: DownloadError(error), stage: .decode, ended: time.monotonicMicroseconds())
        }
    }

    /// The search of memory, if an image from there is all that is wanted.
    var memorySearch: MemorySearch? {
        wantsImage && !wantsBytes && levels.contains(.memory) ? search : nil
    }

    /// Returns the image in exactly the wanted form, if memory has it and no bytes are wanted. Never blocks.
    func memoryHit() -> CacheHit? {
        memorySearch?.held().ready.map { CacheHit(image: $0, origin: .memory) }
    }

    // MARK: The order: memory, the wanted form on disk, the original in memory, the original on disk

    /// The next part of a lookup.
    enum Step {
        case done(CacheHit?)
        /// `ready` is the image in memory, of which only the bytes are missing.
        case readWanted(DiskCache, key: String, ready: Image?)
        case readOriginal(DiskCache, ready: Image?)
    }

    /// Looks in memory, which never blocks.
    func firstStep() -> Step {
        let held = search.known ?? held()
        let ready = held?.ready
        if let ready, !wantsBytes { return .done(CacheHit(image: ready, origin: .memory)) }
        if let undecoded = held?.undecoded, let hit = found(undecoded: undecoded) { return .done(hit) }
        guard let key = wanted ?? (hasOriginal ? nil : original), let disk = ownDisk else {
            return stepToOriginal(ready)
        }
        return .readWanted(disk, key: key, ready: ready)
    }

    private func step(afterWanted entry: StoredEntry?, _ ready: Image?) -> Step {
        let entry = mine(entry)
        if entry == nil, hasOriginal { return stepToOriginal(ready) }
        return .done(found(entry, ready, isMade: hasOriginal))
    }

    private func stepToOriginal(_ ready: Image?) -> Step {
        if ready == nil, let hit = foundInMemory() { return .done(hit) }
        guard let disk = originalDisk else { return .done(found(nil, ready)) }
        return .readOriginal(disk, ready: ready)
    }

    private func step(afterOriginal entry: StoredEntry?, _ ready: Image?) -> Step { .done(found(mine(entry), ready)) }

    // MARK: The levels

    /// True if what is wanted is not the original itself: it is made from the original, or its form has no key.
    private var hasOriginal: Bool { wanted != original }

    private var ownDisk: DiskCache? { levels.contains(.disk) && cache.isOpen ? cache.disk : nil }

    private var originalDisk: DiskCache? {
        hasOriginal && originals.levels.contains(.disk) && originals.cache.isOpen ? originals.cache.disk : nil
    }

    /// Finds the original in memory; its bytes are as good as those on disk.
    private func foundInMemory() -> CacheHit? {
        guard hasOriginal, originals.levels.contains(.memory),
            let image = originals.cache.image(for: original, askedWith: headers),
            let bytes = image.bytes
        else { return nil }
        let found = found(bytes, origin: .memory)
        found.selection = image.keptFor
        found.isOfOriginal = true
        return found
    }

    /// Returns the entry if it may answer this request: it was not selected by other request fields.
    private func mine(_ entry: StoredEntry?) -> StoredEntry? {
        guard let entry, let headers, cache.selection(of: entry, headers) == nil else { return entry }
        return nil
    }

    /// Searches memory; returns `nil` if memory is not to be searched.
    private func held() -> MemorySearch.Held? {
        wantsImage && levels.contains(.memory) ? search.held() : nil
    }

    private func found(undecoded image: Image) -> CacheHit? {
        guard let bytes = image.bytes else { return nil }
        let found = found(bytes, origin: .memory)
        found.selection = image.keptFor
        return found
    }

    /// - Parameter isMade: the entry is the wanted image, not its original.
    private func found(_ entry: StoredEntry?, _ ready: Image?, isMade: Bool = false) -> CacheHit? {
        guard let entry else { return ready.map { CacheHit(image: $0, origin: .memory) } }
        let found = found(entry.body, origin: ready == nil ? .disk : .memory)
        found.image = ready
        found.isOfOriginal = hasOriginal && !isMade
        found.extended = entry.extended
        let selection = cache.selection(of: entry, headers)
        found.selection = selection?.bytes
        // A query of any entry may find one that no request gets.
        if selection == nil { found.keeper = nil }
        // Otherwise it needs no flag: decoding a resized image to that size again leaves it as it is.
        found.isMade = isMade && (form.transforms != nil || form.colour == .sRGB)
        return found
    }

    private func found(_ body: Bytes, origin: DownloadResult.Origin) -> CacheHit {
        let found = CacheHit(body: body, origin: origin)
        if wantsImage, keepsInMemory, let wanted { found.keeper = PictureKeeper(cache: cache, key: wanted) }
        return found
    }
}

extension ImageCache {
    /// The request fields that an entry was selected by, in the form that images keep; no bytes means it serves all
    /// requests.
    struct Selection {
        let bytes: Bytes?
    }

    /// Reads the selection of an entry.
    /// - Parameter headers: nil: the fields are not compared.
    /// - Returns: nil if the entry may not answer a request with these fields.
    func selection(of entry: StoredEntry, _ headers: HTTPFields?) -> Selection? {
        if entry.metadata.http.isEmpty { return Selection(bytes: nil) }
        guard let stored = unsafe entry.metadata.http.withUnsafeBytes({ unsafe StoredSelection(decoding: $0) }),
            headers.map({ stored.selects($0, secret) }) ?? true
        else { return nil }
        return Selection(bytes: stored.fields.isEmpty ? nil : Bytes(stored.encoded()))
    }
}

extension StoredEntry {
    var extended: Bytes? {
        if metadata.user.isEmpty { return nil }
        return unsafe metadata.user.withUnsafeBytes { unsafe Bytes(copying: $0) }
    }
}

/// A request stage that stores an item in a cache. Never equal to another. Thread-safe.
package final class StoreLookup: CacheLookup {
    private let cache: ImageCache
    private let item: CacheItem

    package init(_ cache: ImageCache, _ item: CacheItem) {
        self.cache = cache
        self.item = item
    }

    package var hashKey: UInt64 { 0 }
    package func isSame(as other: any CacheLookup) -> Bool { self === other }

    package func start(_ context: LookupContext, answer: @escaping @Sendable (LookupResult) -> Void) {
        cache.store(item) { error in answer(error.map { .failed($0) } ?? .done) }
    }
}

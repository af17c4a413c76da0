package import SDDBase
import SDDCaches
package import SDDCoders

/// Looks for a picture in a cache: in memory, on disk as it is wanted, on disk as its original. Immutable; any thread.
package final class PictureInquiry: Inquiry {
    private let cache: ImageCache
    /// Of the original, and of what is wanted of it; nil for pixels that have no key.
    private let original: String
    private let wanted: String?
    private let form: PixelForm
    private let levels: CacheLevels
    /// Where the original is looked for, if it is not what is wanted.
    private let originals: Originals
    private let wantsImage: Bool
    private let wantsBytes: Bool
    private let keepsInMemory: Bool
    /// Of the request for which it is; nil: whatever there is will do.
    private let headers: HTTPFields?

    package struct Originals: Sendable {
        let cache: ImageCache
        let levels: CacheLevels

        package init(_ cache: ImageCache, _ levels: CacheLevels) {
            self.cache = cache
            self.levels = levels
        }
    }

    /// - Parameters:
    ///   - originals: nil: on the same levels, but not in memory.
    ///   - keepsInMemory: what is decoded of an entry; nil: if that was looked for in memory.
    ///   - headers: of the request for which it is; nil: whatever there is will do.
    package init(
        _ cache: ImageCache, key: String, form: PixelForm, levels: CacheLevels, originals: Originals? = nil,
        wantsImage: Bool, wantsBytes: Bool, keepsInMemory: Bool? = nil, headers: HTTPFields? = nil
    ) {
        self.headers = headers
        self.cache = cache
        self.originals = originals ?? Originals(cache, levels.intersection(.disk))
        self.keepsInMemory = keepsInMemory ?? levels.contains(.memory)
        original = key
        wanted = wantsImage ? CacheKeys.key(of: key, as: form) : key
        self.form = form
        self.levels = levels
        self.wantsImage = wantsImage
        self.wantsBytes = wantsBytes
    }

    package var number: UInt64 { UInt64(truncatingIfNeeded: original.hashValue) }

    package func isSame(as other: any Inquiry) -> Bool {
        guard let other = other as? PictureInquiry else { return false }
        return cache === other.cache && original == other.original && wanted == other.wanted && levels == other.levels
            && originals.cache === other.originals.cache && originals.levels == other.originals.levels
            && wantsImage == other.wantsImage && wantsBytes == other.wantsBytes
            && keepsInMemory == other.keepsInMemory && form == other.form && headers == other.headers
    }

    package var originalKey: String { original }

    /// An original on disk would do.
    var takesOriginals: Bool { (hasOriginal ? originals.levels : levels).contains(.disk) }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        let (ready, undecoded) = held
        if let ready, !wantsBytes { return answer(.found(Found(image: ready, origin: .memory))) }
        if let undecoded, let found = found(undecoded: undecoded) { return answer(.found(found)) }
        guard let key = wanted ?? (hasOriginal ? nil : original), let disk = ownDisk else {
            return askForOriginal(ready, answer: answer)
        }
        disk.read(key) { [self] entry in
            let entry = mine(entry)
            if entry == nil, hasOriginal { return askForOriginal(ready, answer: answer) }
            answer(finding(entry, ready, isMade: hasOriginal))
        }
    }

    /// What is wanted is made of the original, or is for one caller.
    private var hasOriginal: Bool { wanted != original }

    private var ownDisk: DiskCache? { levels.contains(.disk) && cache.isOpen ? cache.disk : nil }

    private var originalDisk: DiskCache? {
        hasOriginal && originals.levels.contains(.disk) && originals.cache.isOpen ? originals.cache.disk : nil
    }

    private func askForOriginal(_ ready: Image?, answer: @escaping @Sendable (Finding) -> Void) {
        if ready == nil, let found = foundInMemory() { return answer(.found(found)) }
        guard let disk = originalDisk else { return answer(finding(nil, ready)) }
        disk.read(original) { [self] entry in answer(finding(mine(entry), ready)) }
    }

    /// The original, whose bytes are as good as the disk's.
    private func foundInMemory() -> Found? {
        guard hasOriginal, originals.levels.contains(.memory),
            let image = originals.cache.image(for: original, askedWith: headers),
            let bytes = image.bytes
        else { return nil }
        var found = found(bytes, origin: .memory)
        found.selection = image.keptFor
        found.isOfOriginal = true
        return found
    }

    /// An entry that may answer this request: not one that was chosen by other request fields.
    private func mine(_ entry: StoredEntry?) -> StoredEntry? {
        guard let entry, let headers, cache.selection(of: entry, headers) == nil else { return entry }
        return nil
    }

    /// What memory has of just what is wanted, and nothing else is. Never waits.
    func memoryFound() -> Found? {
        guard !wantsBytes, let ready = held.ready else { return nil }
        return Found(image: ready, origin: .memory)
    }

    /// The same on the calling thread, which waits for the disk.
    package func askNow() -> Found? {
        let (ready, undecoded) = held
        if let ready, !wantsBytes { return Found(image: ready, origin: .memory) }
        if let undecoded { return found(undecoded: undecoded) }
        let key = wanted ?? (hasOriginal ? nil : original)
        if let key, let entry = mine(ownDisk?.read(key)) { return found(entry, ready, isMade: hasOriginal) }
        if ready == nil, let found = foundInMemory() { return found }
        return found(mine(originalDisk?.read(original)), ready)
    }

    /// What memory has under the key that is wanted: the picture in the very form, or the one to make it of, where that is
    /// the original in another form, or without its pixels.
    private var held: (ready: Image?, undecoded: Image?) {
        guard wantsImage, levels.contains(.memory), let wanted else { return (nil, nil) }
        let image = cache.image(for: wanted, askedWith: headers)
        if let image, serves(form, image) { return (image, nil) }
        if form.frames == .firstOnly, let stillImage { return (stillImage, nil) }
        return (nil, hasOriginal || image?.bytes == nil ? nil : image)
    }

    private func found(undecoded image: Image) -> Found? {
        guard let bytes = image.bytes else { return nil }
        var found = found(bytes, origin: .memory)
        found.selection = image.keptFor
        return found
    }

    private func serves(_ form: PixelForm, _ image: Image) -> Bool {
        form.isServed(by: image.form) || (image.ready != nil && form.isServedReady(by: image.form))
    }

    /// Who wants the first frame alone has it in a picture that memory has with all of them, or that has no others. What
    /// would be transformed if it were alone is not what the frames are.
    private var stillImage: Image? {
        var moving = form
        moving.frames = .access
        guard let key = CacheKeys.key(of: original, as: moving),
            let image = cache.image(for: key, askedWith: headers), serves(moving, image)
        else { return nil }
        if image.animation == nil { return image }
        return form.transforms == nil ? image.still(form) : nil
    }

    /// - Parameter isMade: the entry is that of the wanted picture, not of its original.
    private func finding(_ entry: StoredEntry?, _ ready: Image?, isMade: Bool = false) -> Finding {
        found(entry, ready, isMade: isMade).map { .found($0) } ?? .failed(.notCached)
    }

    private func found(_ entry: StoredEntry?, _ ready: Image?, isMade: Bool = false) -> Found? {
        guard let entry else { return ready.map { Found(image: $0, origin: .memory) } }
        var found = found(entry.body, origin: ready == nil ? .disk : .memory)
        found.image = ready
        found.isOfOriginal = hasOriginal && !isMade
        found.extended = entry.extended
        found.selection = headers.flatMap { cache.selection(of: entry, $0)?.bytes }
        // Made to a size only, a picture that is decoded to that size once more stays as it is.
        found.isMade = isMade && form.transforms != nil
        return found
    }

    private func found(_ body: Bytes, origin: DownloadResult.Origin) -> Found {
        var found = Found(body: body, origin: origin)
        if wantsImage, keepsInMemory, let wanted { found.keeper = PictureKeeper(cache: cache, key: wanted) }
        return found
    }
}

extension ImageCache {
    /// For which request fields an entry is, in a form that pictures keep; no bytes: for all.
    struct Selection {
        let bytes: Bytes?
    }

    /// - Returns: nil if the entry is not for a request with these fields.
    func selection(of entry: StoredEntry, _ headers: HTTPFields) -> Selection? {
        if entry.metadata.http.isEmpty { return Selection(bytes: nil) }
        guard let stored = unsafe entry.metadata.http.withUnsafeBytes({ unsafe StoredSelection(decoding: $0) }),
            stored.selects(headers, secret)
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

/// Stores something in a cache. Never the same as another. Any thread.
package final class StoreInquiry: Inquiry {
    private let cache: ImageCache
    private let item: CacheItem

    package init(_ cache: ImageCache, _ item: CacheItem) {
        self.cache = cache
        self.item = item
    }

    package var number: UInt64 { 0 }
    package func isSame(as other: any Inquiry) -> Bool { self === other }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        cache.store(item) { error in answer(error.map { .failed($0) } ?? .done) }
    }
}

import SDDBase
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
    package init(
        _ cache: ImageCache, key: String, form: PixelForm, levels: CacheLevels, originals: Originals? = nil,
        wantsImage: Bool, wantsBytes: Bool, keepsInMemory: Bool? = nil
    ) {
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
            && keepsInMemory == other.keepsInMemory && form == other.form
    }

    package var originalKey: String { original }

    /// An original on disk would do.
    var takesOriginals: Bool { (hasOriginal ? originals.levels : levels).contains(.disk) }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        let ready = readyImage
        if let ready, !wantsBytes { return answer(.found(Found(image: ready, origin: .memory))) }
        guard let key = wanted ?? (hasOriginal ? nil : original), let disk = ownDisk else {
            return askForOriginal(ready, answer: answer)
        }
        disk.read(key) { [self] entry in
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
        disk.read(original) { [self] entry in answer(finding(entry, ready)) }
    }

    /// The original, whose bytes are as good as the disk's.
    private func foundInMemory() -> Found? {
        guard hasOriginal, originals.levels.contains(.memory), let image = originals.cache.image(for: original),
            let bytes = image.bytes
        else { return nil }
        return found(bytes, origin: .memory)
    }

    /// What memory has of just what is wanted, and nothing else is. Never waits.
    func memoryFound() -> Found? {
        guard !wantsBytes, let readyImage else { return nil }
        return Found(image: readyImage, origin: .memory)
    }

    /// The same on the calling thread, which waits for the disk.
    package func askNow() -> Found? {
        let ready = readyImage
        if let ready, !wantsBytes { return Found(image: ready, origin: .memory) }
        let key = wanted ?? (hasOriginal ? nil : original)
        if let key, let entry = ownDisk?.read(key) { return found(entry, ready, isMade: hasOriginal) }
        if ready == nil, let found = foundInMemory() { return found }
        return found(originalDisk?.read(original), ready)
    }

    /// Of the very form that is wanted.
    private var readyImage: Image? {
        guard wantsImage, levels.contains(.memory), let wanted, let image = cache.image(for: wanted) else { return nil }
        return form.isServed(by: image.form) ? image : nil
    }

    /// - Parameter isMade: the entry is that of the wanted picture, not of its original.
    private func finding(_ entry: StoredEntry?, _ ready: Image?, isMade: Bool = false) -> Finding {
        found(entry, ready, isMade: isMade).map { .found($0) } ?? .failed(.notCached)
    }

    private func found(_ entry: StoredEntry?, _ ready: Image?, isMade: Bool = false) -> Found? {
        guard let entry else { return ready.map { Found(image: $0, origin: .memory) } }
        var found = found(entry.body, origin: ready == nil ? .disk : .memory)
        found.image = ready
        found.extended = entry.extended
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

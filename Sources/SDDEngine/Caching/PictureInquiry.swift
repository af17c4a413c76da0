package import SDDBase
package import SDDCaches
package import SDDCoders

/// Looks for a picture in a cache: in memory, on disk as it is wanted, on disk as its original. Immutable; any thread.
package final class PictureInquiry: Inquiry {
    private let cache: ImageCache
    /// Of the original, and of what is wanted of it; nil for pixels that have no key.
    private let original: String
    private let wanted: String?
    private let form: PixelForm
    private let levels: CacheLevels
    private let wantsImage: Bool
    private let wantsBytes: Bool

    package init(
        _ cache: ImageCache, key: String, form: PixelForm, levels: CacheLevels, wantsImage: Bool, wantsBytes: Bool
    ) {
        self.cache = cache
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
            && wantsImage == other.wantsImage && wantsBytes == other.wantsBytes && form == other.form
    }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        let ready = readyImage
        if let ready, !wantsBytes { return answer(.found(Found(image: ready, origin: .memory))) }
        guard levels.contains(.disk), cache.isOpen, let disk = cache.disk else { return answer(finding(nil, ready)) }
        guard let wanted, wanted != original else {
            return disk.read(original) { [self] entry in answer(finding(entry, ready)) }
        }
        disk.read(wanted) { [self] entry in
            if let entry { return answer(finding(entry, ready, isMade: true)) }
            disk.read(original) { [self] entry in answer(finding(entry, ready)) }
        }
    }

    /// The same on the calling thread, which waits for the disk.
    package func askNow() -> Found? {
        let ready = readyImage
        if let ready, !wantsBytes { return Found(image: ready, origin: .memory) }
        guard levels.contains(.disk), cache.isOpen, let disk = cache.disk else { return found(nil, ready) }
        if let wanted, wanted != original, let entry = disk.read(wanted) {
            return found(entry, ready, isMade: true)
        }
        return found(disk.read(original), ready)
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
        var found = Found(body: entry.body, image: ready, origin: ready == nil ? .disk : .memory)
        found.extended = entry.extended
        // Made to a size only, a picture that is decoded to that size once more stays as it is.
        found.isMade = isMade && form.transforms != nil
        if ready == nil, wantsImage, levels.contains(.memory), let wanted {
            found.keeper = PictureKeeper(cache: cache, key: wanted)
        }
        return found
    }
}

extension StoredEntry {
    var extended: Bytes? {
        if metadata.user.isEmpty { return nil }
        return metadata.user.withUnsafeBytes { unsafe Bytes(copying: $0) }
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

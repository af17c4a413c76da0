package import SDDBase
package import SDDCaches
package import SDDCoders
package import SDDTransport

/// A cache of pictures: ready in memory, encoded on disk; and the disk of the HTTP cache. Any thread.
package final class ImageCache: Sendable {
    /// What makes keys of URLs, beside the URL itself: given by the host.
    package typealias KeyMaker = @Sendable (String) -> String
    /// What goes to disk of what is stored; nil for nothing.
    package typealias Serializer = @Sendable (Image?, Bytes?, String) -> Bytes?

    package let memory: MemoryCache?
    /// The application's own memory level, in place of `memory`.
    package let images: (any ImageStore)?
    package let disk: DiskCache?
    package let counters: CacheCounters
    private let keyMaker: KeyMaker?
    let serializer: Serializer?
    /// Microseconds; nil: nobody waits for another process.
    let shareWait: Int64?
    /// The longest that `close` takes, in milliseconds; nil: as long as it takes.
    private let closeLimit: Int64?
    let time: any TimeSource
    /// What is the host's, and is let go with the cache.
    private let kept: (any AnyObject & Sendable)?
    private let isClosed = Monitor(false)
    /// What loads are storing, or have stored a moment ago, by its keys.
    let storing = Monitor<[String: Storing]>([:])
    private let pressure = Monitor<PressureWatch?>(nil)
    /// Most requests are of the same caller.
    private let lastMark = Monitor<(caller: Caller, mark: String)?>(nil)

    package init(
        memory: MemoryCache?, images: (any ImageStore)? = nil, disk: DiskCache?, counters: CacheCounters,
        keyMaker: KeyMaker? = nil,
        serializer: Serializer? = nil, shareWait: Int64? = nil, closeLimit: Int64? = nil,
        time: any TimeSource = SystemTime(),
        keeping kept: (any AnyObject & Sendable)? = nil
    ) {
        self.memory = memory
        self.images = images
        self.disk = disk
        self.counters = counters
        self.keyMaker = keyMaker
        self.serializer = serializer
        self.shareWait = shareWait
        self.closeLimit = closeLimit
        self.time = time
        self.kept = kept
    }

    package func key(of url: ImageURL) -> String {
        let key = CacheKeys.key(of: url)
        return keyMaker?(key) ?? key
    }

    /// The same of a text that is perhaps none: then as it is.
    package func key(ofURL text: String) -> String {
        let url = unsafe try? Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(ImageURL.Flaw) in
            if unsafe ImageURL.isData(bytes) { return unsafe try ImageURL(data: bytes, limit: bytes.count) }
            return unsafe try ImageURL(checking: bytes, allowsFiles: true)
        }
        guard let url else { return text }
        return key(of: url)
    }

    /// What marks are made with, that stand in files in place of secrets.
    var secret: SecretKey { disk?.store.secret ?? .process }

    /// What every mark of a caller begins with.
    static let callerMark = "\ncaller:"

    /// Behind the keys of what one caller got, and that is not for another; "" for nobody in particular.
    package func mark(of caller: Caller) -> String {
        if caller.isNobody { return "" }
        if let last = lastMark.withLock({ $0 }), last.caller == caller { return last.mark }
        let mark = Self.callerMark + secret.mark(of: "caller\n" + caller.text)
        lastMark.withLock { $0 = (caller, mark) }
        return mark
    }

    /// Whether what was kept for these request fields is for a request with those.
    func selects(_ selection: UnsafeRawBufferPointer, _ headers: HTTPFields) -> Bool {
        unsafe StoredSelection(decoding: selection)?.selects(headers, secret) ?? false
    }

    /// For which request fields a picture is that was brought by a request with these; nil: for all.
    func selection(varyOf response: Response, _ headers: HTTPFields) -> StoredSelection? {
        let selection = StoredSelection(varyOf: response.fields, headers, secret)
        return selection.fields.isEmpty ? nil : selection
    }

    /// Seconds since 1970.
    var now: Int64 { time.wallMicroseconds() / 1_000_000 }

    /// Writes what is stored, as far as there is time, and ends the threads. From now on there is nothing in it. Waits; once.
    package func close() {
        isClosed.withLock { $0 = true }
        let watch = pressure.withLock { watch in
            defer { watch = nil }
            return watch
        }
        // Its thread ends with it.
        withExtendedLifetime(watch) {}
        disk?.stop(milliseconds: closeLimit ?? -1)
        memory?.removeAll()
    }

    /// The process is about to end.
    package func writeForExit(milliseconds: Int64) {
        guard let disk else { return }
        let end = time.monotonicMicroseconds() + milliseconds * 1000
        guard disk.flush(milliseconds: milliseconds) else { return }
        disk.store.flushUses { time.monotonicMicroseconds() >= end }
    }

    /// Waiting for the disk here would be waiting for itself.
    package var isOwnThread: Bool { disk?.isOwnThread ?? false }

    var isOpen: Bool { !isClosed.withLock { $0 } }

    /// Trims memory when the kernel tells of pressure; on a system that does not, nothing happens.
    package func watchPressure() {
        let (memory, images) = (memory, images)
        guard memory != nil || images != nil else { return }
        let watch = try? PressureWatch { pressure in
            memory?.trim(pressure)
            images?.trim(pressure)
        }
        pressure.withLock { $0 = watch }
    }
}

// MARK: - Memory

extension ImageCache {
    /// Allocates nothing, unless the application keeps the images.
    package func image(for key: UnsafeRawBufferPointer) -> Image? {
        if let images {
            let image = isOpen ? unsafe images.image(for: String(decoding: key, as: UTF8.self)) : nil
            counters.add(image == nil ? .memoryMisses : .memoryHits, 1)
            return image
        }
        // Safety: nothing but images is ever stored here.
        return unsafe memory?.object(for: key).map { unsafe unsafeDowncast($0, to: Image.self) }
    }

    package func image(for key: String) -> Image? {
        unsafe key.withRawUTF8 { unsafe image(for: $0) }
    }

    /// The same for a request with these header fields: not one that was chosen by others (RFC 9111 §4.1).
    /// - Parameter headers: nil: whichever is there.
    func image(for key: String, askedWith headers: HTTPFields?) -> Image? {
        guard let image = image(for: key) else { return nil }
        guard let headers, let selection = image.keptFor else { return image }
        return unsafe selects(selection.pointer, headers) ? image : nil
    }

    func remember(_ image: Image, for key: String) {
        guard isOpen, !image.isPreview, !image.isPartial else { return }
        let cost = image.memoryCost
        if let images { return images.store(image, cost: cost, for: key) }
        guard let memory else { return }
        unsafe key.withRawUTF8 { unsafe memory.set(image, cost: cost, for: $0) }
        let watch = MemoryPlace(memory, key)
        image.addWatch(watch)
        // Between the two it may have grown.
        if image.memoryCost != cost { watch.memoryChanged(of: image) }
    }

    func forget(_ key: String) {
        images?.remove(key)
        unsafe key.withRawUTF8 { unsafe _ = memory?.remove($0) }
    }
}

// MARK: - Both levels

extension ImageCache {
    /// Waits for the disk, but for the one change that is under way only, and not on the disk's own threads.
    @discardableResult
    package func remove(_ key: String, _ levels: CacheLevels) -> CacheError? {
        if levels.contains(.memory) { forget(key) }
        guard levels.contains(.disk), isOpen, let disk else { return nil }
        return disk.waitForChange { disk.remove(key, then: $0) }
    }

    /// Waits for the disk, but for its own threads.
    @discardableResult
    package func clear(_ levels: CacheLevels) -> CacheError? {
        if levels.contains(.memory) {
            memory?.removeAll()
            images?.removeAll()
        }
        guard levels.contains(.disk), isOpen, let disk else { return nil }
        return disk.waitForChange { disk.clear(then: $0) }
    }

    /// Waits for the disk.
    package func contains(_ key: String, _ levels: CacheLevels) -> CacheLevels {
        var found: CacheLevels = []
        if levels.contains(.memory), isInMemory(key) { found.insert(.memory) }
        if levels.contains(.disk), isOpen, disk?.contains(key) == true { found.insert(.disk) }
        return found
    }
}

extension ImageCache {
    /// Moves the entries of another cache's directory to the disk level. Keys with the mark of a caller were made with that
    /// directory's secret, so that nothing could find them here.
    /// - Returns: `nil` without a disk level.
    package func merge(_ directory: String) -> DiskCache.Merged? {
        disk?.merge(directory) { !$0.contains(Self.callerMark) }
    }

    private func isInMemory(_ key: String) -> Bool {
        if let images { return images.image(for: key) != nil }
        return unsafe key.withRawUTF8 { unsafe memory?.contains($0) ?? false }
    }

    package func trimMemory(_ pressure: MemoryPressure) {
        memory?.trim(pressure)
        images?.trim(pressure)
    }
}

/// SDD_CACHE_ of the header.
package struct CacheLevels: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let memory = CacheLevels(rawValue: 1)
    package static let disk = CacheLevels(rawValue: 2)
    package static let all: CacheLevels = [.memory, .disk]
}

/// Where an image is in memory: what it takes there is counted anew when it has grown. Any thread.
final class MemoryPlace: MemoryWatching {
    private weak let memory: MemoryCache?
    private let key: String

    init(_ memory: MemoryCache, _ key: String) {
        self.memory = memory
        self.key = key
    }

    func memoryChanged(of image: Image) {
        unsafe key.withRawUTF8 { unsafe memory?.costChanged(of: image, for: $0) { image.memoryCost } }
    }

    func isSame(as other: any MemoryWatching) -> Bool {
        guard let other = other as? MemoryPlace else { return false }
        return other.memory === memory && other.key == key
    }
}

extension String {
    func withRawUTF8<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text = self
        return text.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
    }
}

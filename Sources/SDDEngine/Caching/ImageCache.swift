package import SDDBase
package import SDDCaches
package import SDDCoders

/// A cache of pictures: ready in memory, encoded on disk; and the disk of the HTTP cache. Any thread.
package final class ImageCache: Sendable {
    /// What makes keys of URLs, beside the URL itself: given by the host.
    package typealias KeyMaker = @Sendable (String) -> String
    /// What goes to disk of what is stored; nil for nothing.
    package typealias Serializer = @Sendable (Image?, Bytes?, String) -> Bytes?

    package let memory: MemoryCache?
    package let disk: DiskCache?
    package let counters: CacheCounters
    private let keyMaker: KeyMaker?
    let serializer: Serializer?
    /// Microseconds; nil: nobody waits for another process.
    let shareWait: Int64?
    let time: any TimeSource
    /// What is the host's, and is let go with the cache.
    private let kept: (any AnyObject & Sendable)?
    private let isClosed = Monitor(false)
    /// What loads are storing, or have stored a moment ago, by its keys.
    let storing = Monitor<[String: Storing]>([:])
    private let pressure = Monitor<PressureWatch?>(nil)

    package init(
        memory: MemoryCache?, disk: DiskCache?, counters: CacheCounters, keyMaker: KeyMaker? = nil,
        serializer: Serializer? = nil, shareWait: Int64? = nil, time: any TimeSource = SystemTime(),
        keeping kept: (any AnyObject & Sendable)? = nil
    ) {
        self.memory = memory
        self.disk = disk
        self.counters = counters
        self.keyMaker = keyMaker
        self.serializer = serializer
        self.shareWait = shareWait
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

    /// Seconds since 1970.
    var now: Int64 { time.wallMicroseconds() / 1_000_000 }

    /// Writes what is stored, and ends the threads. From now on there is nothing in it. Waits; once.
    package func close() {
        isClosed.withLock { $0 = true }
        let watch = pressure.withLock { watch in
            defer { watch = nil }
            return watch
        }
        // Its thread ends with it.
        withExtendedLifetime(watch) {}
        disk?.stop()
        memory?.removeAll()
    }

    /// The process is about to end.
    package func writeForExit(milliseconds: Int64) {
        guard let disk else { return }
        _ = disk.flush(milliseconds: milliseconds)
        disk.store.flushUses()
    }

    /// Waiting for the disk here would be waiting for itself.
    package var isOwnThread: Bool { disk?.isOwnThread ?? false }

    var isOpen: Bool { !isClosed.withLock { $0 } }

    /// Trims memory when the kernel tells of pressure; on a system that does not, nothing happens.
    package func watchPressure() {
        guard let memory, let watch = try? PressureWatch(handler: { memory.trim($0) }) else { return }
        pressure.withLock { $0 = watch }
    }
}

// MARK: - Memory

extension ImageCache {
    /// Allocates nothing.
    package func image(for key: UnsafeRawBufferPointer) -> Image? {
        // Safety: nothing but images is ever stored here.
        unsafe memory?.object(for: key).map { unsafe unsafeDowncast($0, to: Image.self) }
    }

    package func image(for key: String) -> Image? {
        unsafe key.withRawUTF8 { unsafe image(for: $0) }
    }

    func remember(_ image: Image, for key: String) {
        guard let memory, isOpen, !image.isPreview, !image.isPartial else { return }
        unsafe key.withRawUTF8 { unsafe memory.set(image, cost: image.memoryCost, for: $0) }
    }

    func forget(_ key: String) {
        unsafe key.withRawUTF8 { unsafe _ = memory?.remove($0) }
    }
}

// MARK: - Both levels

extension ImageCache {
    package func remove(_ key: String, _ levels: CacheLevels) {
        if levels.contains(.memory) { forget(key) }
        if levels.contains(.disk), isOpen { disk?.remove(key) }
    }

    package func clear(_ levels: CacheLevels) {
        if levels.contains(.memory) { memory?.removeAll() }
        if levels.contains(.disk), isOpen { disk?.clear() }
    }

    /// Waits for the disk.
    package func contains(_ key: String, _ levels: CacheLevels) -> CacheLevels {
        var found: CacheLevels = []
        let isInMemory = unsafe key.withRawUTF8 { unsafe memory?.contains($0) ?? false }
        if levels.contains(.memory), isInMemory { found.insert(.memory) }
        if levels.contains(.disk), isOpen, disk?.contains(key) == true { found.insert(.disk) }
        return found
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

extension Image {
    /// Bytes of all its pixels, also of those that are not decoded yet: row I13.
    var memoryCost: Int {
        let pixels = ready?.byteCount ?? width.multipliedSaturated(by: height).multipliedSaturated(by: 4)
        return pixels.multipliedSaturated(by: max(1, animation?.readyFrameCount ?? 1))
    }
}

extension String {
    func withRawUTF8<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text = self
        return text.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
    }
}

extension Int {
    fileprivate func multipliedSaturated(by other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

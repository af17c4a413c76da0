package import SDDBase
package import SDDCaches
package import SDDCoders
package import SDDTransport
import Synchronization

/// A cache of images: decoded in memory, encoded on disk. Its disk level also serves the HTTP cache. Thread-safe.
package final class ImageCache: Sendable {
    /// An application function that turns a URL's key into the cache key.
    package typealias KeyMaker = @Sendable (String) -> String
    /// An application function that returns the bytes to write to disk; `nil` to write nothing.
    package typealias Serializer = @Sendable (Image?, Bytes?, String) -> Bytes?

    package let memory: MemoryCache?
    /// The application's own memory level, in place of `memory`.
    package let images: (any ImageStore)?
    package let disk: DiskCache?
    package let counters: CacheCounters
    private let keyMaker: KeyMaker?
    let serializer: Serializer?
    /// Microseconds to wait for a download of another process; `nil` means do not wait.
    let shareWait: Int64?
    /// The longest time that `close` may take, in milliseconds; `nil` means no limit.
    private let closeLimit: Int64?
    let time: any TimeSource
    /// An object of the application's, released with the cache.
    private let kept: (any AnyObject & Sendable)?
    private let isClosed = Monitor(false)
    /// The number of images stored in memory so far.
    private let stored = Atomic(0)
    /// Stores of loads that are under way or were done recently, by key.
    let storing = Monitor<[ExactText<String>: Storing]>([:])
    private let pressure = Monitor<PressureWatch?>(nil)
    private let users: CacheUsers
    /// Whether there was ever another user beside the first one.
    private let severalUsers = Atomic(false)
    /// The last caller and its mark, kept because most requests have the same caller.
    private let lastMark = Monitor<(caller: RequestIdentity, mark: String)?>(nil)

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
        users = CacheUsers(directory: disk?.store.directoryPath)
        counters.setTeller { [users] in users.tell($0, count: $1) }
    }

    package func key(of url: ImageURL) -> String {
        let key = CacheKeys.key(of: url)
        return keyMaker?(key) ?? key
    }

    /// Returns the key of a URL text, or the text itself if it is not a valid URL.
    package func key(ofURL text: String) -> String {
        let url = unsafe try? Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(ImageURL.Flaw) in
            if unsafe ImageURL.isData(bytes) { return unsafe try ImageURL(data: bytes, limit: bytes.count) }
            return unsafe try ImageURL(checkingAnyHost: bytes, allowsFiles: true)
        }
        guard let url else { return text }
        return key(of: url)
    }

    /// The key for the marks that files hold in place of secrets.
    var secret: SecretKey { disk?.store.secret ?? .process }

    /// The start of every mark of a caller.
    static let callerMark = "\ncaller:"

    /// Returns the suffix for keys of entries that only this caller may get; "" for an anonymous caller.
    package func mark(of caller: RequestIdentity) -> String {
        if caller.isAnonymous { return "" }
        if let last = lastMark.withLock({ $0 }), last.caller == caller { return last.mark }
        let mark = Self.callerMark + secret.mark(of: "caller\n" + caller.text)
        lastMark.withLock { $0 = (caller, mark) }
        return mark
    }

    /// Whether an entry stored with this selection may answer a request with these header fields.
    func selects(_ selection: UnsafeRawBufferPointer, _ headers: HTTPFields) -> Bool {
        unsafe StoredSelection(decoding: selection)?.selects(headers, secret) ?? false
    }

    /// Returns the request fields that an image was selected by, if a request with these fields brought it; `nil` if
    /// the image serves all requests.
    func selection(varyOf response: Response, _ headers: HTTPFields) -> StoredSelection? {
        let selection = StoredSelection(varyOf: response.storableFields, headers, secret)
        return selection.fields.isEmpty ? nil : selection
    }

    /// Seconds since 1970.
    var now: Int64 { time.wallMicroseconds() / 1_000_000 }

    /// Writes staged entries as far as the time limit allows, and ends the threads. The cache is empty from then on.
    /// Waits; called once.
    package func close() {
        isClosed.withLock { $0 = true }
        let watch = pressure.withLock { watch in
            defer { watch = nil }
            return watch
        }
        // Releasing the watch ends its thread.
        withExtendedLifetime(watch) {}
        disk?.stop(milliseconds: closeLimit ?? -1)
        memory?.removeAll()
    }

    /// Writes staged entries and times of use, within the time limit, before the process exits.
    package func writeForExit(milliseconds: Int64) {
        guard let disk else { return }
        let end = time.monotonicMicroseconds() + milliseconds * 1000
        guard disk.flush(milliseconds: milliseconds) else { return }
        disk.store.flushUses { time.monotonicMicroseconds() >= end }
    }

    /// Notes who downloads for this cache: of several downloaders, none knows what the others are downloading.
    package func used(by downloader: any CacheUser) {
        if users.add(downloader) > 1 { severalUsers.store(true, ordering: .relaxed) }
    }

    /// Whether several downloaders of this process use the cache.
    var hasOtherUsers: Bool { severalUsers.load(ordering: .relaxed) }

    /// Whether this is one of the disk cache's own threads, on which waiting for the disk would deadlock.
    package var isOwnThread: Bool { disk?.isOwnThread ?? false }

    var isOpen: Bool { !isClosed.withLock { $0 } }

    /// Trims memory when the kernel reports memory pressure. Does nothing on a system that does not report it.
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
    /// Returns an image from memory. Allocates nothing, unless the application keeps the images.
    package func image(for key: UnsafeRawBufferPointer) -> Image? {
        // One that was decoded since it was stored may have turned out to be incomplete.
        guard let image = unsafe storedImage(for: key), !image.isPartial else { return nil }
        return image
    }

    private func storedImage(for key: UnsafeRawBufferPointer) -> Image? {
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

    /// Returns the image for a request with these header fields, but not one selected by other fields (RFC 9111 §4.1).
    /// - Parameter headers: nil: any image will do.
    func image(for key: String, askedWith headers: HTTPFields?) -> Image? {
        guard let image = image(for: key) else { return nil }
        guard let headers, let selection = image.keptFor else { return image }
        return unsafe selects(selection.pointer, headers) ? image : nil
    }

    /// A number that changes whenever an image is stored in memory.
    var memoryVersion: Int { stored.load(ordering: .acquiring) }

    func storeInMemory(_ image: Image, for key: String) {
        guard isOpen, !image.isPreview, !image.isPartial else { return }
        defer { stored.wrappingAdd(1, ordering: .releasing) }
        let cost = image.memoryCost
        if let images {
            // An application that keeps copies would lose what they were selected by.
            return image.keptFor == nil ? images.store(image, cost: cost, for: key) : images.remove(key)
        }
        guard let memory else { return }
        unsafe key.withRawUTF8 { unsafe memory.set(image, cost: cost, for: $0) }
        let watch = MemoryPlace(memory, key)
        image.addWatch(watch)
        // The image may have grown before the watch was added.
        if image.memoryCost != cost { watch.memoryChanged(of: image) }
    }

    func removeFromMemory(_ key: String) {
        images?.remove(key)
        unsafe key.withRawUTF8 { unsafe _ = memory?.remove($0) }
    }
}

// MARK: - Both levels

extension ImageCache {
    /// Removes an entry. Waits for the disk, at most for the one change that is under way; does not wait on the disk
    /// cache's own threads.
    @discardableResult
    package func remove(_ key: String, _ levels: CacheLevels) -> CacheError? {
        if levels.contains(.memory) { removeFromMemory(key) }
        guard levels.contains(.disk), isOpen, let disk else { return nil }
        return disk.waitForChange { disk.remove(key, then: $0) }
    }

    /// Removes all entries. Waits for the disk, except on the disk cache's own threads.
    @discardableResult
    package func clear(_ levels: CacheLevels) -> CacheError? {
        if levels.contains(.memory) {
            memory?.removeAll()
            images?.removeAll()
        }
        guard levels.contains(.disk), isOpen, let disk else { return nil }
        return disk.waitForChange { disk.clear(then: $0) }
    }

    /// Returns the levels that have an entry. Waits for the disk.
    package func contains(_ key: String, _ levels: CacheLevels) -> CacheLevels {
        var found: CacheLevels = []
        if levels.contains(.memory), isInMemory(key) { found.insert(.memory) }
        if levels.contains(.disk), isOpen, disk?.contains(key) == true { found.insert(.disk) }
        return found
    }
}

extension ImageCache {
    /// Moves the entries of another cache's directory to the disk level. Keys with the mark of a caller were made with
    /// that directory's secret, so that nothing could find them here.
    /// - Returns: `nil` without a disk level.
    package func merge(_ directory: String) -> DiskCache.Merged? {
        disk?.merge(directory) { !$0.contains(Self.callerMark) }
    }

    /// Splits a key into the one that the application knows, and whether the mark of a caller followed it.
    package static func unmarked(_ key: String) -> (key: Substring, isPrivate: Bool) {
        let bytes = key.utf8
        for place in bytes.indices where bytes[place...].starts(with: callerMark.utf8) { return (key[..<place], true) }
        return (key[...], false)
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

/// The cache levels; the header's SDD_CACHE_ constants.
package struct CacheLevels: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let memory = CacheLevels(rawValue: 1)
    package static let disk = CacheLevels(rawValue: 2)
    package static let all: CacheLevels = [.memory, .disk]
}

/// A watch on an image in memory that updates its cost there when the image grows. Thread-safe.
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
        return other.memory === memory && other.key.hasSameBytes(as: key)
    }
}

extension String {
    func withRawUTF8<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text = self
        return text.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
    }
}

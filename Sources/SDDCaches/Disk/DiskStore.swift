internal import Glibc
package import SDDBase

/// A disk cache: entries in files, one each, in a directory that any number of processes share. Even if a process is
/// killed at any moment, an entry is either there as it was stored or not there at all. Blocking: meant for the disk
/// threads, several at a time. It has no threads of its own, and holds no lock during disk I/O.
///
/// If the application keeps the entries itself, the directory still has everything else: locks among processes, parts
/// of bodies, and the key of marks.
package final class DiskStore: Sendable {
    let directory: CacheDirectory
    let time: any TimeSource
    /// Changes that are being recorded; a count finishes between two of them.
    let changes = ChangeGate()
    let ledger: DiskLedger
    let uses = Monitor(UseDates())
    /// The names touched during each count that is under way.
    let countings = Monitor<[TouchedNames]>([])
    /// Locks that tell which process downloads which key, in the directory `locks`.
    package let downloads: DownloadLocks
    /// Bodies of interrupted downloads, in the directory `parts`.
    package let parts: PartStore
    /// The key for the marks in keys and entries.
    package let secret: SecretKey

    let foreign: ForeignEntries?
    private let options: DiskOptions
    private let readers: [EntryReader]
    private let currentLimits: Monitor<DiskLimits>
    private let damaged = Monitor<Int64>(0)

    package init(
        options: DiskOptions, entries: (any EntryStore)? = nil, files: any FileCalls = SystemFiles(),
        time: any TimeSource = SystemTime()
    ) throws(CacheError) {
        self.options = options
        foreign = entries.map { ForeignEntries(store: $0, time: time) }
        self.time = time
        directory = try CacheDirectory.make(options.directory, files: files)
        // Secondary directories that are missing or unsafe are ignored.
        let others = options.secondaryDirectories.compactMap {
            try? CacheDirectory.open($0, isRead: true, files: files)
        }
        let own = entries == nil ? [directory] : []
        readers = (own + others).map { EntryReader(directory: $0, mapFrom: options.mapFrom) }
        currentLimits = Monitor(options.limits)
        ledger = DiskLedger(directory)
        if let known = SecretFile.read(directory) {
            secret = known
        } else {
            try DirectoryOwner.check(directory)
            secret = SecretFile.key(in: directory)
        }
        downloads = DownloadLocks(try directory.making("locks"), time: time)
        parts = PartStore(try directory.making("parts"), time: time)
    }

    package var limits: DiskLimits {
        get { currentLimits.withLock { $0 } }
        set { currentLimits.withLock { $0 = newValue } }
    }

    /// The number of entries that were found damaged and removed.
    package var damagedCount: Int64 { damaged.withLock { $0 } }

    /// The path of the directory.
    package var directoryPath: String { options.directory }

    /// True if entries are files; false if the application keeps them.
    package var hasFiles: Bool { foreign == nil }

    /// Returns the path of an entry's file, whether it exists or not. Meaningful only if entries are files.
    package func path(_ key: String) -> String {
        let separator = options.directory.utf8.last == UInt8(ascii: "/") ? "" : "/"
        return options.directory + separator + EntryName(key: key).full
    }
}

// MARK: - Reading

extension DiskStore {
    /// Returns the entry if there is one that is undamaged and not expired.
    package func read(_ key: String) throws(CacheError) -> StoredEntry? {
        if let entry = try readForeign(key) { return entry }
        return try find(key) { (reader, file) throws(EntryFlaw) in try reader.entry(in: file, key: key) }
    }

    /// Like `read(_:)`, but returns only the metadata and does not check the body.
    package func readMetadata(_ key: String) throws(CacheError) -> EntryMetadata? {
        if let entry = try readForeign(key) { return entry.metadata }
        return try find(key) { (reader, file) throws(EntryFlaw) in try reader.trailer(in: file, key: key).metadata }
    }

    /// Whether there is an entry. The body is not checked, and the lookup does not count as a use.
    package func contains(_ key: String) throws(CacheError) -> Bool {
        if try readForeign(key) != nil { return true }
        return try find(key, isUse: false) { (reader, file) throws(EntryFlaw) in
            _ = try reader.trailer(in: file, key: key)
            return true
        } ?? false
    }

    /// Returns the entry as an open file whose body has been checked.
    package func openBody(_ key: String) throws(CacheError) -> OpenEntry? {
        if let entry = try readForeign(key) { return try OpenEntry(copying: entry) }
        return try find(key) { (reader, file) throws(EntryFlaw) in
            let trailer = try reader.trailer(in: file, key: key)
            try reader.checkBody(of: file, trailer: trailer)
            let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { throw .failed(.system(.open, errno: errno)) }
            return OpenEntry(
                metadata: trailer.metadata, descriptor: descriptor, size: Int64(clamping: trailer.bodyLength))
        }
    }

    /// Returns the entry from the application's store. A damaged one is removed.
    private func readForeign(_ key: String) throws(CacheError) -> StoredEntry? {
        guard let foreign else { return nil }
        do throws(EntryFlaw) {
            return try foreign.read(key, limits)
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .notOurs: return nil
            case .damaged:
                if try foreign.store.remove(key) { damaged.withLock { $0 += 1 } }
                return nil
            }
        }
    }

    /// Searches all directories in which the entry may be.
    private func find<Value>(
        _ key: String, isUse: Bool = true, _ body: (EntryReader, EntryReader.File) throws(EntryFlaw) -> Value
    ) throws(CacheError) -> Value? {
        let name = EntryName(key: key)
        for reader in readers {
            let isOwn = reader.directory === directory
            do throws(CacheError) {
                if let value = try look(for: name.full, reader, isOwn: isOwn, isUse: isUse, body) { return value }
                if let other = name.other,
                    let value = try look(for: other, reader, isOwn: isOwn, isUse: isUse, body)
                {
                    return value
                }
            } catch {
                // An error in a secondary directory counts as a miss.
                if isOwn { throw error }
            }
        }
        return nil
    }

    private func look<Value>(
        for name: String, _ reader: EntryReader, isOwn: Bool, isUse: Bool,
        _ body: (EntryReader, EntryReader.File) throws(EntryFlaw) -> Value
    ) throws(CacheError) -> Value? {
        guard let file = try reader.open(name) else { return nil }
        defer { reader.close(file) }
        // Entries of secondary directories do not expire.
        if isOwn && isExpired(name, file.status) { return nil }
        do throws(EntryFlaw) {
            let value = try body(reader, file)
            if isOwn && isUse { used(name, file.status) }
            return value
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .notOurs: break
            case .damaged: if isOwn { try removeDamaged(name, file.status) }
            }
            return nil
        }
    }

    func isExpired(_ name: String, _ status: FileStatus) -> Bool {
        let limits = limits
        let date = limits.date(used: max(status.used, lastUse(of: name) ?? .min), stored: status.modified)
        return limits.isExpired(date, at: time.wallMicroseconds())
    }

    /// The last use that is not on disk yet.
    func lastUse(of name: String) -> Int64? { uses.withLock { $0[name] } }

    /// Removes a damaged entry, unless another file has its name by now.
    private func removeDamaged(_ name: String, _ status: FileStatus) throws(CacheError) {
        if try removeFile(name, status) { damaged.withLock { $0 += 1 } }
    }

    /// Removes a file, unless another one has its name by now.
    /// - Returns: whether it was removed.
    func removeFile(_ name: String, _ status: FileStatus) throws(CacheError) -> Bool {
        try CacheError.during(.remove) { () throws(SystemError) in
            guard let now = try directory.files.statusIfThere(of: name, in: directory.descriptor),
                now.isSameFile(as: status)
            else { return false }
            return try unlink(name, of: status.allocated)
        }
    }
}

// MARK: - Writing

extension DiskStore {
    /// Stores an entry and replaces an existing one.
    package func write(_ metadata: EntryMetadata, body: Bytes) throws(CacheError) {
        try write(metadata, body: body.pointer)
    }

    package func write(_ metadata: EntryMetadata, body: UnsafeRawBufferPointer) throws(CacheError) {
        try whetherRemovedOrNot { () throws(CacheError) in try writeOnce(metadata, body: body) }
    }

    private func writeOnce(_ metadata: EntryMetadata, body: UnsafeRawBufferPointer) throws(CacheError) {
        let now = time.wallMicroseconds()
        var metadata = metadata
        metadata.storedMicroseconds = now
        let trailer = EntryTrailer(
            metadata: metadata, bodyLength: UInt64(body.count), bodySum: XXH64.sum(of: body))
        guard let bytes = trailer.encoded(), fits(body.count, bytes.count) else { throw .tooLarge }
        if let foreign {
            guard let extra = Bytes(bytes) else { throw .noMemory }
            return try foreign.store.store(body, extra: extra.pointer, for: metadata.key)
        }
        let name = EntryName(key: metadata.key)
        let old = try allocated(name.full)
        let writer = FileWriter(directory: directory, sync: options.sync, time: now)
        guard let behind = Bytes(bytes) else { throw .noMemory }
        var change: Change?
        let status = try writer.write([body, behind.pointer], as: name.full) { () throws(CacheError) in
            // Removed before the rename, since a process may be killed in between: a missing entry is better than an
            // outdated one.
            if let other = name.other { _ = try remove(file: other) }
            change = Change(name.full, in: self)
        }
        uses.withLock { $0.forget(name.full) }
        let gone = old.map { -DiskTotals(bytes: $0, count: 1) } ?? DiskTotals()
        change?.record(DiskTotals(bytes: status.allocated, count: 1) + gone)
    }

    /// Begins a part of a body, see `PartStore.begin`.
    package func beginPart(_ key: String, validator: [UInt8], mostBytes: Int64) throws(CacheError) -> PartWriter {
        try whetherRemovedOrNot { () throws(CacheError) in
            try parts.begin(key, validator: validator, mostBytes: mostBytes)
        }
    }

    /// Makes a file. If that fails since a directory was removed, all of them are made again, and `body` is called once
    /// more.
    private func whetherRemovedOrNot<Value>(_ body: () throws(CacheError) -> Value) throws(CacheError) -> Value {
        do throws(CacheError) {
            return try body()
        } catch {
            guard error.isOfRemovedDirectory else { throw error }
        }
        try makeAgain()
        return try body()
    }

    func makeAgain() throws(CacheError) {
        if try directory.makeAgain() {
            ledger.forget()
            SecretFile.keep(secret, in: directory)
        }
        try makePartsAgain()
    }

    /// Makes the directories within the cache's own again if they were removed.
    func makePartsAgain() throws(CacheError) {
        try parts.makeAgain()
        try downloads.makeAgain()
    }

    /// - Returns: whether there was one.
    @discardableResult
    package func remove(_ key: String) throws(CacheError) -> Bool {
        if let foreign { return try foreign.store.remove(key) }
        let name = EntryName(key: key)
        let wasThere = try remove(file: name.full)
        guard let other = name.other else { return wasThere }
        return try remove(file: other) || wasThere
    }

    private func remove(file name: String) throws(CacheError) -> Bool {
        guard let old = try allocated(name) else { return false }
        uses.withLock { $0.forget(name) }
        return try CacheError.during(.remove) { () throws(SystemError) in try unlink(name, of: old) }
    }

    /// - Returns: whether there was a file.
    private func unlink(_ name: String, of bytes: Int64) throws(SystemError) -> Bool {
        let change = Change(name, in: self)
        guard try directory.files.removeIfThere(name, in: directory.descriptor) else { return false }
        change.record(-DiskTotals(bytes: bytes, count: 1))
        return true
    }

    private func fits(_ body: Int, _ trailer: Int) -> Bool {
        let (size, overflow) = Int64(body).addingReportingOverflow(Int64(trailer))
        return !overflow && size <= limits.maxBytes ?? .max
    }

    /// Returns the bytes that the file takes on disk; nil if there is no regular file of that name.
    func allocated(_ name: String) throws(CacheError) -> Int64? {
        let status = try CacheError.during(.read) { () throws(SystemError) in
            try directory.files.statusIfThere(of: name, in: directory.descriptor)
        }
        return status.flatMap { $0.kind == .file ? $0.allocated : nil }
    }

    /// A change of one file, from before anyone can see it until it is in the ledger. A count of all entries does not
    /// finish meanwhile, and looks the file up again: otherwise it might count the file, and the ledger once more.
    final class Change {
        private let store: DiskStore
        private let name: String

        init(_ name: String, in store: DiskStore) {
            (self.store, self.name) = (store, name)
            store.changes.begin(name)
            store.touched(name)
        }

        deinit { store.changes.end(name) }

        func record(_ totals: DiskTotals) { store.ledger.add(totals) }
    }

    func touched(_ name: String) {
        for counting in countings.withLock({ $0 }) { counting.insert(name) }
    }
}

// MARK: - Uses

extension DiskStore {
    private func used(_ name: String, _ status: FileStatus) {
        let now = time.wallMicroseconds()
        let (since, overflow) = now.subtractingReportingOverflow(status.used)
        if !overflow && (0..<limits.shortestUse).contains(since) { return }
        if uses.withLock({ $0.used(name, at: now) }) { flushUses() }
    }

    /// Stores the times at which entries were used, as access times of their files. Called by a timer, and before the
    /// store is destroyed. If this is not called, or the system refuses it, only the order in which old entries are
    /// removed is affected.
    package func flushUses(until isOver: () -> Bool = { false }) {
        for (name, date) in uses.withLock({ $0.take() }) {
            if isOver() { return }
            try? directory.files.setTimes(of: name, in: directory.descriptor, used: date, modified: nil)
        }
    }
}

package import SDDBase

/// A place where the application keeps the entries of a cache itself, a database for instance, instead of the files of
/// the directory. Its functions may block. They are called on the disk threads and on threads that wait for the disk,
/// several at a time, with no lock held.
package protocol EntryStore: Sendable {
    /// - Returns: nil if there is no entry.
    func entry(for key: String) throws(CacheError) -> StoredBlob?
    /// Stores an entry in place of the one that is there.
    func store(_ body: UnsafeRawBufferPointer, extra: UnsafeRawBufferPointer, for key: String) throws(CacheError)
    /// - Returns: whether there was one.
    func remove(_ key: String) throws(CacheError) -> Bool
    func clear() throws(CacheError)
    /// Removes entries that are older than `maxAge` microseconds, and then the oldest until no more than `maxBytes` are
    /// left; nil: no limit.
    func trim(maxBytes: Int64?, maxAge: Int64?) throws(CacheError)
    /// - Returns: nil if the application does not count.
    func totals() throws(CacheError) -> DiskTotals?
}

/// An entry as the application keeps it.
package struct StoredBlob: Sendable {
    /// The encoded bytes.
    let body: Bytes
    /// An encoded `EntryTrailer`, which the application does not look into.
    let extra: Bytes

    package init(body: Bytes, extra: Bytes) {
        self.body = body
        self.extra = extra
    }
}

// MARK: - Entries in the application's store

/// The entries of a `DiskStore` whose application keeps them.
struct ForeignEntries: Sendable {
    let store: any EntryStore
    let time: any TimeSource

    /// The entry if there is one, and it is whole and not too old.
    func read(_ key: String, _ limits: DiskLimits) throws(EntryFlaw) -> StoredEntry? {
        let found: StoredBlob?
        do throws(CacheError) { found = try store.entry(for: key) } catch { throw .failed(error) }
        guard let found else { return nil }
        let trailer = try Self.trailer(of: found, key)
        let date = limits.date(used: trailer.metadata.storedMicroseconds, stored: trailer.metadata.storedMicroseconds)
        if limits.isExpired(date, at: time.wallMicroseconds()) { return nil }
        guard XXH64.sum(of: found.body.pointer) == trailer.bodySum else { throw .damaged }
        return StoredEntry(metadata: trailer.metadata, body: found.body)
    }

    /// What a trim is to leave; nil if there is not more than there may be, or nobody counts.
    func mostBytes(within limits: DiskLimits) throws(CacheError) -> Int64? {
        guard let most = limits.maxBytes, let totals = try store.totals(), totals.bytes > most else { return nil }
        return limits.lowWater
    }

    func trim(_ limits: DiskLimits) throws(CacheError) {
        try store.trim(maxBytes: mostBytes(within: limits), maxAge: limits.maxAge.flatMap { $0 < 0 ? nil : $0 })
    }

    private static func trailer(of blob: StoredBlob, _ key: String) throws(EntryFlaw) -> EntryTrailer {
        let bytes = blob.extra.pointer
        guard bytes.count <= EntryTrailer.longest, try EntryTrailer.length(ofFileEndingWith: bytes) == bytes.count
        else { throw .damaged }
        let trailer = try EntryTrailer(bytes, key: key)
        guard trailer.bodyLength == UInt64(blob.body.count) else { throw .damaged }
        return trailer
    }
}

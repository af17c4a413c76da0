package import SDDBase

/// A store in which the application keeps the entries of a cache itself, for instance a database, instead of the files
/// of the directory. Its functions may block. They are called on the disk threads and on threads that wait for the
/// disk, several at a time, with no lock held.
package protocol EntryStore: Sendable {
    /// - Returns: nil if there is no entry.
    func entry(for key: String) throws(CacheError) -> StoredBlob?
    /// Stores an entry and replaces an existing one.
    func store(_ body: UnsafeRawBufferPointer, extra: UnsafeRawBufferPointer, for key: String) throws(CacheError)
    /// - Returns: whether there was an entry.
    func remove(_ key: String) throws(CacheError) -> Bool
    func clear() throws(CacheError)
    /// Removes entries older than `maxAge` microseconds, then the oldest ones until at most `maxBytes` are left; nil
    /// means no limit.
    func trim(maxBytes: Int64?, maxAge: Int64?) throws(CacheError)
    /// - Returns: nil if the application does not count its entries.
    func totals() throws(CacheError) -> DiskTotals?
}

/// An entry as stored by the application.
package struct StoredBlob: Sendable {
    /// The encoded bytes.
    let body: Bytes
    /// An encoded `EntryTrailer`, opaque to the application.
    let extra: Bytes

    package init(body: Bytes, extra: Bytes) {
        self.body = body
        self.extra = extra
    }
}

// MARK: - Entries in the application's store

/// The entries of a `DiskStore` that are kept by the application.
struct ForeignEntries: Sendable {
    let store: any EntryStore
    let time: any TimeSource

    /// Returns the entry if there is one that is undamaged and not expired.
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

    /// Returns the number of bytes that a trim should leave; nil if the limit is not exceeded, or the application does
    /// not count.
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

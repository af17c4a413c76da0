internal import CSDD
internal import SDDBase
internal import SDDCaches
internal import SDDCoders
internal import SDDEngine

/// A memory level that the application implements as a C vtable. Callable from any thread; the vtable's functions are
/// called with no lock held.
final class AppMemoryStore: ImageStore, @unchecked Sendable {
    // Safety: constants, all checked by `init`; the application promises functions that may be called on any thread.
    private let table: sdd_memory_store
    private let data: AppData

    init(_ table: sdd_memory_store) throws(Refusal) {
        if table.get == nil { throw .null("sdd_memory_store.get") }
        if table.put == nil { throw .null("sdd_memory_store.put") }
        if table.remove == nil { throw .null("sdd_memory_store.remove") }
        if table.clear == nil { throw .null("sdd_memory_store.clear") }
        self.table = table
        data = AppData(table.user_data, free: table.user_data_free)
    }

    /// Takes ownership of the application's data. Called once the C call that passed it is certain to succeed.
    func own() { data.own() }

    func image(for key: String) -> Image? {
        key.withCString { Handle.takenOverImage(table.get?($0, data.pointer) ?? nil) }
    }

    func store(_ image: Image, cost: Int, for key: String) {
        withExtendedLifetime(image) {
            key.withCString { table.put?($0, Handle.borrowed(image), Int64(cost), data.pointer) }
        }
    }

    func remove(_ key: String) { key.withCString { table.remove?($0, data.pointer) } }
    func removeAll() { table.clear?(data.pointer) }

    func trim(_ pressure: MemoryPressure) {
        table.trim?(Int32(pressure == .critical ? SDD_TRIM_ALL : SDD_TRIM_HALF), data.pointer)
    }
}

/// An entry store that the application implements as a C vtable. Thread: sdd-disk, and threads that wait for the
/// disk.
final class AppEntryStore: EntryStore, @unchecked Sendable {
    // Safety: constants, all checked by `init`; the application promises functions that may be called on any thread.
    private let table: sdd_entry_store
    private let data: AppData

    init(_ table: sdd_entry_store) throws(Refusal) {
        if table.get == nil { throw .null("sdd_entry_store.get") }
        if table.put == nil { throw .null("sdd_entry_store.put") }
        if table.remove == nil { throw .null("sdd_entry_store.remove") }
        if table.clear == nil { throw .null("sdd_entry_store.clear") }
        self.table = table
        data = AppData(table.user_data, free: table.user_data_free)
    }

    /// Takes ownership of the application's data. Called once the C call that passed it is certain to succeed.
    func own() { data.own() }

    func entry(for key: String) throws(CacheError) -> StoredBlob? {
        var body: OpaquePointer?
        var extra: OpaquePointer?
        let status = key.withCString { table.get?($0, &body, &extra, data.pointer) }
        // The library owns the references that `get` set, whatever status it returned.
        let (bodyBytes, extraBytes) = (Handle.takenOver(body), Handle.takenOver(extra))
        guard try isThere(status, .read) else { return nil }
        guard let bodyBytes, let extraBytes else { throw .store(.read) }
        return StoredBlob(body: bodyBytes, extra: extraBytes)
    }

    func store(_ body: UnsafeRawBufferPointer, extra: UnsafeRawBufferPointer, for key: String) throws(CacheError) {
        let status = key.withCString {
            table.put?($0, body.baseAddress, body.count, extra.baseAddress, extra.count, data.pointer)
        }
        guard status == sdd_status(SDD_OK) else { throw .store(.write) }
    }

    func remove(_ key: String) throws(CacheError) -> Bool {
        try isThere(key.withCString { table.remove?($0, data.pointer) }, .remove)
    }

    func clear() throws(CacheError) { _ = try isThere(table.clear?(data.pointer), .remove) }

    func trim(maxBytes: Int64?, maxAge: Int64?) throws(CacheError) {
        guard let trim = table.trim else { return }
        _ = try isThere(trim(maxBytes ?? -1, maxAge.map { $0 / 1000 } ?? -1, data.pointer), .remove)
    }

    func totals() throws(CacheError) -> DiskTotals? {
        guard let usage = table.usage else { return nil }
        var (bytes, count): (Int64, Int64) = (0, 0)
        guard try isThere(usage(&bytes, &count, data.pointer), .list) else { return nil }
        return DiskTotals(bytes: max(0, bytes), count: max(0, count))
    }

    /// - Parameter status: never `nil`: the store has the function.
    private func isThere(_ status: sdd_status?, _ operation: CacheError.Operation) throws(CacheError) -> Bool {
        switch status.map({ Int($0) }) {
        case SDD_OK: return true
        case SDD_ERROR_NOT_FOUND: return false
        default: throw .store(operation)
        }
    }
}

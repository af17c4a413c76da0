public import CSDD
internal import SDDCaches
internal import SDDEngine

// Listing the entries of a cache.

@_cdecl("sdd_cache_list_wait") @implementation
public func sdd_cache_list_wait(
    _ cache: OpaquePointer?, _ flags: Int32, _ entry_fn: sdd_cache_list_fn?, _ user_data: UnsafeMutableRawPointer?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let entry_fn else { throw .null("entry_fn") }
        guard flags & ~Int32(SDD_LIST_CHECK) == 0 else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "flags", "\(flags) has bits that are none of SDD_LIST_CHECK")
        }
        let cache = try Caches.cache(cache)
        try refuseOwnThread(of: cache)
        guard let disk = cache.disk, disk.store.hasFiles else {
            throw Refusal(SDD_ERROR_UNSUPPORTED, "cache", "its entries are not files of a directory")
        }
        let failure = disk.list(checkingBodies: flags & Int32(SDD_LIST_CHECK) != 0) { entry in
            switch call(entry_fn, with: entry, user_data) {
            case Int32(SDD_LIST_NEXT): .next
            case Int32(SDD_LIST_REMOVE): .remove
            default: .stop
            }
        }
        if let failure { throw Refusal(SDD_ERROR_CACHE, "cache", words(failure)) }
    }
}

private func call(_ function: sdd_cache_list_fn, with entry: ListedEntry, _ data: UnsafeMutableRawPointer?) -> Int32 {
    let key = entry.metadata.map { ImageCache.unmarked($0.key) }
    var made = sdd_cache_entry()
    made.struct_size = MemoryLayout<sdd_cache_entry>.size
    made.body_bytes = entry.bodyLength ?? -1
    made.disk_bytes = entry.allocated
    made.stored_ms = entry.stored / 1000
    made.used_ms = entry.used / 1000
    made.format = entry.metadata?.format ?? 0
    made.is_private = key?.isPrivate == true ? 1 : 0
    made.state =
        switch entry.state {
        case .good: Int32(SDD_ENTRY_GOOD)
        case .expired: Int32(SDD_ENTRY_EXPIRED)
        case .damaged: Int32(SDD_ENTRY_DAMAGED)
        case .foreign: Int32(SDD_ENTRY_FOREIGN)
        }
    return entry.file.withCString { file in
        made.file = file
        guard let key else { return function(&made, data) }
        return String(key.key).withCString { key in
            made.key = key
            return function(&made, data)
        }
    }
}

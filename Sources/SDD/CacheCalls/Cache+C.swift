public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCaches
internal import SDDEngine

// Creating and destroying caches, their limits, and their statistics.

@_cdecl("sdd_cache_create") @implementation
public func sdd_cache_create(
    _ config: UnsafePointer<sdd_cache_config>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = nil
        let copy = try readOrZeros(config, "config")
        prepareForForks()
        out.pointee = Handle.caches.add(try makeCache(copy))
        writeCachesAtExit()
    }
}

@_cdecl("sdd_cache_destroy") @implementation
public func sdd_cache_destroy(_ cache: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in
        let cache = try Handle.caches.remove(cache, "cache") { (cache) throws(Refusal) in
            try refuseOwnThread(of: cache)
        }
        cache.close()
    }
}

@_cdecl("sdd_cache_shared") @implementation
public func sdd_cache_shared() -> OpaquePointer? {
    answer(orElse: nil) { () throws(Refusal) in try Caches.shared().handle }
}

/// Refuses to wait for a cache on one of its own threads, which would deadlock.
func refuseOwnThread(of cache: ImageCache) throws(Refusal) {
    if cache.isOwnThread {
        throw Refusal(SDD_ERROR_WOULD_DEADLOCK, "cache", "a function that its own thread has called cannot wait for it")
    }
}

@_cdecl("sdd_cache_flush_wait") @implementation
public func sdd_cache_flush_wait(_ cache: OpaquePointer?, _ milliseconds: Int64) -> sdd_status {
    status { () throws(Refusal) in
        let cache = try Caches.cache(cache)
        try refuseOwnThread(of: cache)
        guard cache.disk?.flush(milliseconds: milliseconds) ?? true else {
            throw .timeIsOver("entries still wait to be written")
        }
        if let error = cache.disk?.takeFirstFailure() { throw Refusal(DownloadError(error)) }
    }
}

@_cdecl("sdd_cache_trim_memory") @implementation
public func sdd_cache_trim_memory(_ cache: OpaquePointer?, _ level: Int32) -> sdd_status {
    status { () throws(Refusal) in
        let pressure = try choice(
            level, "level", "SDD_TRIM_", [SDD_TRIM_HALF: MemoryPressure.moderate, SDD_TRIM_ALL: .critical])
        try Caches.cache(cache).trimMemory(pressure)
    }
}

@_cdecl("sdd_cache_trim_disk_wait") @implementation
public func sdd_cache_trim_disk_wait(_ cache: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in
        let cache = try Caches.cache(cache)
        guard cache.disk?.trim() ?? true else { throw notRemoved(from: cache) }
    }
}

/// Returns the refusal for files that could not be removed from the cache's directory.
func notRemoved(from cache: ImageCache) -> Refusal {
    Refusal(
        SDD_ERROR_CACHE, "cache",
        "not every file in its directory could be removed: sdd_cache_statistics.last_error is \(cache.counters.lastError)"
    )
}

@_cdecl("sdd_cache_merge_wait") @implementation
public func sdd_cache_merge_wait(
    _ cache: OpaquePointer?, _ directory: UnsafePointer<CChar>?, _ merged: UnsafeMutablePointer<Int64>?
) -> sdd_status {
    status { () throws(Refusal) in
        merged?.pointee = 0
        guard let path = try text(directory, "directory") else { throw .null("directory") }
        let cache = try Caches.cache(cache)
        try refuseOwnThread(of: cache)
        switch cache.merge(path) {
        case .moved(let count)?: merged?.pointee = count
        case .ownDirectory?:
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "directory", "it is the directory of the cache itself")
        case .failed(let error)?: throw Refusal(SDD_ERROR_CACHE, "directory", "\(shown(path)): \(words(error))")
        case nil: throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "cache", "it has no disk level")
        }
    }
}

@_cdecl("sdd_cache_set_memory_limits") @implementation
public func sdd_cache_set_memory_limits(_ cache: OpaquePointer?, _ cost: Int64, _ count: Int64) -> sdd_status {
    status { () throws(Refusal) in
        var limits = try memoryLimits(cost: cost, "max_cost", count: count, "max_count")
        guard let memory = try Caches.cache(cache).memory else { return }
        limits.findsLive = memory.limits.findsLive
        memory.limits = limits
    }
}

@_cdecl("sdd_cache_set_disk_limits") @implementation
public func sdd_cache_set_disk_limits(_ cache: OpaquePointer?, _ bytes: Int64, _ age: Int64) -> sdd_status {
    status { () throws(Refusal) in
        let disk = try Caches.cache(cache).disk
        let limits = try diskLimits(
            bytes: bytes, "max_bytes", age: age, "max_age_ms", keeping: disk?.store.limits ?? DiskLimits())
        disk?.store.limits = limits
        disk?.trimSoon()
    }
}

@_cdecl("sdd_cache_get_statistics_wait") @implementation
public func sdd_cache_get_statistics_wait(
    _ cache: OpaquePointer?, _ out: UnsafeMutablePointer<sdd_cache_statistics>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard out != nil else { throw .null("statistics") }
        try fill(out, "statistics", with: statistics(of: try Caches.cache(cache)))
    }
}

private func statistics(of cache: ImageCache) -> sdd_cache_statistics {
    var made = sdd_cache_statistics()
    let counters = cache.counters
    made.disk_hits = counters[.diskHits]
    made.disk_misses = counters[.diskMisses]
    made.disk_read_bytes = counters[.diskReadBytes]
    made.disk_written_bytes = counters[.diskWrittenBytes]
    made.entries_written = counters[.entriesWritten]
    made.errors = counters[.errors]
    made.trims = counters[.trims]
    made.entries_trimmed = counters[.entriesTrimmed]
    made.trimmed_bytes = counters[.trimmedBytes]
    made.http_fresh = counters[.httpFresh]
    made.http_revalidated = counters[.httpRevalidated]
    made.http_stale = counters[.httpStale]
    made.http_misses = counters[.httpMisses]
    made.shared_downloads = counters[.sharedDownloads]
    made.resumed_downloads = counters[.resumedDownloads]
    made.resumed_bytes = counters[.resumedBytes]
    made.last_error = counters.lastError
    if let memory = cache.memory {
        let counts = memory.counts
        made.memory_hits = Int64(clamping: counts.hits)
        made.memory_misses = Int64(clamping: counts.misses)
        made.memory_evictions = Int64(clamping: counts.evictions)
        made.memory_cost = Int64(memory.totalCost)
        made.memory_count = Int64(memory.count)
        let limit = memory.limits.cost
        made.max_memory_cost = limit == .max ? -1 : Int64(limit)
    }
    if cache.images != nil {
        made.memory_hits = counters[.memoryHits]
        made.memory_misses = counters[.memoryMisses]
    }
    if let disk = cache.disk {
        made.entries_damaged = disk.store.damagedCount
        made.writes_dropped = counters[.writesDropped]
        made.queued_bytes = Int64(disk.heldBytes)
        let totals = disk.totals
        made.disk_bytes = totals?.bytes ?? 0
        made.disk_count = totals?.count ?? 0
    }
    return made
}

@_cdecl("sdd_downloader_set_offline") @implementation
public func sdd_downloader_set_offline(_ downloader: OpaquePointer?, _ isOffline: Int32) -> sdd_status {
    status { () throws(Refusal) in try Downloaders.downloader(downloader).setOffline(flag(isOffline, "is_offline")) }
}

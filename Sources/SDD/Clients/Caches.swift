internal import CSDD
internal import SDDCaches
internal import SDDEngine

/// The caches behind handles, and the shared one.
enum Caches {
    /// Returns the cache behind a handle; NULL is the shared cache, created on first use.
    static func cache(_ handle: OpaquePointer?, _ place: Place = "cache") throws(Refusal) -> ImageCache {
        guard let handle else { return try shared(place).object }
        return try Handle.caches.object(handle, place)
    }

    static func shared(_ place: Place = "cache") throws(Refusal) -> (handle: OpaquePointer?, object: ImageCache) {
        prepareForForks()
        return try Handle.caches.shared(place) { () throws(Refusal) in
            let cache = try makeSharedCache()
            writeCachesAtExit()
            return cache
        }
    }
}

/// Creates the shared cache, with all defaults. Without a usable directory it has only the memory level.
private func makeSharedCache() throws(Refusal) -> ImageCache {
    var failure: CacheError?
    do throws(Refusal) {
        return try makeCache(sdd_cache_config(), failure: &failure)
    } catch {
        guard let reason = failure else { throw error }
        var config = sdd_cache_config()
        config.levels = Int32(SDD_CACHE_MEMORY)
        let cache = try makeCache(config, failure: &failure)
        cache.counters.failed(reason)
        return cache
    }
}

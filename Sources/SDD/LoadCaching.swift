internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// The cache levels that a load uses for each of its four cache operations.
struct LoadLevels {
    var query: CacheLevels
    var store: CacheLevels
    var originalQuery: CacheLevels
    var originalStore: CacheLevels

    init(_ given: sdd_load_request) throws(Refusal) {
        query = try Self.levels(given.query, "sdd_load_request.query", default: .all)
        store = try Self.levels(given.store, "sdd_load_request.store", default: .all)
        originalQuery = try Self.levels(given.original_query, "sdd_load_request.original_query", default: .disk)
        originalStore = try Self.levels(given.original_store, "sdd_load_request.original_store", default: .disk)
    }

    private static func levels(
        _ given: Int32, _ place: Place, default standard: CacheLevels
    ) throws(Refusal) -> CacheLevels {
        switch Int(given) {
        case SDD_CACHE_DEFAULT: standard
        case -1: []
        default: try cacheLevels(given, place)
        }
    }

    /// These levels without the disk and without originals, for file: and data: URLs.
    var inMemory: LoadLevels {
        var levels = self
        levels.query.remove(.disk)
        levels.store.remove(.disk)
        levels.originalQuery = []
        levels.originalStore = []
        return levels
    }
}

/// The caches of one load, for its lookup and for storing its results.
struct LoadCaches {
    let cache: ImageCache
    let originals: ImageCache
    /// The cache key that the application set; `nil` means the key that the cache makes from the URL.
    let key: String?
    let levels: LoadLevels

    func join(_ plan: inout LoadPlan, _ request: DownloadRequest, by caller: RequestIdentity, wantsBytes: Bool) {
        let original = (key ?? cache.key(of: request.transfer.url)) + cache.mark(of: caller)
        let wanted = plan.wantsPixels ? CacheKeys.key(of: original, as: plan.form) : original
        let isMade = wanted != original
        let originals = isMade ? originals : cache
        if !levels.query.isEmpty || (isMade && !levels.originalQuery.isEmpty) {
            plan.lookup = ImageCacheLookup(
                cache, key: original, form: plan.form, levels: levels.query,
                originals: ImageCacheLookup.Originals(originals, levels.originalQuery), wantsImage: plan.wantsPixels,
                wantsBytes: wantsBytes || !plan.wantsPixels, keepsInMemory: levels.store.contains(.memory),
                headers: request.transfer.headers)
        }
        // If the original itself is wanted, memory holds it with its pixels; only its bytes on disk are stored here.
        var kept = isMade ? levels.originalStore : levels.store.intersection(.disk)
        if originals.disk == nil { kept.remove(.disk) }
        if originals.memory == nil { kept.remove(.memory) }
        plan.store = LoadPlan.Store(
            cache: cache, key: wanted, levels: levels.store, isMade: isMade,
            original: kept.isEmpty ? nil : OriginalKeeper(originals, key: original, levels: kept))
        plan.refreshed = LoadPlan.Refreshed(cache: originals, key: original)
    }
}

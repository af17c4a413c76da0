internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// Levels of the cache for the four things that a load has to do with it: row B9.
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

    /// For what is on a disk, or in its own URL, anyway.
    var inMemory: LoadLevels {
        var levels = self
        levels.query.remove(.disk)
        levels.store.remove(.disk)
        levels.originalQuery = []
        levels.originalStore = []
        return levels
    }
}

/// The caches of one load: where it looks first, and where it puts what comes.
struct LoadCaches {
    let cache: ImageCache
    let originals: ImageCache
    /// What the host calls the picture; nil: what the cache makes of its URL.
    let key: String?
    let levels: LoadLevels

    func join(_ plan: inout LoadPlan, _ request: DownloadRequest, by caller: Caller, wantsBytes: Bool) {
        let original = (key ?? cache.key(of: request.transfer.url)) + cache.mark(of: caller)
        let wanted = plan.wantsPixels ? CacheKeys.key(of: original, as: plan.form) : original
        let isMade = wanted != original
        let originals = isMade ? originals : cache
        if !levels.query.isEmpty || (isMade && !levels.originalQuery.isEmpty) {
            plan.inquiry = PictureInquiry(
                cache, key: original, form: plan.form, levels: levels.query,
                originals: PictureInquiry.Originals(originals, levels.originalQuery), wantsImage: plan.wantsPixels,
                wantsBytes: wantsBytes || !plan.wantsPixels, keepsInMemory: levels.store.contains(.memory),
                headers: request.transfer.headers)
        }
        // What is wanted as it is stored goes to memory with its pixels.
        var kept = isMade ? levels.originalStore : levels.store.intersection(.disk)
        if originals.disk == nil { kept.remove(.disk) }
        if originals.memory == nil { kept.remove(.memory) }
        plan.store = LoadPlan.Store(
            cache: cache, key: wanted, levels: levels.store, isMade: isMade,
            original: kept.isEmpty ? nil : OriginalKeeper(originals, key: original, levels: kept))
        plan.refreshed = LoadPlan.Refreshed(cache: originals, key: original)
    }
}

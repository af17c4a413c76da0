import SDDBase
import SDDCoders
import SDDTransport

/// The caches of a load.
package struct LoadCaches: Sendable {
    /// The cache for the images in their wanted forms.
    package let images: ImageCache
    /// The cache for the originals of images in other forms; may be the same.
    package let originals: ImageCache

    package init(images: ImageCache, originals: ImageCache) {
        self.images = images
        self.originals = originals
    }
}

/// The cache levels that a load uses for each of its four cache operations.
package struct LoadLevels: Equatable, Sendable {
    package var query: CacheLevels
    package var store: CacheLevels
    package var originalQuery: CacheLevels
    package var originalStore: CacheLevels

    package init(
        query: CacheLevels = .all, store: CacheLevels = .all, originalQuery: CacheLevels = .disk,
        originalStore: CacheLevels = .disk
    ) {
        self.query = query
        self.store = store
        self.originalQuery = originalQuery
        self.originalStore = originalStore
    }

    /// These levels without the disk and without originals, for file: and data: URLs.
    var inMemory: LoadLevels {
        LoadLevels(
            query: query.subtracting(.disk), store: store.subtracting(.disk), originalQuery: [], originalStore: [])
    }
}

/// The wishes of a load apart from its download requests: what it does with caches, and how long it may take. A value
/// type.
package struct LoadWish: Sendable {
    package var options: RequestOptions
    package var levels = LoadLevels()
    /// The cache key that the application set; `nil` means the key that the cache makes from the URL.
    package var key: String?
    /// Microseconds for all stages together; 0 means no limit.
    package var totalLimit: Int64 = 0
    /// `nil` means no cache.
    package var caches: LoadCaches?
    /// Whether the downloader uses the HTTP cache for all requests.
    package var usesHTTPCache = false
    /// The search in memory, if it has been made already.
    package var search: MemorySearch?

    package init(options: RequestOptions = []) { self.options = options }

    /// Returns the plan of the load.
    /// - Parameter sources: at least one; they differ only in their URLs.
    package func plan(for sources: [LoadPlan.Source]) -> LoadPlan {
        var plan = LoadPlan(sources: sources)
        plan.options = LoadPlan.Options(options)
        plan.totalLimit = totalLimit
        // The first URL may be invalid.
        guard let some = sources.lazy.compactMap({ try? $0.request.get() }).first else { return plan }
        plan.form = some.form
        plan.wantsPixels = some.wantsPixels
        plan.wantsFacts = some.wantsFacts
        plan.priority = some.priority
        guard let source = sources.first, case .success(let first) = source.request else { return plan }
        // With the HTTP cache, the download itself does the cache lookup, by the rules of RFC 9111.
        guard let caches, !usesHTTPCache, !options.contains(.useHTTPCache) else { return plan }
        let url = first.transfer.url
        // A data: URL does not change, and no server could revalidate it.
        if url.scheme == .data { plan.options.remove(.refreshCached) }
        // A longer URL can only be a data: URL, which is too long for a key and need not be cached.
        if url.text.utf8.count > ImageURL.maxLength { return plan }
        join(caches, to: &plan, first, by: source.caller)
        return plan
    }

    /// Adds the cache lookup and the destinations of what is stored.
    private func join(
        _ caches: LoadCaches, to plan: inout LoadPlan, _ request: DownloadRequest, by caller: RequestIdentity
    ) {
        let (cache, url) = (caches.images, request.transfer.url)
        let levels = url.scheme == .file || url.scheme == .data ? levels.inMemory : levels
        let search = search ?? self.search(in: cache, for: plan, request, by: caller)
        let (original, wanted) = (search.original, search.wanted)
        let isMade = wanted != original
        let originals = isMade ? caches.originals : cache
        let asks = !levels.query.isEmpty || (isMade && !levels.originalQuery.isEmpty)
        if asks, !options.contains(.fromLoaderOnly) {
            plan.lookup = ImageCacheLookup(
                search, levels: levels.query,
                originals: ImageCacheLookup.Originals(originals, levels.originalQuery), wantsImage: plan.wantsPixels,
                wantsBytes: plan.options.contains(.wantsEntryBytes) || !plan.wantsPixels,
                keepsInMemory: levels.store.contains(.memory),
                hashKey: key == nil ? url.hashKey : UInt64(truncatingIfNeeded: original.hashValue))
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

    private func search(
        in cache: ImageCache, for plan: LoadPlan, _ request: DownloadRequest, by caller: RequestIdentity
    ) -> MemorySearch {
        let original = (key ?? cache.key(of: request.transfer.url)) + cache.mark(of: caller)
        return MemorySearch(
            cache, original: original,
            wanted: plan.wantsPixels ? CacheKeys.key(of: original, as: plan.form) : original, form: plan.form,
            headers: request.transfer.headers)
    }
}

extension LoadPlan.Options {
    /// The options of requests that concern the stages of a load.
    init(_ options: RequestOptions) {
        self = []
        if options.contains(.retryFailed) { insert(.retryFailed) }
        if options.contains(.refreshCached) { insert(.refreshCached) }
        if options.contains(.fromCacheOnly) { insert(.fromCacheOnly) }
        if options.contains(.waitStoreCache) { insert(.waitsForStore) }
        if !options.isDisjoint(with: [.queryMemoryData, .queryMemoryDataSync]) { insert(.wantsEntryBytes) }
        if !options.isDisjoint(with: [.queryMemoryDataSync, .queryDiskDataSync]) { insert(.asksInPlace) }
    }
}

// MARK: - Downloads of loads

extension RequestDefaults {
    /// Returns the defaults for the downloads of a load: the cache of its images is the HTTP cache.
    package func withCaches(_ caches: LoadCaches?) -> RequestDefaults { withCache(caches?.images) }
}

extension RequestOptions {
    /// Returns the options for the downloads of a load: without a cache there is no HTTP cache and nothing to resume.
    package func withCaches(_ caches: LoadCaches?) -> RequestOptions {
        caches == nil ? subtracting([.useHTTPCache, .resume]) : self
    }
}

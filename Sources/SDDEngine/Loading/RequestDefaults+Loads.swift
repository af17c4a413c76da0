package import SDDBase
package import SDDCoders
import SDDTransport

// How a spec and the defaults of a downloader become the plan of a load.

extension RequestDefaults {
    /// Searches memory for a simple load, before anything is made that only a download needs. A load is simple if its
    /// only URL needs nothing but the defaults and perhaps a form. Thread: the submitting one.
    /// - Parameters:
    ///   - form: as in a `RequestSpec`.
    ///   - url: for which the downloader has a transport.
    /// - Returns: nil if the load is not simple.
    package func searchAhead(
        _ options: RequestOptions, _ form: DecodeOptions?, _ caches: LoadCaches, _ url: ImageURL
    ) -> MemorySearch? {
        guard options.isSubset(of: .ofSimpleLoads), !usesHTTPCache, !changesRequests, !url.hasUserinfo,
            url.scheme != .data, url.scheme != .file, asksForWhole
        else { return nil }
        // Without a transport for its scheme the load fails.
        if url.scheme == .other, (try? appTransport(for: url)) == nil { return nil }
        var form = form ?? self.form
        if form.isChanged(by: options) { form = form.with(options) }
        form.resolveColour(forLoad: true)
        form.keepsBytes = form.size == .none
        guard form.isPossible, form.transforms == nil else { return nil }
        let original = caches.images.key(of: url) + caches.images.mark(of: identity)
        let search = MemorySearch(
            caches.images, original: original, wanted: CacheKeys.key(of: original, as: form), form: form,
            headers: self.headers)
        search.searchAhead()
        return search
    }

    /// Returns the plan of a load. Thread: the submitting one.
    /// - Parameters:
    ///   - spec: with that of the load.
    ///   - urls: at least one.
    ///   - search: the search in memory, if it has been made already.
    package func plan(
        _ spec: RequestSpec, _ urls: [Result<ImageURL, DownloadError>], after search: MemorySearch? = nil
    ) -> LoadPlan {
        let load = spec.load ?? LoadSpec()
        let defaults = withCache(load.caches?.images)
        var request = spec
        // Without a cache there is no HTTP cache, and nothing to resume.
        if load.caches == nil { request.options.subtract([.useHTTPCache, .resume]) }
        let sources = urls.map { url in
            LoadPlan.Source(
                Result { () throws(DownloadError) in try defaults.resolve(request, url.get()) }, of: try? url.get())
        }
        var plan = LoadPlan(sources: sources)
        plan.options = spec.options.intersection(.ofStages)
        plan.totalLimit = shorter(
            (spec.transfer?.values.totalLimit ?? defaults.totalLimit) * 1000, spec.batchLimit)
        // The first URL may be invalid.
        guard let some = sources.lazy.compactMap({ try? $0.request.get() }).first else { return plan }
        plan.form = some.form
        plan.wantsPixels = some.wantsPixels
        plan.wantsFacts = some.wantsFacts
        plan.priority = some.priority
        guard let source = sources.first, case .success(let first) = source.request,
            case .success(let own)? = urls.first
        else { return plan }
        // With the HTTP cache, the download itself does the cache lookup, by the rules of RFC 9111.
        guard let caches = load.caches, !defaults.usesHTTPCache, !spec.options.contains(.useHTTPCache) else {
            return plan
        }
        // Who asks for a part of the body, or by another method, neither gets what caches have nor fills them.
        guard first.transfer.asksForWhole else { return plan }
        let url = first.transfer.url
        // A data: URL does not change, and no server could revalidate it.
        if url.scheme == .data { plan.options.remove(.refreshCached) }
        // A longer URL can only be a data: URL, which is too long for a key and need not be cached.
        if max(own.text.utf8.count, url.text.utf8.count) > ImageURL.maxLength { return plan }
        // A modifier may add to the URL what differs with each load, such as a signature.
        let found = search ?? load.search(own, in: caches.images, for: plan, first, by: source.caller)
        plan.join(caches, load, own, found, first, asks: !spec.options.contains(.fromLoaderOnly))
        return plan
    }
}

extension LoadSpec {
    fileprivate func search(
        _ url: ImageURL, in cache: ImageCache, for plan: LoadPlan, _ request: DownloadRequest,
        by caller: RequestIdentity
    ) -> MemorySearch {
        let original = (key ?? cache.key(of: url)) + cache.mark(of: caller)
        return MemorySearch(
            cache, original: original,
            wanted: plan.wantsPixels ? CacheKeys.key(of: original, as: plan.form) : original, form: plan.form,
            headers: request.transfer.headers)
    }
}

extension LoadPlan {
    /// Adds the cache lookup and the destinations of what is stored.
    /// - Parameter own: the URL that the key is made from; the request may have another.
    fileprivate mutating func join(
        _ caches: LoadCaches, _ load: LoadSpec, _ own: ImageURL, _ search: MemorySearch, _ request: DownloadRequest,
        asks: Bool
    ) {
        let (cache, url) = (caches.images, request.transfer.url)
        let levels = url.scheme == .file || url.scheme == .data ? load.levels.inMemory : load.levels
        let (original, wanted) = (search.original, search.wanted)
        let isMade = wanted != original
        let originals = isMade ? caches.originals : cache
        if asks, !levels.query.isEmpty || (isMade && !levels.originalQuery.isEmpty) {
            lookup = ImageCacheLookup(
                search, levels: levels.query,
                originals: ImageCacheLookup.Originals(originals, levels.originalQuery), wantsImage: wantsPixels,
                wantsBytes: options.contains(.queryMemoryData) || !wantsPixels,
                keepsInMemory: levels.store.contains(.memory),
                hashKey: load.key == nil ? own.hashKey : UInt64(truncatingIfNeeded: original.hashValue))
        }
        // If the original itself is wanted, memory holds it with its pixels; only its bytes on disk are stored here.
        var kept = isMade ? levels.originalStore : levels.store.intersection(.disk)
        if originals.disk == nil { kept.remove(.disk) }
        if originals.memory == nil { kept.remove(.memory) }
        store = Store(
            cache: cache, key: wanted, levels: levels.store, isMade: isMade,
            original: kept.isEmpty ? nil : OriginalKeeper(originals, key: original, levels: kept))
        // Only what the load may find is compared with what the server has.
        if asks, (isMade ? levels.originalQuery : levels.query).contains(.disk) {
            refreshed = Refreshed(cache: originals, key: original)
        }
    }
}

extension RequestOptions {
    /// Options that concern the stages of a load.
    fileprivate static let ofStages: RequestOptions = [
        .retryFailed, .refreshCached, .fromCacheOnly, .waitStoreCache, .queryMemoryData,
    ]
    /// Options that neither change who asks for an image nor where it is looked for first.
    fileprivate static let ofSimpleLoads: RequestOptions = [
        .continueInBackground, .resume, .stopWhenComplete, .events, .avoidDecodeImage, .decodeFirstFrameOnly,
        .preloadAllFrames, .retryFailed, .waitStoreCache,
    ]
}

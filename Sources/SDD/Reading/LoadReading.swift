internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// A load, read from an sdd_load_request. Thread: the submitting one.
struct LoadReading {
    /// The spec, or the error that the load ends with.
    private(set) var spec: Result<RequestSpec, DownloadError>
    let load: LoadSpec
    private let first: UnsafePointer<CChar>?
    private let others: UnsafeBufferPointer<UnsafePointer<CChar>?>
    /// The data of the application's functions in the load. Once the load is accepted, the library owns it.
    let appData: [AppData]

    /// - Throws: errors that the submitting call returns; all other errors end the load.
    /// - Parameters:
    ///   - whole: the spec of a list or batch that the load belongs to: its transfer, unless the request has one, its
    ///     form and its limit.
    ///   - optionsPlace: as in `RequestStruct.spec`.
    init(
        _ given: sdd_load_request, _ caches: LoadCaches?, hasEvents: Bool, for use: RequestOptions.Use,
        of whole: RequestSpec?, _ optionsPlace: Place?
    ) throws(Refusal) {
        let transfer = try GivenTransfer(given.transfer, "sdd_load_request.transfer")
        let transforms = try appTransforms(
            given.transforms, "sdd_load_request.transforms",
            count: given.transform_count, "sdd_load_request.transform_count")
        appData = transforms.appData + transfer.appData
        var load = LoadSpec(caches: caches)
        load.levels = try LoadLevels(given)
        load.key = given.cache_key == nil ? nil : try cacheKey(given.cache_key, "sdd_load_request.cache_key")
        load.transforms = given.transform_count == 0 ? nil : transforms.chain
        first = given.url
        others = try Self.alternatives(given)
        let isShown = given.cached == nil || given.options & sdd_options(SDD_OPTION_REFRESH_CACHED) != 0
        self.load = load
        spec = Result { () throws(DownloadError) in
            var made = try given.spec(for: use, hasEvents: hasEvents, optionsPlace)
            guard isShown else {
                throw wrong(
                    .unknownOptions, "sdd_load_request.cached", "it is called with SDD_OPTION_REFRESH_CACHED alone")
            }
            made.transfer = try transfer.spec() ?? whole?.transfer
            made.load = load
            made.wholeForm = whole?.wholeForm
            made.batchLimit = whole?.batchLimit ?? 0
            return made
        }
    }

    private static let mostAlternatives = 64

    private static func alternatives(
        _ given: sdd_load_request
    ) throws(Refusal) -> UnsafeBufferPointer<UnsafePointer<CChar>?> {
        if given.alternative_count == 0 { return UnsafeBufferPointer(start: nil, count: 0) }
        guard let alternatives = given.alternatives else { throw .null("sdd_load_request.alternatives") }
        guard (1...mostAlternatives).contains(given.alternative_count) else {
            throw .number(
                "sdd_load_request.alternative_count", UInt(bitPattern: given.alternative_count),
                allowed: "0 to \(mostAlternatives)")
        }
        // Safety: the library's header requires `alternative_count` elements.
        return UnsafeBufferPointer(start: alternatives, count: given.alternative_count)
    }

    /// Returns the reading with the limit of a call that waits.
    func limited(to milliseconds: Int64) -> LoadReading {
        var reading = self
        reading.spec = spec.map { $0.limited(to: milliseconds) }
        return reading
    }

    /// Returns the search in memory, if that may be all that the load needs.
    func searchAhead(_ defaults: RequestDefaults) -> (url: ImageURL, search: MemorySearch)? {
        guard others.isEmpty, case .success(let spec) = spec,
            let url = try? defaults.url(first, limit: defaults.bodyLimit(spec)),
            let search = defaults.searchAhead(spec, url)
        else { return nil }
        return (url, search)
    }

    /// Returns the plan of the load.
    /// - Parameter ahead: what `searchAhead` has returned.
    func plan(_ defaults: RequestDefaults, after ahead: (url: ImageURL, search: MemorySearch)? = nil) -> LoadPlan {
        let spec: RequestSpec
        switch self.spec {
        case .success(let made): spec = made
        case .failure(let error): return LoadPlan(sources: [LoadPlan.Source(.failure(error))])
        }
        if let ahead { return defaults.plan(spec, load, [.success(ahead.url)], after: ahead.search) }
        let limit = defaults.bodyLimit(spec)
        let urls = ([first] + others).map { url in
            Result { () throws(DownloadError) in try defaults.url(url, limit: limit) }
        }
        return defaults.plan(spec, load, urls)
    }

    /// The error of a load that the library submits for a batch or a prefetch list, and that the options processor made
    /// invalid.
    static let badlyProcessed = DownloadError(
        .invalidOperation, .modifier, "What the loader's options processor made of the load cannot be.")
}

// MARK: - Levels

extension LoadLevels {
    fileprivate init(_ given: sdd_load_request) throws(Refusal) {
        self.init()
        query = try Self.levels(given.query, "sdd_load_request.query", default: query)
        store = try Self.levels(given.store, "sdd_load_request.store", default: store)
        originalQuery = try Self.levels(
            given.original_query, "sdd_load_request.original_query", default: originalQuery)
        originalStore = try Self.levels(
            given.original_store, "sdd_load_request.original_store", default: originalStore)
    }

    private static func levels(
        _ given: Int32, _ place: Place, default standard: CacheLevels
    ) throws(Refusal) -> CacheLevels {
        switch Int(given) {
        case SDD_CACHE_DEFAULT: standard
        case SDD_CACHE_NONE: CacheLevels(rawValue: 0)
        default: try cacheLevels(given, place)
        }
    }
}

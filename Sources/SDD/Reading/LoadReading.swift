internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// The plan and the callbacks of a load, read from an sdd_load_request. Thread: the submitting one.
struct LoadReading {
    let plan: LoadPlan
    let callbacks: RequestCallbacks
    /// The data of the application's functions in the load. Once the load is accepted, the library owns it.
    let appData: [AppData]

    /// - Throws: errors that the submitting call returns; all other errors end the load.
    /// - Parameters:
    ///   - form: the pixel form to use instead of `decode`.
    ///   - search: the search in memory, if it has been made already.
    init(
        _ given: sdd_load_request, _ client: LoaderClient, form: DecodeOptions? = nil,
        after search: MemorySearch? = nil,
        names: RequestNames = .load
    ) throws(Refusal) {
        guard given.reserved == 0 else { throw .reserved("sdd_load_request.reserved") }
        var download = sdd_download_request()
        if given.download != nil { try read(given.download, "sdd_load_request.download", into: &download) }
        let options = RequestOptions(rawValue: given.options)
        let request = Self.request(given, download)
        let hasTwoOptions = download.options != 0
        let modifiers = try AppModifiers.make(download.modifiers, "sdd_download_request.modifiers")
        let transforms = try appTransforms(
            given.transforms, "sdd_load_request.transforms",
            count: given.transform_count, "sdd_load_request.transform_count")
        appData = transforms.appData + (modifiers.map { [$0.data] } ?? [])
        let defaults = client.currentDefaults
        let sources = try Self.sources(
            given, hasTwoOptions: hasTwoOptions, request, defaults, modifiers, transforms.chain, client, form, names)
        callbacks = RequestCallbacks(given, keepsURL: sources[0].request.hasReadableURL(given.url))
        var wish = LoadWish(options: options)
        wish.levels = try LoadLevels(given)
        wish.key = given.cache_key == nil ? nil : try cacheKey(given.cache_key, "sdd_load_request.cache_key")
        wish.totalLimit = try Self.totalLimit(given, defaults)
        wish.caches = client.caches
        wish.usesHTTPCache = defaults.usesHTTPCache
        wish.search = search
        plan = wish.plan(for: sources)
    }
}

// MARK: - Simple loads

/// Searches memory for a load that needs nothing but the defaults. Thread: the submitting one.
/// - Returns: nil for other loads, and for those that `LoadReading` refuses.
func searchAhead(_ given: sdd_load_request, _ client: LoaderClient) -> MemorySearch? {
    let hasOwnFields =
        given.reserved != 0 || given.download != nil || given.alternative_count != 0 || given.transforms != nil
        || given.transform_count != 0 || given.cache_key != nil || given.priority != 0
    let all = Int32(SDD_CACHE_ALL)
    let hasValidLevels =
        (-1...all).contains(given.store) && (-1...all).contains(given.original_query)
        && (-1...all).contains(given.original_store)
    let searchesMemory = given.query == SDD_CACHE_DEFAULT || given.query == SDD_CACHE_MEMORY || given.query == all
    guard !hasOwnFields, hasValidLevels, searchesMemory, (-1...longestLimit).contains(given.total_timeout_ms),
        let caches = client.caches
    else { return nil }
    let defaults = client.currentDefaults
    guard let url = try? defaults.url(given.url) else { return nil }
    // Without a transport for its scheme the load fails.
    if url.scheme == .other, (try? defaults.plugin(for: url)) == nil { return nil }
    var form = defaults.form
    if given.decode != nil {
        guard let own = try? pixelForm(given.decode, "sdd_load_request.decode") else { return nil }
        form = own
    }
    let options = RequestOptions(rawValue: given.options)
    return MemorySearch.ahead(of: url, options, in: form, caches, defaults)
}

// MARK: - Options

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
        case -1: CacheLevels(rawValue: 0)
        default: try cacheLevels(given, place)
        }
    }
}

extension LoadReading {
    private static func totalLimit(_ given: sdd_load_request, _ defaults: RequestDefaults) throws(Refusal) -> Int64 {
        switch given.total_timeout_ms {
        case 0: return defaults.totalLimit * 1000
        case -1: return 0
        case 1...longestLimit: return given.total_timeout_ms * 1000
        default:
            throw .number(
                "sdd_load_request.total_timeout_ms", given.total_timeout_ms,
                allowed: "0, SDD_NO_LIMIT, or 1 to \(longestLimit)")
        }
    }
}

// MARK: - Requests

extension LoadReading {
    /// Returns the download request for the first URL of a load.
    private static func request(_ given: sdd_load_request, _ download: sdd_download_request) -> sdd_download_request {
        var request = download
        request.url = given.url
        request.options = given.options
        (request.method, request.body, request.body_size, request.range) = (nil, nil, 0, nil)
        (request.sink, request.sink_fd) = (0, 0)
        request.priority = given.priority
        request.total_timeout_ms = 0
        request.decode = given.decode
        request.progress = given.progress
        request.completed = given.completed
        request.preview = given.preview
        request.facts = given.facts
        request.user_data = given.user_data
        request.user_data_free = given.user_data_free
        return request
    }

    private static let mostAlternatives = 64

    private static func sources(
        _ given: sdd_load_request, hasTwoOptions: Bool, _ request: sdd_download_request, _ defaults: RequestDefaults,
        _ modifiers: AppModifiers?, _ chain: TransformChain, _ client: LoaderClient, _ form: DecodeOptions?,
        _ names: RequestNames
    ) throws(Refusal) -> [LoadPlan.Source] {
        let options = RequestOptions(rawValue: given.options).withCaches(client.caches)
        let purpose = RequestPurpose(
            use: .load, load: RequestOfLoad(options: options, form: form, transforms: chain),
            showsPreviews: given.preview != nil || client.client.downloader.isAppDriven, names: names)
        func source(_ url: UnsafePointer<CChar>?) -> LoadPlan.Source {
            if hasTwoOptions { return LoadPlan.Source(.failure(twoOptions)) }
            var request = request
            request.url = url
            request.options = options.rawValue
            return LoadPlan.Source(makeRequest(request, defaults, modifiers, for: purpose))
        }
        var sources = [source(given.url)]
        if given.alternative_count == 0 { return sources }
        guard let alternatives = given.alternatives else { throw .null("sdd_load_request.alternatives") }
        guard (1...mostAlternatives).contains(given.alternative_count) else {
            throw .number(
                "sdd_load_request.alternative_count", UInt(bitPattern: given.alternative_count),
                allowed: "0 to \(mostAlternatives)")
        }
        // Safety: the library's header requires `alternative_count` elements.
        for url in UnsafeBufferPointer(start: alternatives, count: given.alternative_count) {
            sources.append(source(url))
        }
        return sources
    }

    /// The error of a load that the library submits for a batch or a prefetch list, and that the options processor made
    /// invalid.
    static let badlyProcessed = DownloadError(
        .invalidOperation, .modifier, "What the loader's options processor made of the load cannot be.")

    private static let twoOptions = DownloadError(
        .invalidOperation, .unknownOptions,
        "sdd_load_request.download: it has options, and those of the load are all that count.")
}

internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// A load, read from an sdd_load_request. Thread: the submitting one.
struct LoadReading: ~Copyable {
    /// The spec, with that of the load in it.
    private(set) var spec: RequestSpec
    /// The error that the load ends with, in place of what the spec says.
    private let error: DownloadError?
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
        let transfer = try GivenTransfer.given(given.transfer, "sdd_load_request.transfer")
        let transforms =
            given.transform_count == 0
            ? nil
            : try appTransforms(
                given.transforms, "sdd_load_request.transforms",
                count: given.transform_count, "sdd_load_request.transform_count")
        var load = LoadSpec(caches: caches)
        load.levels = try LoadLevels(given)
        load.key = given.cache_key == nil ? nil : try cacheKey(given.cache_key, "sdd_load_request.cache_key")
        load.transforms = transforms?.chain
        let others = try Self.alternatives(given)
        var made = RequestSpec()
        var failure: DownloadError?
        do throws(DownloadError) {
            made = try given.spec(for: use, hasEvents: hasEvents, optionsPlace)
            guard given.cached == nil || made.options.contains(.refreshCached) else {
                throw wrong(
                    .unknownOptions, "sdd_load_request.cached", "it is called with SDD_OPTION_REFRESH_CACHED alone")
            }
            if whole != nil, made.form?.isCallers == true { throw wrong(.badDecode, ownMemory("of a list or batch")) }
            made.transfer = try transfer?.spec() ?? whole?.transfer
            made.wholeForm = whole?.wholeForm
            made.batchLimit = whole?.batchLimit ?? 0
        } catch {
            failure = error
        }
        made.load = load
        spec = made
        error = failure
        first = given.url
        self.others = others
        appData = (transforms?.appData ?? []) + (transfer?.appData ?? [])
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

    /// Adds the limit of a call that waits.
    mutating func limit(to milliseconds: Int64) { spec = spec.limited(to: milliseconds) }

    /// Returns the plan of the load.
    /// - Parameter ahead: the search that has been made ahead.
    func plan(_ defaults: RequestDefaults, after ahead: sdd_load_request.Ahead? = nil) -> LoadPlan {
        if let error { return LoadPlan(sources: [LoadPlan.Source(.failure(error))]) }
        if let ahead { return defaults.plan(spec, [.success(ahead.url)], after: ahead.search) }
        let limit = defaults.bodyLimit(spec)
        let urls = ([first] + others).map { url in
            Result { () throws(DownloadError) in try defaults.url(url, limit: limit) }
        }
        return defaults.plan(spec, urls)
    }

    /// The error of a load that the library submits for a batch or a prefetch list, and that the options processor made
    /// invalid.
    static let badlyProcessed = DownloadError(
        .invalidOperation, .modifier, "What the loader's options processor made of the load cannot be.")
}

// MARK: - Loads that are in memory

extension sdd_load_request {
    /// A search in memory that was made before the rest of a request is read, and the URL of the request.
    typealias Ahead = (url: ImageURL, search: MemorySearch)

    /// Searches memory, if that may be all that the load needs. What is wrong with the request is found when it is
    /// read.
    /// - Parameter hasEvents: whether the application takes events.
    func searchAhead(_ caches: LoadCaches?, hasEvents: Bool, _ defaults: RequestDefaults) -> Ahead? {
        guard isPlain, let caches else { return nil }
        let options = RequestOptions(rawValue: options)
        guard let levels = try? LoadLevels(self), levels.query.contains(.memory),
            options.isDisjoint(with: .events) || hasEvents,
            let url = try? defaults.url(url, limit: defaults.maxBodyBytes)
        else { return nil }
        var form: DecodeOptions?
        if decode != nil {
            guard let read = try? pixelForm(decode, "decode") else { return nil }
            form = read
        }
        return defaults.searchAhead(options, form, caches, url).map { (url, $0) }
    }

    /// Whether the load has nothing of its own but a URL, options, a form, and what it tells the application.
    private var isPlain: Bool {
        alternative_count == 0 && transfer == nil && transform_count == 0 && cache_key == nil && integrity == nil
            && expected_bytes == 0 && cached == nil && (priority == 0 || Priority(rawValue: priority) != nil)
    }
}

// MARK: - Levels

extension LoadLevels {
    fileprivate init(_ given: sdd_load_request) throws(Refusal) {
        self.init()
        if given.query | given.store | given.original_query | given.original_store == 0 { return }
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

import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

/// The plan that a spec, a load's own wishes and the defaults of a downloader make.
@Suite struct LoadPlanTests {
    private let fixture: CacheFixture
    private let originals: CacheFixture
    private var load: LoadSpec

    init() throws {
        fixture = try CacheFixture()
        originals = try CacheFixture()
        load = LoadSpec(caches: LoadCaches(images: fixture.cache, originals: originals.cache))
    }

    /// A smaller picture, which has no bytes of its own.
    private let thumbnail: DecodeOptions = {
        var form = DecodeOptions(size: SizeRule(width: 20, height: 10))
        form.keepsBytes = false
        return form
    }()

    /// - Parameter change: of the spec.
    private func plan(
        _ load: LoadSpec, _ options: RequestOptions = [], _ url: String = "http://host/a.png",
        _ form: DecodeOptions = DecodeOptions(), _ defaults: RequestDefaults = RequestDefaults(allowsFiles: true),
        _ change: (inout RequestSpec) -> Void = { _ in }
    ) throws -> LoadPlan {
        var spec = RequestSpec(options: options)
        spec.form = form
        spec.priority = .high
        spec.wantsFacts = true
        spec.load = load
        change(&spec)
        return defaults.plan(spec, [.success(try Self.url(url))])
    }

    private static func url(_ text: String) throws -> ImageURL {
        if !text.hasPrefix("data:") { return try Sample.url(text) }
        return try Array(text.utf8).withUnsafeBufferPointer { try ImageURL(data: $0, limit: 1 << 20) }
    }

    private func lookup(_ cache: ImageCache, _ key: String, _ form: DecodeOptions, _ change: Change) -> ImageCacheLookup
    {
        ImageCacheLookup(
            cache, key: key, form: form.coloured(forLoad: true), levels: change.levels,
            originals: ImageCacheLookup.Originals(change.originals, change.originalLevels),
            wantsImage: change.wantsImage, wantsBytes: change.wantsBytes, keepsInMemory: change.keepsInMemory,
            headers: HTTPFields())
    }

    private struct Change {
        var levels = CacheLevels.all
        var originals: ImageCache
        var originalLevels = CacheLevels.disk
        var wantsImage = true
        var wantsBytes = false
        var keepsInMemory = true
    }

    private func key(_ url: String = "http://host/a.png") throws -> String {
        fixture.cache.key(of: try Self.url(url)) + fixture.cache.mark(of: .nobody)
    }

    // MARK: - Requests that caches have no part in

    @Test(
        "who asks for a part of the body, or only for a changed one, uses no cache",
        arguments: [("Range", "bytes=0-9"), ("if-none-match", "x"), ("If-Modified-Since", "x"), ("range", "x")])
    func partsUseNoCache(name: String, value: String) throws {
        // given
        var defaults = RequestDefaults(allowsFiles: true)
        defaults.setHeader(name, to: value)
        // when
        let plan = try plan(load, [], "http://host/a.png", DecodeOptions(), defaults)
        // then
        #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil)
        #expect(plan.sources[0].failedKey.isEmpty)
        let caches = try #require(load.caches)
        #expect(defaults.searchAhead([], nil, caches, try Self.url("http://host/a.png")) == nil)
    }

    @Test("only a GET asks for the picture", arguments: ["HEAD", "POST", "DELETE", "get"])
    func otherMethodsAskForOthers(method: String) throws {
        var request = try HTTPRequest(url: Self.url("http://host/a.png"))
        #expect(request.asksForWhole)
        request.method = method
        #expect(!request.asksForWhole)
    }

    // MARK: - What the plan takes from its request

    @Test func thePlanTakesWhatIsWantedFromTheFirstValidRequest() throws {
        // given
        var spec = RequestSpec(options: [.retryFailed, .bytesOnly])
        var values = TransferSpec.Values()
        values.totalLimit = 5
        spec.transfer = TransferSpec(values)
        spec.form = thumbnail
        spec.wantsFacts = true
        spec.priority = .veryLow
        spec.load = load
        // when
        let plan = RequestDefaults().plan(spec, [.failure(.closed), .success(try Self.url("http://host/a.png"))])
        // then
        #expect(plan.form.size == thumbnail.size && !plan.wantsPixels && plan.wantsFacts && plan.priority == .veryLow)
        #expect(plan.totalLimit == 5000 && plan.options == .retryFailed && plan.sources.count == 2)
        // The key is that of the first URL, and there is none.
        #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil)
    }

    @Test func ofInvalidURLsAloneThereIsNothingToTake() throws {
        // when
        let plan = RequestDefaults().plan(RequestSpec(), [.failure(.closed)])
        // then
        #expect(plan.priority == .normal && plan.wantsPixels && plan.lookup == nil && plan.store == nil)
    }

    @Test func theShorterLimitCounts() throws {
        // given
        var defaults = RequestDefaults()
        defaults.totalLimit = 7
        // then
        #expect(try plan(load, [], "http://host/a", DecodeOptions(), defaults).totalLimit == 7000)
        #expect(
            try plan(load, [], "http://host/a", DecodeOptions(), defaults) { $0.batchLimit = 6000 }.totalLimit == 6000)
        #expect(
            try plan(load, [], "http://host/a", DecodeOptions(), defaults) { $0.batchLimit = 8000 }.totalLimit == 7000)
    }

    // MARK: - Options

    @Test(arguments: RequestOptions.names.indices)
    func optionsOfTheStagesAreKept(bit: Int) throws {
        let ofStages: RequestOptions = [
            .retryFailed, .refreshCached, .fromCacheOnly, .waitStoreCache, .queryMemoryData,
        ]
        let option = RequestOptions(rawValue: 1 << UInt64(bit))
        #expect(try plan(load, option).options == option.intersection(ofStages))
    }

    @Test func bytesOfTheEntryAreLookedUpWhereTheyAreWanted() throws {
        let plan = try plan(load, .queryMemoryData)
        let expected = lookup(fixture.cache, try key(), DecodeOptions(), Change(originals: fixture.cache))
        #expect(plan.lookup?.isSame(as: expected) == false)
        var change = Change(originals: fixture.cache)
        change.wantsBytes = true
        let withBytes = lookup(fixture.cache, try key(), DecodeOptions(), change)
        #expect(plan.lookup?.isSame(as: withBytes) == true)
    }

    @Test func fromLoaderOnlyStoresWithoutLookingUp() throws {
        let (plan, key) = (try plan(load, .fromLoaderOnly), try key())
        #expect(plan.lookup == nil && plan.store?.key == key && plan.refreshed == nil)
    }

    @Test("a refresh compares only with what the load may find", arguments: [CacheLevels.memory, []])
    func aRefreshAsksOnlyTheGivenLevels(levels: CacheLevels) throws {
        var load = load
        (load.levels.query, load.levels.originalQuery) = (levels, levels)
        #expect(try plan(load, .refreshCached).refreshed == nil)
    }

    // MARK: - Which caches, and which keys

    @Test func withoutACacheThereIsNoLookup() throws {
        let plan = try plan(LoadSpec(), .refreshCached)
        #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil && plan.options == .refreshCached)
        #expect(plan.priority == .high && plan.wantsFacts)
    }

    @Test func withTheHTTPCacheTheDownloadLooksItUp() throws {
        var defaults = RequestDefaults()
        defaults.usesHTTPCache = true
        for plan in [
            try plan(load, .useHTTPCache), try plan(load, [], "http://host/a.png", DecodeOptions(), defaults),
        ] {
            #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil)
        }
    }

    @Test func theOriginalItselfIsInTheCacheOfImages() throws {
        // when
        let plan = try plan(load)
        // then
        let key = try key()
        let expected = lookup(fixture.cache, key, DecodeOptions(), Change(originals: fixture.cache))
        #expect(plan.lookup?.isSame(as: expected) == true)
        let store = try #require(plan.store)
        #expect(store.cache === fixture.cache && store.key == key && store.levels == .all && !store.isMade)
        #expect(store.original?.cache === fixture.cache && store.original?.key == key)
        // Memory has the pixels: only the bytes go to disk.
        #expect(store.original?.levels == .disk)
        #expect(plan.refreshed?.cache === fixture.cache && plan.refreshed?.key == key)
    }

    @Test func anotherFormHasItsOriginalInTheCacheOfOriginals() throws {
        // given
        var load = load
        load.levels.originalStore = .all
        // when
        let plan = try plan(load, [], "http://host/a.png", thumbnail)
        // then
        let key = try key()
        let expected = lookup(fixture.cache, key, thumbnail, Change(originals: originals.cache))
        #expect(plan.lookup?.isSame(as: expected) == true)
        let store = try #require(plan.store)
        #expect(store.cache === fixture.cache && store.isMade)
        #expect(store.key == CacheKeys.key(of: key, as: thumbnail))
        #expect(store.original?.cache === originals.cache && store.original?.key == key)
        #expect(store.original?.levels == .all)
        #expect(plan.refreshed?.cache === originals.cache && plan.refreshed?.key == key)
    }

    @Test func bytesAloneAreAnOriginal() throws {
        // when
        let plan = try plan(load, .bytesOnly, "http://host/a.png", thumbnail)
        // then
        var change = Change(originals: fixture.cache)
        (change.wantsImage, change.wantsBytes) = (false, true)
        let key = try key()
        let expected = lookup(fixture.cache, key, thumbnail, change)
        #expect(plan.lookup?.isSame(as: expected) == true)
        #expect(plan.store?.isMade == false && plan.store?.key == key)
    }

    @Test func theKeyOfTheApplicationComesFirstAndHasTheMarkOfTheCaller() throws {
        // given
        var load = load
        load.key = "mine"
        var values = TransferSpec.Values()
        values.headers = [("Authorization", "Bearer x")]
        let transfer = TransferSpec(values)
        // when
        let plan = try plan(load) { $0.transfer = transfer }
        // then
        let request = try #require(plan.sources.first).request.get()
        let mark = fixture.cache.mark(of: RequestIdentity(of: request.transfer))
        #expect(mark != fixture.cache.mark(of: .nobody))
        #expect(plan.store?.key == "mine" + mark)
    }

    // MARK: - Levels

    @Test func whatIsNotLookedUpIsStored() throws {
        var load = load
        load.levels.query = []
        #expect(try plan(load).lookup == nil)
        #expect(try plan(load).store?.levels == .all)
        // Another form may be made of the original on disk.
        #expect(try plan(load, [], "http://host/a.png", thumbnail).lookup != nil)
        load.levels.originalQuery = []
        #expect(try plan(load, [], "http://host/a.png", thumbnail).lookup == nil)
    }

    @Test func whatIsNotStoredInMemoryIsNotKeptThereEither() throws {
        // given
        var load = load
        load.levels.store = .disk
        // when
        let plan = try plan(load)
        // then
        var change = Change(originals: fixture.cache)
        change.keepsInMemory = false
        let expected = lookup(fixture.cache, try key(), DecodeOptions(), change)
        #expect(plan.lookup?.isSame(as: expected) == true)
        #expect(plan.store?.levels == .disk && plan.store?.original?.levels == .disk)
    }

    @Test func whatIsStoredNowhereHasNoOriginal() throws {
        var load = load
        load.levels.store = .memory
        #expect(try plan(load).store?.original == nil)
        load.levels.originalStore = []
        #expect(try plan(load, [], "http://host/a.png", thumbnail).store?.original == nil)
    }

    @Test func anOriginalGoesToLevelsThatItsCacheHas() throws {
        // given
        let memory = ImageCache(memory: MemoryCache(), disk: nil, counters: CacheCounters())
        let disk = ImageCache(memory: nil, disk: fixture.disk, counters: CacheCounters())
        var load = load
        load.levels.originalStore = .all
        // then
        load.caches = LoadCaches(images: fixture.cache, originals: memory)
        #expect(try plan(load, [], "http://host/a.png", thumbnail).store?.original?.levels == .memory)
        load.caches = LoadCaches(images: fixture.cache, originals: disk)
        #expect(try plan(load, [], "http://host/a.png", thumbnail).store?.original?.levels == .disk)
        load.caches = LoadCaches(images: memory, originals: disk)
        #expect(try plan(load).store?.original == nil)
    }

    // MARK: - Local URLs

    @Test(arguments: ["file:///a.png", "data:image/png,a"])
    func aLocalURLIsInMemoryAlone(url: String) throws {
        // when
        let plan = try plan(load, [], url, thumbnail)
        // then
        var change = Change(originals: originals.cache)
        (change.levels, change.originalLevels) = (.memory, [])
        let expected = lookup(fixture.cache, try key(url), thumbnail, change)
        #expect(plan.lookup?.isSame(as: expected) == true)
        #expect(plan.store?.levels == .memory && plan.store?.original == nil)
    }

    @Test func aDataURLIsNotRefreshedAndAFileIs() throws {
        let options: RequestOptions = [.refreshCached, .retryFailed]
        #expect(try plan(load, options, "data:image/png,a").options == .retryFailed)
        #expect(try plan(load, options, "file:///a.png").options == [.refreshCached, .retryFailed])
        // The HTTP cache leaves the option as it is.
        var defaults = RequestDefaults()
        defaults.usesHTTPCache = true
        let plan = try plan(load, options, "data:image/png,a", DecodeOptions(), defaults)
        #expect(plan.options == [.refreshCached, .retryFailed])
    }

    @Test func aURLThatIsTooLongForAKeyIsNotCached() throws {
        let fitting = "data:," + String(repeating: "a", count: ImageURL.maxLength - 6)
        #expect(try plan(load, .refreshCached, fitting).store != nil)
        let plan = try plan(load, .refreshCached, fitting + "a")
        #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil && plan.options == [])
    }

    @Test func theStandardLevelsAreAllAndTheDiskForOriginals() {
        let levels = LoadLevels()
        #expect(levels.query == .all && levels.store == .all)
        #expect(levels.originalQuery == .disk && levels.originalStore == .disk)
        #expect(
            levels.inMemory == LoadLevels(query: .memory, store: .memory, originalQuery: [], originalStore: []))
    }
}

import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

@Suite struct LoadWishTests {
    private let fixture: CacheFixture
    private let originals: CacheFixture
    private var wish: LoadWish

    init() throws {
        fixture = try CacheFixture()
        originals = try CacheFixture()
        wish = LoadWish()
        wish.caches = LoadCaches(images: fixture.cache, originals: originals.cache)
    }

    private let thumbnail = DecodeOptions(size: SizeRule(width: 20, height: 10))

    private func plan(
        _ wish: LoadWish, _ url: String = "http://host/a.png", _ form: DecodeOptions = DecodeOptions(),
        wantsPixels: Bool = true
    ) throws -> LoadPlan {
        var request = DownloadRequest(transfer: HTTPRequest(url: try Self.url(url)))
        request.form = form
        request.wantsPixels = wantsPixels
        request.priority = .high
        request.wantsFacts = true
        return wish.plan(for: [LoadPlan.Source(url: url, request: .success(request))])
    }

    private static func url(_ text: String) throws -> ImageURL {
        if !text.hasPrefix("data:") { return try Sample.url(text) }
        return try Array(text.utf8).withUnsafeBufferPointer { try ImageURL(data: $0, limit: 1 << 20) }
    }

    private func lookup(_ cache: ImageCache, _ key: String, _ form: DecodeOptions, _ change: Change) -> ImageCacheLookup
    {
        ImageCacheLookup(
            cache, key: key, form: form, levels: change.levels,
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

    // MARK: - What the plan takes from its request

    @Test func thePlanTakesWhatIsWantedFromTheFirstValidRequest() throws {
        // given
        var request = try Sample.request("http://host/a.png")
        request.form = thumbnail
        request.wantsPixels = false
        request.wantsFacts = true
        request.priority = .veryLow
        let bad = LoadPlan.Source(url: "", request: .failure(.closed))
        let good = LoadPlan.Source(url: "http://host/a.png", request: .success(request))
        // when
        var wish = wish
        wish.totalLimit = 5
        wish.options = .retryFailed
        let plan = wish.plan(for: [bad, good])
        // then
        #expect(plan.form == thumbnail && !plan.wantsPixels && plan.wantsFacts && plan.priority == .veryLow)
        #expect(plan.totalLimit == 5 && plan.options == .retryFailed && plan.sources.count == 2)
        // The key is that of the first URL, and there is none.
        #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil)
    }

    @Test func ofInvalidURLsAloneThereIsNothingToTake() throws {
        // when
        let plan = wish.plan(for: [LoadPlan.Source(url: "", request: .failure(.closed))])
        // then
        #expect(plan.priority == .normal && plan.wantsPixels && plan.lookup == nil && plan.store == nil)
    }

    // MARK: - Options

    private static let planned: [(RequestOptions, LoadPlan.Options)] = [
        (.retryFailed, .retryFailed),
        (.refreshCached, .refreshCached),
        (.fromCacheOnly, .fromCacheOnly),
        (.waitStoreCache, .waitsForStore),
        (.queryMemoryData, .wantsEntryBytes),
        (.queryMemoryDataSync, [.wantsEntryBytes, .asksInPlace]),
        (.queryDiskDataSync, .asksInPlace),
        ([.bytesOnly, .highPriority, .resume, .fromLoaderOnly], []),
    ]

    @Test(arguments: planned)
    func anOptionSaysHowTheStagesGo(option: RequestOptions, planned: LoadPlan.Options) throws {
        var wish = wish
        wish.options = option
        #expect(try plan(wish).options == planned)
    }

    @Test func bytesOfTheEntryAreLookedUpWhereTheyAreWanted() throws {
        var wish = wish
        wish.options = .queryMemoryData
        let expected = lookup(fixture.cache, try key(), DecodeOptions(), Change(originals: fixture.cache))
        #expect(try plan(wish).lookup?.isSame(as: expected) == false)
        var change = Change(originals: fixture.cache)
        change.wantsBytes = true
        let withBytes = lookup(fixture.cache, try key(), DecodeOptions(), change)
        #expect(try plan(wish).lookup?.isSame(as: withBytes) == true)
    }

    @Test func fromLoaderOnlyStoresWithoutLookingUp() throws {
        var wish = wish
        wish.options = .fromLoaderOnly
        let (plan, key) = (try plan(wish), try key())
        #expect(plan.lookup == nil && plan.store?.key == key && plan.refreshed?.key == key)
    }

    // MARK: - Which caches, and which keys

    @Test func withoutACacheThereIsNoLookup() throws {
        var wish = wish
        wish.caches = nil
        wish.options = .refreshCached
        let plan = try plan(wish)
        #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil && plan.options == .refreshCached)
        #expect(plan.priority == .high && plan.wantsFacts)
    }

    @Test func withTheHTTPCacheTheDownloadLooksItUp() throws {
        var ofOption = wish
        ofOption.options = .useHTTPCache
        var ofDownloader = wish
        ofDownloader.usesHTTPCache = true
        for wish in [ofOption, ofDownloader] {
            let plan = try plan(wish)
            #expect(plan.lookup == nil && plan.store == nil && plan.refreshed == nil)
        }
    }

    @Test func theOriginalItselfIsInTheCacheOfImages() throws {
        // when
        let plan = try plan(wish)
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
        var wish = wish
        wish.levels.originalStore = .all
        // when
        let plan = try plan(wish, "http://host/a.png", thumbnail)
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
        let plan = try plan(wish, "http://host/a.png", thumbnail, wantsPixels: false)
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
        var wish = wish
        wish.key = "mine"
        var request = try Sample.request("http://host/a.png")
        request.transfer.headers.set("Authorization", to: "Bearer x")
        // when
        let plan = wish.plan(for: [LoadPlan.Source(url: "", request: .success(request))])
        // then
        let mark = fixture.cache.mark(of: RequestIdentity(of: request.transfer))
        #expect(mark != fixture.cache.mark(of: .nobody))
        #expect(plan.store?.key == "mine" + mark)
    }

    // MARK: - Levels

    @Test func whatIsNotLookedUpIsStored() throws {
        var wish = wish
        wish.levels.query = []
        #expect(try plan(wish).lookup == nil)
        #expect(try plan(wish).store?.levels == .all)
        // Another form may be made of the original on disk.
        #expect(try plan(wish, "http://host/a.png", thumbnail).lookup != nil)
        wish.levels.originalQuery = []
        #expect(try plan(wish, "http://host/a.png", thumbnail).lookup == nil)
    }

    @Test func whatIsNotStoredInMemoryIsNotKeptThereEither() throws {
        // given
        var wish = wish
        wish.levels.store = .disk
        // when
        let plan = try plan(wish)
        // then
        var change = Change(originals: fixture.cache)
        change.keepsInMemory = false
        let expected = lookup(fixture.cache, try key(), DecodeOptions(), change)
        #expect(plan.lookup?.isSame(as: expected) == true)
        #expect(plan.store?.levels == .disk && plan.store?.original?.levels == .disk)
    }

    @Test func whatIsStoredNowhereHasNoOriginal() throws {
        var wish = wish
        wish.levels.store = .memory
        #expect(try plan(wish).store?.original == nil)
        wish.levels.originalStore = []
        #expect(try plan(wish, "http://host/a.png", thumbnail).store?.original == nil)
    }

    @Test func anOriginalGoesToLevelsThatItsCacheHas() throws {
        // given
        let memory = ImageCache(memory: MemoryCache(), disk: nil, counters: CacheCounters())
        let disk = ImageCache(memory: nil, disk: fixture.disk, counters: CacheCounters())
        var wish = wish
        wish.levels.originalStore = .all
        // then
        wish.caches = LoadCaches(images: fixture.cache, originals: memory)
        #expect(try plan(wish, "http://host/a.png", thumbnail).store?.original?.levels == .memory)
        wish.caches = LoadCaches(images: fixture.cache, originals: disk)
        #expect(try plan(wish, "http://host/a.png", thumbnail).store?.original?.levels == .disk)
        wish.caches = LoadCaches(images: memory, originals: disk)
        #expect(try plan(wish).store?.original == nil)
    }

    // MARK: - Local URLs

    @Test(arguments: ["file:///a.png", "data:image/png,a"])
    func aLocalURLIsInMemoryAlone(url: String) throws {
        // when
        let plan = try plan(wish, url, thumbnail)
        // then
        var change = Change(originals: originals.cache)
        (change.levels, change.originalLevels) = (.memory, [])
        let expected = lookup(fixture.cache, try key(url), thumbnail, change)
        #expect(plan.lookup?.isSame(as: expected) == true)
        #expect(plan.store?.levels == .memory && plan.store?.original == nil)
    }

    @Test func aDataURLIsNotRefreshedAndAFileIs() throws {
        var wish = wish
        wish.options = [.refreshCached, .retryFailed]
        #expect(try plan(wish, "data:image/png,a").options == .retryFailed)
        #expect(try plan(wish, "file:///a.png").options == [.refreshCached, .retryFailed])
        // The HTTP cache leaves the option as it is.
        wish.usesHTTPCache = true
        #expect(try plan(wish, "data:image/png,a").options == [.refreshCached, .retryFailed])
    }

    @Test func aURLThatIsTooLongForAKeyIsNotCached() throws {
        var wish = wish
        wish.options = .refreshCached
        let fitting = "data:," + String(repeating: "a", count: ImageURL.maxLength - 6)
        #expect(try plan(wish, fitting).store != nil)
        let plan = try plan(wish, fitting + "a")
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

import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

@Suite struct RequestWishTests {
    private let url = "http://host/a.png"

    private func request(_ wish: RequestWish, _ url: String?, _ defaults: RequestDefaults = RequestDefaults())
        -> Result<DownloadRequest, DownloadError>
    {
        entry(url).withURL { wish.request(for: $0, defaults) }
    }

    private func plan(
        _ load: LoadWish, _ request: RequestWish = RequestWish(), _ defaults: RequestDefaults = RequestDefaults(),
        in form: DecodeOptions? = nil
    ) throws -> (plan: LoadPlan, request: DownloadRequest) {
        let plan = entry(url).withURL { load.plan(for: $0, request, defaults, in: form) }
        return (plan, try #require(plan.sources.first).request.get())
    }

    private func entry(_ url: String?) -> BatchEntry { BatchEntry(url: url.map { Array($0.utf8) + [0] }, id: 0) }

    // MARK: - Requests

    @Test func aRequestHasTheWishesAndTheDefaults() throws {
        // given
        var defaults = RequestDefaults()
        defaults.setHeader("Referer", to: "http://other/")
        defaults.queueLimit = 2
        defaults.form = DecodeOptions(format: .grey8)
        let wish = RequestWish(options: [.lowPriority, .avoidDecodeImage, .bodyAsSent], maxAttempts: 3)
        // when
        let made = try request(wish, url, defaults).get()
        // then
        #expect(made.transfer.url.text == url && made.transfer.method == "GET" && made.transfer.body == nil)
        #expect(made.transfer.headers["Referer"] == "http://other/" && made.transfer.options.values.staysPacked)
        #expect(made.priority == .low && made.maxAttempts == 3 && made.queueLimit == 2000)
        #expect(made.form == DecodeOptions(format: .grey8, isLazy: true))
    }

    @Test func aPriorityAndAFormComeBeforeOptionsAndDefaults() throws {
        // given
        let wish = RequestWish(
            options: [.highPriority, .avoidDecodeImage], priority: .veryLow, form: DecodeOptions(format: .rgb8))
        // when
        let made = try request(wish, url).get()
        // then
        #expect(made.priority == .veryLow && made.form == DecodeOptions(format: .rgb8, isLazy: true))
    }

    @Test func withoutOptionsOfTheTransferItsOptionsAreShared() throws {
        let defaults = RequestDefaults()
        #expect(try request(RequestWish(), url, defaults).get().transfer.options === defaults.options)
        #expect(defaults.transferOptions(.allowInvalidCertificates) !== defaults.options)
    }

    @Test func whatIsWrongEndsTheRequest() {
        for (url, detail) in [(nil, DownloadError.Detail.urlNull), ("", .urlEmpty), ("a", .urlMalformed)] {
            let made = request(RequestWish(), url)
            #expect(throws: DownloadError.self) { try made.get() }
            if case .failure(let error) = made { #expect(error.detail == detail) }
        }
    }

    @Test func theModifierOfTheDownloaderChangesTheRequest() throws {
        // given
        struct Modifiers: RequestModifiers {
            var changesRequests: Bool { true }
            var bodyWork: BodyWork? { nil }

            func change(_ draft: inout RequestDraft, _ defaults: RequestDefaults) -> Bool {
                draft.headers.set("X", to: "y")
                return draft.url.text.hasSuffix("a.png")
            }
        }
        var defaults = RequestDefaults()
        defaults.modifiers = Modifiers()
        // then
        #expect(try request(RequestWish(), url, defaults).get().transfer.headers["X"] == "y")
        #expect(throws: DownloadError.self) { try request(RequestWish(), "http://host/b", defaults).get() }
    }

    // MARK: - Loads

    @Test func aLoadHasTheTimeAndTheCacheOfItsLoader() throws {
        // given
        let fixture = try CacheFixture()
        var defaults = RequestDefaults()
        defaults.totalLimit = 7
        defaults.usesHTTPCache = true
        var load = LoadWish(options: .resume)
        load.caches = LoadCaches(images: fixture.cache, originals: fixture.cache)
        // when
        let (plan, made) = try plan(load, RequestWish(), defaults)
        // then
        #expect(plan.totalLimit == 7000 && plan.lookup == nil)
        let lookup = try #require(made.lookup as? HTTPCacheLookup)
        #expect(lookup.cache === fixture.cache && lookup.wishes == [.http, .resumes])
        #expect(plan.sources.first?.url == url)
    }

    @Test func withoutCachesTheDownloadHasNone() throws {
        // given
        let fixture = try CacheFixture()
        var defaults = RequestDefaults()
        defaults.cache = fixture.cache
        defaults.resumes = true
        // then
        #expect(try plan(LoadWish(options: [.useHTTPCache, .resume]), RequestWish(), defaults).request.lookup == nil)
    }

    @Test func theOptionsAreThoseOfTheLoad() throws {
        // when
        let load = LoadWish(options: [.retryFailed, .bytesOnly, .transformAnimatedImage])
        let (plan, made) = try plan(load, RequestWish(options: .highPriority, priority: .veryLow))
        // then
        #expect(plan.options == .retryFailed && !plan.wantsPixels && plan.priority == .veryLow)
        #expect(made.form.transformsAnimated && !made.wantsPixels)
    }

    @Test func anImageThatIsMadeSmallerHasNoBytesOfItsOwn() throws {
        let small = DecodeOptions(size: SizeRule(width: 5, height: 5))
        #expect(try plan(LoadWish()).request.form.keepsBytes)
        #expect(try !plan(LoadWish(), RequestWish(form: small)).request.form.keepsBytes)
        #expect(try !plan(LoadWish(), RequestWish(), in: small).plan.form.keepsBytes)
    }

    @Test func anImageWithoutTransformsKeepsItsBytes() throws {
        // given
        let (none, one) = (TransformChain(), TransformChain([.rotate(.one)]))
        func keepsBytes(_ transforms: TransformChain?) throws -> Bool {
            let made = DownloadRequest.Parts(transfer: try Sample.request(url).transfer)
            RequestOfLoad(options: [], transforms: transforms).adapt(made)
            return made.form.keepsBytes
        }
        // then
        #expect(try keepsBytes(nil) && keepsBytes(none) && !keepsBytes(one))
    }

    @Test func noPreviewsAreMadeThatNobodyIsShown() throws {
        #expect(try !plan(LoadWish(options: .progressiveLoad)).request.wantsPreviews)
    }

    @Test func aCheckedURLIsCheckedAgainByTheDefaultsOfNow() throws {
        // given
        let checked = try Sample.url("memo:a", others: ["memo"])
        var defaults = RequestDefaults()
        // then
        let refused = LoadWish().plan(for: checked, RequestWish(), defaults)
        #expect(throws: DownloadError.self) { try #require(refused.sources.first).request.get() }
        #expect(refused.sources.first?.url == "")
        let transport = FakeAppTransport()
        defaults.add(transport, scheme: "memo")
        let taken = LoadWish().plan(for: checked, RequestWish(), defaults)
        #expect(try taken.sources.first?.request.get().transfer.plugin === transport)
    }

    @Test func aLongDataURLIsNotAskedFor() {
        let longest = String(repeating: "a", count: ImageURL.maxLength)
        #expect(LoadPlan.Source.askedURL(longest) == longest)
        #expect(LoadPlan.Source.askedURL(longest + "a") == "")
    }
}

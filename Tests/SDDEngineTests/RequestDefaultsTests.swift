import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

@Suite struct RequestDefaultsTests {
    private func draft(_ url: String = "http://host/a.png", others: [String] = []) throws -> RequestDraft {
        RequestDraft(url: try Sample.url(url, others: others), headers: HTTPFields())
    }

    private func made(
        _ defaults: RequestDefaults, _ options: RequestOptions = [], _ url: String = "http://host/a.png",
        isLoad: Bool = false
    ) throws -> DownloadRequest {
        var spec = RequestSpec(options: options)
        if isLoad { spec.load = LoadSpec() }
        return try defaults.resolve(spec, try Self.check(url, defaults))
    }

    private static func check(_ text: String?, _ defaults: RequestDefaults) throws(DownloadError) -> ImageURL {
        guard let text else { return try defaults.url(checking: nil, limit: defaults.maxBodyBytes) }
        return try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(DownloadError) in
            try defaults.url(checking: bytes, limit: defaults.maxBodyBytes)
        }
    }

    private static func error(of url: String?, _ defaults: RequestDefaults = RequestDefaults()) -> DownloadError? {
        do throws(DownloadError) {
            _ = try check(url, defaults)
            return nil
        } catch {
            return error
        }
    }

    // MARK: - Options

    private static let flags: [(RequestOptions, any KeyPath<DownloadRequest, Bool> & Sendable)] = [
        (.stopWhenComplete, \.endsEarly), (.continueInBackground, \.continuesInBackground),
        (.avoidDecodeImage, \.form.isLazy), (.handleCookies, \.transfer.options.values.usesCookies),
        (.bodyAsSent, \.transfer.options.values.staysPacked),
    ]

    @Test(arguments: flags)
    func anOptionSetsItsFlag(option: RequestOptions, flag: any KeyPath<DownloadRequest, Bool> & Sendable) throws {
        #expect(try made(RequestDefaults())[keyPath: flag] == false)
        #expect(try made(RequestDefaults(), option)[keyPath: flag])
    }

    @Test func bytesAloneHaveNoEarlyEnd() throws {
        // when
        let request = try made(RequestDefaults(), [.bytesOnly, .stopWhenComplete])
        // then
        #expect(!request.wantsPixels && !request.endsEarly)
    }

    @Test func optionsChangeTheForm() {
        let form = DecodeOptions()
        #expect(form.with([]) == form)
        #expect(form.with(.preloadAllFrames).frames == .preload)
        #expect(form.with([.preloadAllFrames, .decodeFirstFrameOnly]).frames == .firstOnly)
        #expect(!DecodeOptions(isLazy: true).with([]).isLazy)
    }

    @Test func invalidCertificatesAreAcceptedOnRequestAlone() throws {
        #expect(try made(RequestDefaults()).transfer.options.values.verifiesCertificate)
        let request = try made(RequestDefaults(), .allowInvalidCertificates)
        #expect(!request.transfer.options.values.verifiesCertificate)
    }

    // MARK: - Defaults

    @Test func aRequestHasTheDefaultsOfItsDownloader() throws {
        // given
        var defaults = RequestDefaults()
        defaults.queueLimit = 3
        defaults.totalLimit = 4
        defaults.acceptance = .all
        defaults.form = DecodeOptions(format: .grey8)
        defaults.modifiers = FakeModifiers()
        defaults.clocks.stall = 7
        defaults.proxyUserinfo = "me:secret"
        // when
        let request = try made(defaults)
        // then
        #expect(request.queueLimit == 3000 && request.totalLimit == 4000)
        #expect(request.acceptance === Acceptance.all && request.form.format == .grey8)
        #expect(request.bodyWork == Sample.bodyWork(1))
        #expect(request.transfer.options.values.clocks.stall == 7)
        #expect(request.transfer.options.values.proxyUserinfo == "me:secret")
    }

    @Test func acceptFollowsTheCodersUntilTheApplicationSetsIt() {
        var defaults = RequestDefaults()
        defaults.follow(1, accept: "image/a")
        #expect(defaults.headers["Accept"] == "image/a" && defaults.followedChanges == 1)
        defaults.setHeader("accept", to: "image/b")
        defaults.follow(2, accept: "image/c")
        #expect(defaults.headers["Accept"] == "image/b" && defaults.followedChanges == nil)
    }

    // MARK: - Modifiers

    private struct FakeModifiers: RequestModifiers {
        var changesRequests = true
        var method = "POST"
        var accepts = true
        var bodyWork: BodyWork? { Sample.bodyWork(1) }
        func bodyWork(over standard: (any RequestModifiers)?) -> BodyWork? { bodyWork }

        func change(_ draft: inout RequestDraft, _ defaults: RequestDefaults) -> Bool {
            draft.method = method
            return accepts
        }
    }

    @Test func aMethodWithoutABodyRemovesTheBody() throws {
        var draft = try draft()
        draft.method = "POST"
        draft.body = try Sample.body([1])
        draft.method = "PUT"
        #expect(draft.body != nil)
        draft.method = "HEAD"
        #expect(draft.body == nil && !draft.mayHaveBody)
    }

    // MARK: - Caches and cookies

    @Test func theHTTPCacheIsForWhoWantsIt() throws {
        // given
        let fixture = try CacheFixture()
        var defaults = RequestDefaults()
        defaults.cache = fixture.cache
        func wishes(_ options: RequestOptions) throws -> HTTPCacheLookup.Wishes? {
            (try made(defaults, options).lookup as? HTTPCacheLookup)?.wishes
        }
        // then
        #expect(try wishes([]) == nil)
        #expect(try wishes(.ignoreCachedResponse) == [.http, .ignoresCached])
        #expect(try wishes(.useHTTPCache) == .http)
        #expect(try wishes([.useHTTPCache, .ignoreCachedResponse]) == [.http, .ignoresCached])
        #expect(try wishes(.resume) == .resumes)
        defaults.usesHTTPCache = true
        defaults.resumes = true
        #expect(try wishes([]) == [.http, .resumes])
    }

    @Test func theSharedCacheStandsIn() throws {
        // given
        let fixture = try CacheFixture()
        let cache = fixture.cache
        let defaults = RequestDefaults(sharedCache: { cache })
        // then
        #expect((try made(defaults, .useHTTPCache).lookup as? HTTPCacheLookup)?.cache === cache)
        #expect(try made(defaults).lookup == nil)
        // Nothing is found where there is no cache.
        #expect(try made(RequestDefaults(), .useHTTPCache).lookup is BarredLookup)
    }

    @Test func cookiesAreLookedUpForCaches() throws {
        // given
        var defaults = RequestDefaults()
        let jar = try CookieJar(file: nil)
        #expect(jar.set(Cookie(name: "a", value: "b", domain: "host.example")))
        defaults.cookies = jar
        let url = "http://host.example/"
        // then
        #expect(try made(defaults, .handleCookies, url).transfer.cookies == nil)
        #expect(try made(defaults, [.handleCookies, .resume], url).transfer.cookies?.count == 1)
        #expect(try made(defaults, .handleCookies, url, isLoad: true).transfer.cookies?.count == 1)
        #expect(try made(defaults, [], url, isLoad: true).transfer.cookies == nil)
        #expect(try made(defaults, .handleCookies, url).transfer.options.values.cookieVersion == jar.version)
    }

    @Test func aDataURLHasItsAnswerInItUnlessItIsRefused() throws {
        var defaults = RequestDefaults()
        #expect(try made(defaults, [], "data:,a").lookup is DataURLLookup)
        defaults.refusesDataURLs = true
        #expect(throws: DownloadError.self) { try made(defaults, [], "data:,a") }
    }

    @Test func aLoadWithoutCachesHasNoHTTPCache() throws {
        // given
        let fixture = try CacheFixture()
        let caches = LoadCaches(images: fixture.cache, originals: fixture.cache)
        var defaults = RequestDefaults()
        (defaults.usesHTTPCache, defaults.resumes) = (true, true)
        // then
        let (with, without) = (defaults.withCache(caches.images), defaults.withCache(nil))
        #expect(with.cache === fixture.cache && with.usesHTTPCache && with.resumes)
        #expect(without.cache == nil && !without.usesHTTPCache && !without.resumes)
    }

    // MARK: - URLs

    @Test func anInvalidURLSaysWhyWithoutSecrets() {
        #expect(Self.error(of: nil)?.detail == .urlNull)
        #expect(Self.error(of: "")?.detail == .urlEmpty)
        #expect(Self.error(of: "file:///a")?.detail == .urlScheme)
        #expect(Self.error(of: "file:///a", RequestDefaults(allowsFiles: true)) == nil)
        let error = Self.error(of: "http://me:secret@ho st/?token")
        #expect(error?.detail == .urlMalformed)
        #expect(error?.message.contains("\"ho st/\"") == true && error?.message.contains("secret") == false)
        #expect(Self.error(of: "http://host/" + String(repeating: "a", count: 65_536))?.detail == .urlTooLong)
    }

    @Test func aDataURLMayBeAsLongAsABodyInBase64() {
        let defaults = RequestDefaults(maxBodyBytes: 3)
        #expect(Self.error(of: "data:," + String(repeating: "a", count: 1022), defaults) == nil)
        #expect(Self.error(of: "data:," + String(repeating: "a", count: 1023), defaults)?.detail == .urlTooLong)
    }

    @Test func theNewestTransportOfASchemeFetches() throws {
        // given
        let (first, second, any) = (FakeAppTransport(), FakeAppTransport(), FakeAppTransport())
        var defaults = RequestDefaults()
        defaults.add(any, scheme: RequestDefaults.anyScheme)
        defaults.add(first, scheme: "memo")
        defaults.add(second, scheme: "memo")
        // then
        #expect(try made(defaults, [], "MEMO:a").transfer.appTransport === second)
        #expect(try made(defaults, [], "other:a").transfer.appTransport === any)
        let removed = defaults.removeAppTransport(of: "memo")
        #expect(removed)
        #expect(try made(defaults, [], "memo:a").transfer.appTransport === first)
        #expect(RequestDefaults().appTransports.isEmpty && Self.error(of: "memo:a")?.detail == .urlScheme)
    }
}

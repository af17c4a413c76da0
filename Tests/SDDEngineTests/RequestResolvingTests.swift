import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

/// The request that a spec and the defaults of a downloader make of a URL.
@Suite struct RequestResolvingTests {
    private let url = "http://host/a.png"

    private func request(
        _ spec: RequestSpec, _ url: String?, _ defaults: RequestDefaults = RequestDefaults()
    ) -> Result<DownloadRequest, DownloadError> {
        BatchEntry(url: url.map { Array($0.utf8) + [0] }, id: 0).withURL { defaults.resolve(spec, checking: $0) }
    }

    private func spec(_ options: RequestOptions = [], _ change: (inout RequestSpec) -> Void = { _ in }) -> RequestSpec {
        var spec = RequestSpec(options: options)
        change(&spec)
        return spec
    }

    private func spec(_ change: (inout TransferSpec.Values) -> Void) -> RequestSpec {
        var values = TransferSpec.Values()
        change(&values)
        var spec = RequestSpec()
        spec.transfer = TransferSpec(values)
        return spec
    }

    private func limited(_ spec: RequestSpec, _ limit: Int64) -> RequestSpec {
        var spec = spec
        spec.batchLimit = limit
        return spec
    }

    private func plan(
        _ options: RequestOptions = [], _ load: LoadSpec = LoadSpec(), _ defaults: RequestDefaults = RequestDefaults(),
        _ change: (inout RequestSpec) -> Void = { _ in }
    ) throws -> (plan: LoadPlan, request: DownloadRequest) {
        let spec = spec(options) { spec in
            spec.load = load
            change(&spec)
        }
        let plan = defaults.plan(spec, [.success(try Sample.url(url))])
        return (plan, try #require(plan.sources.first).request.get())
    }

    // MARK: - Requests

    @Test func aRequestHasTheSpecAndTheDefaults() throws {
        // given
        var defaults = RequestDefaults()
        defaults.setHeader("Referer", to: "http://other/")
        defaults.queueLimit = 2
        defaults.form = DecodeOptions(format: .grey8)
        var spec = spec { $0.maxAttempts = 3 }
        spec.options = [.avoidDecodeImage, .bodyAsSent]
        spec.priority = .low
        // when
        let made = try request(spec, url, defaults).get()
        // then
        #expect(made.transfer.url.text == url && made.transfer.method == "GET" && made.transfer.body == nil)
        #expect(made.transfer.headers["Referer"] == "http://other/" && made.transfer.options.values.staysPacked)
        #expect(made.priority == .low && made.maxAttempts == 3 && made.queueLimit == 2000)
        #expect(made.form == DecodeOptions(format: .grey8, isLazy: true))
    }

    @Test func aFormComesBeforeTheDefaultsAndAWholeOneBeforeOptions() throws {
        // given
        var defaults = RequestDefaults()
        defaults.form = DecodeOptions(format: .grey8)
        let own = spec(.avoidDecodeImage) { $0.form = DecodeOptions(format: .rgb8) }
        let whole = spec(.avoidDecodeImage) { $0.wholeForm = DecodeOptions(format: .rgb8) }
        // then
        #expect(try request(own, url, defaults).get().form == DecodeOptions(format: .rgb8, isLazy: true))
        #expect(try request(whole, url, defaults).get().form == DecodeOptions(format: .rgb8))
    }

    @Test func withoutOptionsOfTheTransferItsOptionsAreShared() throws {
        let defaults = RequestDefaults()
        #expect(try request(RequestSpec(), url, defaults).get().transfer.options === defaults.options)
        let other = try request(spec(.allowInvalidCertificates), url, defaults).get()
        #expect(other.transfer.options !== defaults.options)
        // What concerns the request alone leaves the transfer's options as they are.
        let limited = spec { ($0.queueLimit, $0.maxAttempts) = (1, 2) }
        #expect(try request(limited, url, defaults).get().transfer.options === defaults.options)
    }

    @Test func whatIsWrongEndsTheRequest() {
        for (url, detail) in [(nil, DownloadError.Detail.urlNull), ("", .urlEmpty), ("a", .urlMalformed)] {
            let made = request(RequestSpec(), url)
            #expect(throws: DownloadError.self) { try made.get() }
            if case .failure(let error) = made { #expect(error.detail == detail) }
        }
    }

    @Test func theLimitOnTheBodyIsThatOnDataURLsToo() throws {
        let defaults = RequestDefaults(maxBodyBytes: 3)
        let long = "data:," + String(repeating: "a", count: 2000)
        #expect(throws: DownloadError.self) { try request(RequestSpec(), long, defaults).get() }
        #expect(throws: Never.self) { try request(spec { $0.maxBodyBytes = 3000 }, long, defaults).get() }
    }

    @Test func theSpecOfATransferReplacesTheDefaults() throws {
        // given
        var defaults = RequestDefaults()
        (defaults.clocks.connect, defaults.clocks.stall, defaults.clocks.slowness) = (1, 2, 3)
        (defaults.queueLimit, defaults.totalLimit) = (4, 5)
        defaults.credential = Credential()
        let spec = spec { values in
            values.connectLimit = 0
            values.stallLimit = 20
            values.queueLimit = 0
            values.totalLimit = 50
            values.credential = .own(nil)
            values.redirects = .refuse
            values.maxRedirects = 6
            values.caFile = "/ca"
        }
        // when
        let made = try request(spec, url, defaults).get()
        // then
        let values = made.transfer.options.values
        #expect(values.clocks.connect == 0 && values.clocks.stall == 20 && values.clocks.slowness == 3)
        #expect(made.queueLimit == 0 && made.totalLimit == 50_000 && values.credential == nil)
        #expect(values.redirects == .refuse && values.maxRedirects == 6 && values.caFile == "/ca")
    }

    @Test(
        "the limit on stalling is that on connecting, too, if nobody has set another",
        arguments: [(nil, true, 20), (nil, false, 1), (30, true, 30)] as [(Int64?, Bool, Int64)])
    func connectingFollowsStalling(own: Int64?, follows: Bool, limit: Int64) throws {
        var defaults = RequestDefaults()
        (defaults.clocks.connect, defaults.clocks.stall, defaults.connectFollowsStall) = (1, 2, follows)
        let spec = spec { ($0.connectLimit, $0.stallLimit) = (own, 20) }
        #expect(try request(spec, url, defaults).get().transfer.options.values.clocks.connect == limit)
    }

    @Test func headersReplaceThoseOfTheDownloaderByName() throws {
        // given
        var defaults = RequestDefaults()
        defaults.setHeader("X", to: "1")
        defaults.setHeader("Y", to: "2")
        let spec = spec { $0.headers = [("x", "3"), ("X", "4"), ("Y", nil)] }
        // when
        let fields = try request(spec, url, defaults).get().transfer.headers
        // then
        #expect(fields["X"] == "3" && fields["Y"] == nil)
    }

    @Test func anAcceptanceLeavesWhatItDoesNotSayToTheDownloader() throws {
        // given
        var defaults = RequestDefaults()
        defaults.acceptance = try #require(Acceptance(statuses: "404", types: "image/*"))
        let spec = spec { values in
            values.acceptance = Acceptance(statuses: "200", types: nil)
            values.leavesTypes = true
        }
        // when
        let made = try request(spec, url, defaults).get().acceptance
        // then
        #expect(made.takes(status: 200) && !made.takes(status: 404))
        #expect(made.takes(type: "image/png") && !made.takes(type: "text/html"))
    }

    @Test func theShorterOfTwoLimitsCounts() throws {
        let spec = spec { $0.totalLimit = 50 }
        #expect(try request(limited(spec, 20_000), url).get().totalLimit == 20_000)
        #expect(try request(limited(spec, 70_000), url).get().totalLimit == 50_000)
        #expect(shorter(0, 3) == 3 && shorter(3, 0) == 3 && shorter(0, 0) == 0)
    }

    @Test func previewsAreOfPicturesAlone() throws {
        for (options, areMade) in [(RequestOptions(), true), (.bytesOnly, false)] {
            let made = try request(spec(options) { $0.wantsPreviews = true }, url).get()
            #expect(made.wantsPreviews == areMade)
        }
    }

    @Test func memoryOfTheCallerIsNotForLater() throws {
        var pixels: UInt8 = 0
        withUnsafeMutablePointer(to: &pixels) { base in
            let space = PixelSpace(base: UnsafeMutableRawPointer(base), size: 1, stride: 0)
            let form = DecodeOptions(memory: PixelMemory(owner: .caller(space), rowAlignment: 1))
            #expect(throws: Never.self) { try request(spec { $0.form = form }, url).get() }
            let made = request(spec(.avoidDecodeImage) { $0.form = form }, url)
            if case .failure(let error) = made { #expect(error.detail == .badDecode) } else { #expect(Bool(false)) }
        }
    }

    @Test func aSinkTakesTheBodyAlone() throws {
        // given
        var sending = RequestSpec.Sending()
        sending.sink = .discard
        let discarding = spec { $0.sending = sending }
        sending.sink = .descriptor(-1)
        let closed = spec { $0.sending = sending }
        var checked = discarding
        checked.check = BodyCheck(sha256: nil, count: 1)
        // then
        let made = try request(discarding, url).get()
        #expect(made.transfer.sink != nil && !made.wantsPixels)
        for spec in [closed, checked] {
            if case .failure(let error) = request(spec, url) {
                #expect(error.detail == .badSink)
            } else {
                #expect(Bool(false))
            }
        }
    }

    // MARK: - Modifiers

    private struct Modifiers: RequestModifiers {
        var changesRequests = true
        var method = "POST"
        var accepts = true
        var bodyWork: BodyWork? { nil }
        func bodyWork(over standard: (any RequestModifiers)?) -> BodyWork? { standard?.bodyWork }

        func change(_ draft: inout RequestDraft, _ defaults: RequestDefaults) -> Bool {
            draft.method = method
            draft.headers.set("X", to: "y")
            return accepts
        }
    }

    @Test func theModifierOfTheRequestTakesPrecedence() throws {
        // given
        var defaults = RequestDefaults()
        defaults.modifiers = Modifiers(method: "PUT")
        func method(_ own: Modifiers?) throws -> String {
            try request(spec { $0.modifiers = own }, url, defaults).get().transfer.method
        }
        // then
        #expect(try method(nil) == "PUT" && method(Modifiers()) == "POST")
        #expect(try method(Modifiers(changesRequests: false)) == "PUT")
        #expect(try request(RequestSpec(), url, defaults).get().transfer.headers["X"] == "y")
    }

    @Test func aModifierMayRefuse() throws {
        var defaults = RequestDefaults()
        defaults.modifiers = Modifiers(accepts: false)
        #expect(throws: DownloadError.self) { try request(RequestSpec(), url, defaults).get() }
    }

    // MARK: - Loads

    @Test func aLoadHasTheTimeAndTheCacheOfItsLoader() throws {
        // given
        let fixture = try CacheFixture()
        var defaults = RequestDefaults()
        defaults.totalLimit = 7
        defaults.usesHTTPCache = true
        let load = LoadSpec(caches: LoadCaches(images: fixture.cache, originals: fixture.cache))
        // when
        let (plan, made) = try plan(.resume, load, defaults)
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
        (defaults.resumes, defaults.usesHTTPCache) = (true, true)
        // then
        #expect(try plan([.useHTTPCache, .resume], LoadSpec(), defaults).request.lookup == nil)
    }

    @Test func theOptionsAreThoseOfTheLoad() throws {
        // when
        let (plan, made) = try plan([.retryFailed, .bytesOnly, .transformAnimatedImage]) { $0.priority = .veryLow }
        // then
        #expect(plan.options == .retryFailed && !plan.wantsPixels && plan.priority == .veryLow)
        #expect(made.form.transformsAnimated && !made.wantsPixels)
    }

    @Test func anImageThatIsMadeSmallerHasNoBytesOfItsOwn() throws {
        let small = DecodeOptions(size: SizeRule(width: 5, height: 5))
        #expect(try plan().request.form.keepsBytes)
        #expect(try !plan { $0.form = small }.request.form.keepsBytes)
        #expect(try !plan { $0.wholeForm = small }.plan.form.keepsBytes)
    }

    @Test func anImageWithoutTransformsKeepsItsBytes() throws {
        // given
        let (none, one) = (TransformChain(), TransformChain([.rotate(.one)]))
        func keepsBytes(_ transforms: TransformChain?) throws -> Bool {
            var load = LoadSpec()
            load.transforms = transforms
            return try plan([], load).request.form.keepsBytes
        }
        // then
        #expect(try keepsBytes(nil) && keepsBytes(none) && !keepsBytes(one))
    }

    @Test func aLongDataURLIsNotAskedFor() {
        let longest = String(repeating: "a", count: ImageURL.maxLength)
        #expect(LoadPlan.Source.askedURL(longest) == longest)
        #expect(LoadPlan.Source.askedURL(longest + "a") == "")
    }
}

import SDDBase
import SDDCaches
import SDDTransport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Jobs that look into a cache before they go to the network.
@Suite struct AskingTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    // MARK: Before the network

    @Test func aCacheIsAskedBeforeTheNetwork() throws {
        // when
        let token = try driver.submit(0, asking: FakeLookup())
        // then
        #expect(driver.commands().isEmpty && driver.cacheTasks().asked == [1])
        #expect(driver.table.currentDownloadCount == 0 && driver.table.currentStatistics.decoding == 0)
        driver.answer(1, .network(nil))
        #expect(driver.commands().started == [1] && driver.cacheTasks().isEmpty)
        driver.answer(1, .network(nil))
        #expect(driver.commands().isEmpty)
        driver.answer(1, size: 3)
        driver.work()
        #expect(driver.ended[token]?.image != nil && driver.ended[token]?.origin == .network)
        #expect(driver.isEmpty)
    }

    @Test func aHitIsHandedOutWithoutTheNetwork() throws {
        // given
        let token = try driver.submit(0, asking: FakeLookup(), pixels: false) { $0.wantsProgress = true }
        // when
        driver.now += 700
        driver.found(1) { $0.extended = Sample.body(2) }
        // then
        let result = try #require(driver.ended[token])
        #expect(result.error == nil && result.origin == .disk)
        #expect(result.bytes?.count == 4 && result.extended?.count == 2)
        #expect(driver.progress[token] == nil)
        #expect(result.timings.cache == 700 && result.timings.queue == 0 && result.timings.total == 700)
        #expect(result.metrics.attempts == 0 && result.metrics.bodyBytes == 4 && result.metrics.savedBytes == 0)
        #expect(driver.commands().isEmpty && driver.isEmpty)
        let statistics = driver.table.currentStatistics
        #expect(statistics.requests == 1 && statistics.succeeded == 1 && statistics.transfersStarted == 0)
        #expect(statistics.wireBodyBytes == 0)
    }

    @Test func pixelsAreDecodedAndKeptOnce() throws {
        // given
        let fixture = try CacheFixture()
        let token = try driver.submit(0, asking: FakeLookup())
        _ = driver.cacheTasks()
        // when
        driver.found(1) { $0.keeper = PictureKeeper(cache: fixture.cache, key: "k") }
        #expect(driver.ended.isEmpty && driver.table.takeWakes().decoders == 1)
        driver.now += 50
        driver.work()
        // then
        let result = try #require(driver.ended[token])
        let kept = driver.cacheTasks().kept
        #expect(kept.count == 1 && kept.first === result.image && result.bytes?.count == 4)
        #expect(result.timings.decode == 50 && result.timings.queue == 0)
        #expect(driver.isEmpty)
    }

    @Test func aDecodedPictureIsNotDecodedAgain() throws {
        // given
        let token = try driver.submit(0, asking: FakeLookup())
        let image = Made.image()
        // when
        driver.now += 10
        driver.found(1) { $0 = CacheHit(image: image, origin: .memory) }
        // then
        let result = try #require(driver.ended[token])
        #expect(result.image === image && result.bytes == nil && result.origin == .memory)
        #expect(result.timings.queue == 0 && result.timings.decode == 0 && result.timings.cache == 10)
        #expect(driver.nextWork() == nil && driver.isEmpty)
    }

    @Test("M10: the image of an original on disk is taken from memory if another request has put it there")
    func memoryIsSearchedOnceMore() throws {
        // given: a request whose search finds an image, and one without a search
        let fixture = try CacheFixture()
        let (form, image) = (DecodeOptions(), Made.image())
        fixture.cache.storeInMemory(image, for: "k")
        let search = MemorySearch(fixture.cache, original: "k", wanted: "k", form: form, headers: nil)
        let first = try driver.submit(0, asking: FakeLookup()) { $0.search = search }
        driver.found(1)
        let work = try #require(driver.nextWork())
        #expect(work.search?.held().ready === image)
        // when
        driver.foundInMemory(1, image)
        // then
        #expect(driver.ended[first]?.image === image && driver.isEmpty)
        #expect(driver.table.currentStatistics.imagesDecoded == 0)
        // A body from the network may be newer than what is in memory, and another form is none of it.
        try driver.submit(1, asking: FakeLookup()) { $0.search = search }
        driver.answer(2, .network(nil))
        driver.answer(2, size: 3)
        #expect(try #require(driver.nextWork()).search == nil)
        try driver.submit(2, asking: FakeLookup()) { $0.search = search }
        try driver.submit(2, asking: FakeLookup()) { $0.form = DecodeOptions(format: .bgra8) }
        driver.found(3)
        #expect(try #require(driver.nextWork()).search == nil)
    }

    @Test func theDecoderKnowsThatAHitIsTransformedAlready() throws {
        for isMade in [false, true] {
            let token = try driver.submit(0, asking: FakeLookup())
            driver.found(isMade ? 2 : 1) { $0.isMade = isMade }
            let work = try #require(driver.nextWork())
            #expect(work.isMade == isMade)
            driver.decoded(work.id.number)
            #expect(driver.ended[token]?.image != nil)
        }
    }

    @Test func impossibleOptionsAreRefused() throws {
        // given
        var form = DecodeOptions(isLazy: true)
        form.transforms = TransformChain([.rotate(.one)])
        // when
        let token = try driver.submit(0) { $0.form = form }
        // then
        #expect(driver.error(of: token)?.detail == .badDecode && driver.ended[token]?.stage == .submit)
        #expect(driver.isEmpty && driver.table.currentStatistics.failed == 1)
    }

    @Test func anEmptyHitIsAMiss() throws {
        let token = try driver.submit(0, asking: FakeLookup())
        driver.answer(1, .found(CacheHit(origin: .disk)))
        #expect(driver.error(of: token)?.code == .notCached && driver.isEmpty)
    }

    @Test func aRequestMayEndWithoutAResult() throws {
        let token = try driver.submit(0, asking: FakeLookup())
        driver.answer(1, .done)
        let result = try #require(driver.ended[token])
        #expect(result.error == nil && result.image == nil && result.bytes == nil && driver.isEmpty)
    }

    @Test func aFailureOfTheCacheIsReported() throws {
        let token = try driver.submit(0, asking: FakeLookup())
        driver.answer(1, .failed(.nothingToStore))
        let result = try #require(driver.ended[token])
        #expect(result.error?.detail == .cacheNothing && result.stage == .queue && driver.isEmpty)
    }

    @Test func theLookupKnowsWhetherItIsOffline() throws {
        driver.setRules { $0.isOffline = true }
        try driver.submit(0, asking: FakeLookup())
        driver.setRules { $0.isOffline = false }
        try driver.submit(1, asking: FakeLookup())
        let offline = driver.cacheTasks().compactMap { task -> Bool? in
            guard case .ask(_, _, let context) = task else { return nil }
            return context.isOffline
        }
        #expect(offline == [true, false])
    }

    @Test("a question is as urgent as its most urgent request, and withdrawn with the last one")
    func questionsAreRaisedAndWithdrawn() throws {
        // given
        let lookup = FakeLookup()
        let first = try driver.submit(0, asking: lookup, pixels: false)
        let tasks = driver.cacheTasks()
        guard case .ask(_, _, let context)? = tasks.first, let wish = context.wish else {
            Issue.record("the cache is not asked")
            return
        }
        // when
        let second = try driver.submit(0, asking: FakeLookup(), pixels: false) { $0.priority = .high }
        #expect(driver.setPriority(.veryHigh, of: first))
        // then
        let raised = driver.cacheTasks().compactMap { task -> Priority? in
            guard case .raise(let asked, let raised, let priority) = task, asked === lookup, raised === wish else {
                return nil
            }
            return priority
        }
        #expect(raised == [.high, .veryHigh])
        driver.cancel(first)
        #expect(!wish.isWithdrawn)
        driver.cancel(second)
        #expect(wish.isWithdrawn && driver.isEmpty)
    }

    // MARK: Several requests

    @Test func equalLookupsAreSharedAndOthersAreNot() throws {
        // when
        let first = try driver.submit(0, asking: FakeLookup(1), pixels: false)
        let second = try driver.submit(0, asking: FakeLookup(1), pixels: false)
        let other = try driver.submit(0, asking: FakeLookup(2), pixels: false)
        let without = try driver.submit(0, pixels: false)
        // then
        #expect(driver.cacheTasks().asked == [1, 2] && driver.commands().started == [3])
        driver.found(1)
        #expect(driver.endOrder == [first, second])
        driver.found(2)
        driver.answer(3)
        #expect(driver.endOrder == [first, second, other, without] && driver.isEmpty)
        #expect(driver.table.currentStatistics.joined == 1)
    }

    @Test func eachSetOfOptionsIsDecodedOnceForAll() throws {
        // given
        let first = try driver.submit(0, asking: FakeLookup())
        let second = try driver.submit(0, asking: FakeLookup()) { $0.form = DecodeOptions(format: .bgra8) }
        let bytes = try driver.submit(0, asking: FakeLookup(), pixels: false)
        // when
        driver.found(1)
        // then
        #expect(driver.endOrder == [bytes])
        // A later request joins the decode.
        let late = try driver.submit(0, asking: FakeLookup())
        driver.work()
        #expect(driver.ended[first]?.image?.pixelFormat == .rgba8)
        #expect(driver.ended[second]?.image?.pixelFormat == .bgra8)
        #expect(driver.ended[late]?.origin == .disk && driver.ended[late]?.timings.queue == 0)
        #expect(driver.isEmpty)
    }

    @Test func factsOfAHitAreReportedOnce() throws {
        let token = try driver.submit(0, asking: FakeLookup()) { $0.wantsFacts = true }
        driver.found(1)
        let work = try #require(driver.nextWork())
        driver.decoded(work.id.number, facts: Made.facts)
        #expect(driver.facts[token]?.count == 1 && driver.ended[token]?.image != nil)
        #expect(driver.isEmpty)
    }

    // MARK: Leaving requests

    @Test func anAnswerAfterACancelIsDropped() throws {
        // given
        let fixture = try CacheFixture()
        let token = try driver.submit(0, asking: FakeLookup())
        _ = driver.cacheTasks()
        // when
        #expect(driver.cancel(token) == true)
        // then
        #expect(driver.error(of: token)?.detail == .cancelledCache)
        driver.found(1) { $0.keeper = PictureKeeper(cache: fixture.cache, key: "k") }
        driver.answer(1, .network(nil))
        driver.answer(1, .failed(.notCached))
        #expect(driver.cacheTasks().isEmpty && driver.commands().isEmpty && driver.isEmpty)
        #expect(driver.endOrder == [token])
    }

    @Test func theOtherRequestsStay() throws {
        let first = try driver.submit(0, asking: FakeLookup(), pixels: false)
        let second = try driver.submit(0, asking: FakeLookup(), pixels: false)
        #expect(driver.cancel(first) == false)
        driver.found(1)
        #expect(driver.error(of: first)?.code == .cancelled && driver.ended[second]?.bytes != nil)
        #expect(driver.isEmpty)
    }

    @Test func lookupsAreFreedOutsideTheLock() throws {
        // given
        weak var lookup: FakeLookup?
        func submit() throws -> UInt64 {
            let made = FakeLookup()
            lookup = made
            return try driver.submit(0, asking: made)
        }
        let token = try submit()
        _ = driver.cacheTasks()
        // when
        _ = driver.table.cancelled(token, at: driver.now)
        // then
        #expect(lookup != nil && driver.isEmpty)
        _ = driver.table.outbox.takeBatch()
        #expect(lookup == nil)
    }

    @Test(arguments: [true, false])
    func closingEndsLookups(cancels: Bool) throws {
        // given
        let token = try driver.submit(0, asking: FakeLookup(), pixels: false)
        // when
        driver.closing(cancels: cancels)
        driver.found(1)
        // then
        #expect(driver.error(of: token)?.detail == (cancels ? .cancelledCache : nil) && driver.isEmpty)
        #expect(driver.endOrder == [token])
    }

    // MARK: Reasons that hold transfers back

    @Test func aSuspendedDownloaderStillServesHits() throws {
        // given
        driver.suspend(true)
        let hit = try driver.submit(0, asking: FakeLookup(), pixels: false)
        try driver.submit(1, asking: FakeLookup())
        // when
        driver.found(1)
        driver.answer(2, .network(nil))
        // then
        #expect(driver.ended[hit]?.bytes != nil && driver.commands().isEmpty)
        driver.suspend(false)
        #expect(driver.commands().started == [2])
    }

    @Test func hitsAreServedInTheBackground() throws {
        // given
        let hit = try driver.submit(0, asking: FakeLookup(), pixels: false)
        try driver.submit(1, asking: FakeLookup())
        driver.enterBackground(grace: 0)
        _ = driver.commands()
        // when
        driver.found(1)
        driver.answer(2, .network(nil))
        // then
        #expect(driver.ended[hit]?.bytes != nil && driver.commands().isEmpty)
        driver.enterForeground()
        #expect(driver.commands().started == [2])
    }

    @Test func aPriorityThatIsSetMeanwhileCounts() throws {
        let token = try driver.submit(0, asking: FakeLookup())
        #expect(driver.setPriority(.veryHigh, of: token))
        driver.answer(1, .network(nil))
        #expect(driver.commands() == [.start(1, .veryHigh)])
    }

    @Test func timeLimitsRunDuringALookup() throws {
        // given
        let total = try driver.submit(0, asking: FakeLookup()) { $0.totalLimit = 500 }
        let queue = try driver.submit(1, asking: FakeLookup()) { $0.queueLimit = 600 }
        let hit = try driver.submit(2, asking: FakeLookup()) { $0.queueLimit = 600 }
        driver.found(3)
        // when
        driver.now += 600
        _ = driver.commands()
        // then
        #expect(driver.error(of: total)?.detail == .timeoutTotal)
        #expect(driver.error(of: queue)?.detail == .timeoutQueue)
        driver.answer(1, .network(nil))
        driver.answer(2, .network(nil))
        #expect(driver.commands().isEmpty && driver.ended[hit] == nil)
        driver.work()
        #expect(driver.ended[hit]?.image != nil && driver.isEmpty)
    }

    // MARK: A stored response

    @Test func aStoredStatusIsJudgedLikeAnyOther() throws {
        // given
        let standard = try driver.submit(0, asking: FakeLookup(), pixels: false)
        let all = try driver.submit(0, asking: FakeLookup(), pixels: false) {
            $0.acceptance = try Sample.acceptance(statuses: "404")
            $0.wantsProgress = true
        }
        // when
        driver.found(1) { $0.response = CachedResponse(Sample.head(404, expected: 4)) }
        // then
        #expect(driver.error(of: standard)?.code == .invalidStatusCode)
        #expect(driver.ended[all]?.bytes?.count == 4 && driver.ended[all]?.httpStatus == 404)
        #expect(driver.progress[all] == [[0, 4], [4, 4]])
        #expect(driver.isEmpty)
    }

    @Test func aStoredResponseThatIsRefusedLeavesNothing() throws {
        let token = try driver.submit(0, asking: FakeLookup())
        driver.found(1) { $0.response = CachedResponse(Sample.head(404, expected: 4)) }
        let result = try #require(driver.ended[token])
        #expect(result.error?.code == .invalidStatusCode && result.stage == .response)
        #expect(result.metrics.savedBytes == 0 && driver.commands().isEmpty && driver.isEmpty)
    }

    @Test func aStaleHitIsRevalidated() throws {
        // given
        let fixture = try CacheFixture()
        let lookup = try fixture.revalidation(0, stored: nil).lookup
        let token = try driver.submit(0, asking: FakeLookup(), pixels: false)
        _ = driver.cacheTasks()
        // when
        driver.found(1) { found in
            found.response = CachedResponse(Sample.head(200, expected: 4), revalidation: lookup)
            found.origin = .httpStale
        }
        // then
        let revalidations = driver.cacheTasks().filter { if case .revalidate = $0 { true } else { false } }
        #expect(revalidations.count == 1 && driver.ended[token]?.origin == .httpStale && driver.isEmpty)
    }
}

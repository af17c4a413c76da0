import SDDBase
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// The decisions of a loader, step by step: rows M4 to M26 of the contract.
@Suite struct LoadTableTests {
    private var driver: LoadDriver

    init() throws { driver = try LoadDriver() }

    // MARK: From the cache

    @Test("M8: a cache hit ends the load") mutating func aCacheHitEndsTheLoad() throws {
        driver.submit("a", try .sample())
        #expect(driver.take() == ["ask a"])
        driver.answer("a", .pixels)
        #expect(driver.take() == ["finish a disk"])
        #expect(driver.table.count == 0)
    }

    @Test("M20: a picture made from a cached original is stored by the same rules as from a download")
    mutating func aPictureMadeFromAnOriginalIsStored() throws {
        let image = LoadDriver.image
        for (levels, options, expected) in [
            (CacheLevels.all, RequestOptions(), ["store a", "finish a disk"]),
            (.disk, [], ["store a", "finish a disk"]), (.memory, [], ["finish a disk"]),
            ([], [], ["finish a disk"]), (.disk, .waitStoreCache, ["store a first"]),
            (.disk, .refreshCached, ["store a", "show a and go on", "fetch a 0"]),
        ] {
            driver.submit("a", try .sample(options: options, makes: levels))
            driver.answer("a", .encoded)
            #expect(driver.take() == ["ask a", "make a"])
            driver.make("a", of: image)
            #expect(driver.take() == expected)
            switch options {
            case .waitStoreCache:
                driver.store("a")
                #expect(driver.take() == ["finish a disk"])
            case .refreshCached:
                driver.fetch("a", .notModified)
                #expect(driver.take() == ["finish a notModified"])
            default: break
            }
        }
        // The original itself is stored already.
        driver.submit("b", try .sample())
        driver.answer("b", .encoded)
        driver.make("b", of: image)
        #expect(driver.take() == ["ask b", "make b", "finish b disk"])
    }

    @Test("M9 M18: a missing picture is downloaded, and stored before the end")
    mutating func aMissingPictureIsDownloadedAndStored() throws {
        driver.submit("a", try .sample())
        driver.answer("a", .nothing)
        #expect(driver.take() == ["ask a", "fetch a 0"])
        driver.fetch("a")
        #expect(driver.take() == ["store a", "finish a network"])
    }

    @Test("without a cache there is no lookup and no store")
    mutating func withoutACacheThereIsNoLookup() throws {
        driver.submit("a", try .sample(asks: false, stores: false))
        driver.fetch("a")
        #expect(driver.take() == ["fetch a 0", "finish a network"])
    }

    @Test("M11: from the cache alone, nothing is downloaded", arguments: [false, true])
    mutating func fromTheCacheAlone(asks: Bool) throws {
        driver.submit("a", try .sample(options: .fromCacheOnly, asks: asks))
        if asks { driver.answer("a", .nothing) }
        #expect(driver.take().last == "finish a notCached")
        driver.submit("b", try .sample(options: [.fromCacheOnly, .refreshCached]))
        driver.answer("b", .pixels)
        #expect(driver.take() == ["ask b", "finish b disk"])
    }

    @Test("an image in memory ends the load at once") mutating func anImageInMemoryEndsTheLoad() throws {
        driver.submit("a", try .sample(), held: LoadDriver.image)
        #expect(driver.take() == ["finish a memory"] && driver.table.count == 0)
        driver.submit("b", try .sample(options: .refreshCached), held: LoadDriver.image)
        #expect(driver.take() == ["show b and go on", "fetch b 0"])
    }

    @Test("what cannot be decoded is downloaded") mutating func whatCannotBeDecodedIsDownloaded() throws {
        driver.submit("a", try .sample())
        driver.answer("a", .encoded)
        driver.make("a", .badImage)
        #expect(driver.take() == ["ask a", "make a", "fetch a 0"])
    }

    @Test("loads with the same lookup share it; each goes its own way afterwards")
    mutating func loadsShareALookup() throws {
        let plan = try LoadPlan.sample()
        var refresh = plan
        refresh.options = .refreshCached
        driver.submit("a", plan)
        driver.submit("b", refresh)
        driver.submit("c", plan)
        driver.submit("d", try .sample())
        #expect(driver.cancel("c"))
        #expect(driver.take() == ["ask a", "ask d", "finish c cancelled"])
        // when
        driver.answer("a", .pixels)
        // then
        #expect(driver.take() == ["finish a disk", "show b and go on", "fetch b 0"])
        // The cancelled load is released without the lock, too.
        #expect(driver.released == 3)
        driver.answer("b", .pixels)
        #expect(driver.take().isEmpty && driver.table.count == 2)
        // The lookup is over: the next load begins another.
        #expect(!driver.table.lookups.isEmpty)
        driver.submit("e", plan)
        #expect(driver.take() == ["ask e"])
    }

    @Test("lookups whose hash is the same are not the same lookup") mutating func lookupsOfOneHash() throws {
        let plans = try (0..<3).map { _ in try LoadPlan.sample(hashKey: 7) }
        for (name, plan) in zip(["a", "b", "c", "d"], plans + [plans[1]]) { driver.submit(name, plan) }
        #expect(driver.take() == ["ask a", "ask b", "ask c"])
        for name in ["b", "c", "a"] { driver.answer(name, .pixels) }
        #expect(driver.take() == ["finish b disk", "finish d disk", "finish c disk", "finish a disk"])
        #expect(driver.table.lookups.isEmpty)
    }

    // MARK: Refreshes

    @Test("M12: a refresh shows the cached picture, and ends when the server has answered")
    mutating func aRefreshShowsTheCachedPicture() throws {
        for (error, end) in [
            (nil, "finish a network"), (DownloadError.notModified, "finish a notModified"),
            (.lost, "finish a connectionLost"),
        ] {
            driver.submit("a", try .sample(options: .refreshCached, stores: false))
            driver.answer("a", .pixels)
            #expect(driver.take() == ["ask a", "show a and go on", "fetch a 0"])
            driver.fetch("a", error)
            #expect(driver.take() == [end])
        }
    }

    @Test("M12: without a cached picture nothing is shown") mutating func aRefreshWithoutACachedPicture() throws {
        driver.submit("a", try .sample(options: .refreshCached))
        driver.answer("a", .nothing)
        #expect(driver.take() == ["ask a", "fetch a 0"])
    }

    @Test("M12: only its own URL refreshes the shown picture, not an alternative")
    mutating func alternativesDoNotRefresh() throws {
        let plan = try LoadPlan.sample(["u", "v"], options: .refreshCached)
        driver.submit("a", plan)
        driver.answer("a", .pixels)
        driver.fetch("a", .badImage)
        #expect(driver.take().last == "finish a badImageData")
        // M5: if its URL is blocked, no alternative is tried either, and the cached picture is the result.
        driver.submit("b", plan)
        driver.answer("b", .pixels)
        #expect(driver.take() == ["ask b", "show b and go on", "finish b disk"])
    }

    // MARK: The application

    @Test("M9: the application may forbid the download") mutating func theApplicationMayForbidIt() throws {
        driver = try LoadDriver(consults: true)
        driver.submit("a", try .sample())
        driver.answer("a", .nothing)
        #expect(driver.take() == ["ask a", "consult a"])
        driver.consult("a", mayFetch: false)
        #expect(driver.take() == ["finish a notCached"])
        driver.submit("b", try .sample(options: .refreshCached))
        driver.answer("b", .pixels)
        driver.consult("b", mayFetch: false)
        #expect(driver.take() == ["ask b", "show b and go on", "consult b", "finish b disk"])
        driver.submit("c", try .sample(asks: false))
        driver.consult("c", mayFetch: true)
        #expect(driver.take() == ["consult c", "fetch c 0"])
    }

    @Test("M23: the application decides which failures block", arguments: [true, false, nil] as [Bool?])
    mutating func theApplicationDecidesWhichFailuresBlock(decision: Bool?) throws {
        driver = try LoadDriver(judges: true)
        for (name, error) in [("u", DownloadError.badImage), ("v", .lost)] {
            driver.submit("a", try .sample([name], asks: false))
            driver.fetch("a", error)
            #expect(driver.take() == ["fetch a 0", "judge a 0"])
            driver.judge("a", error, isBlocked: decision)
            #expect(driver.take() == ["finish a \(error.code)"])
        }
        #expect(driver.isBlocked("u") == (decision ?? true) && driver.isBlocked("v") == (decision ?? false))
    }

    // MARK: Failed URLs, alternatives

    @Test("M4: a load of an empty URL ends at once, and blocks nothing") mutating func anEmptyURLEndsAtOnce() throws {
        driver.submit("a", try .sample([""]))
        #expect(driver.take() == ["finish a invalidURL"])
        #expect(driver.table.failures.count == 0)
    }

    @Test("M5 F5: the list bars the network, never a cached picture", arguments: [RequestOptions(), .fromCacheOnly])
    mutating func aBlockedURLHidesNoCachedPicture(_ options: RequestOptions) throws {
        driver = try LoadDriver(consults: true)
        driver.submit("a", try .sample(["u"], options: .refreshCached))
        driver.answer("a", .pixels)
        driver.consult("a", mayFetch: true)
        driver.fetch("a", .badImage)
        #expect(driver.isBlocked("u"))
        _ = driver.take()
        for (name, content) in [("b", LoadDriver.Content.pixels), ("c", .encoded), ("d", .nothing)] {
            driver.submit(name, try .sample(["u"], options: options))
            driver.answer(name, content)
        }
        driver.make("c")
        // The application is not asked about a download that is barred anyway.
        let end = options.isEmpty ? "blocked" : "notCached"
        #expect(
            driver.take() == [
                "ask b", "finish b disk", "ask c", "make c", "ask d", "finish d \(end)", "finish c disk",
            ])
        // A picture in memory needs no lookup.
        driver.submit("e", try .sample(["u"], options: options), held: LoadDriver.image)
        #expect(driver.take() == ["finish e memory"])
    }

    @Test("the read for a lookup is withdrawn when no load waits for it, and is as urgent as the most urgent one")
    mutating func aLookupThatNobodyWaitsForIsWithdrawn() throws {
        // given: three loads with equal lookups
        let plan = try LoadPlan.sample(["u"])
        let cache = try #require(plan.store?.cache)
        func alike() -> LoadPlan {
            var other = plan
            other.lookup = ImageCacheLookup(
                cache, key: "k", form: DecodeOptions(), levels: .all, wantsImage: true, wantsBytes: false)
            return other
        }
        for name in ["a", "b", "c"] { driver.submit(name, alike()) }
        #expect(driver.take() == ["ask a"])
        driver.setPriority(.high, of: "b")
        #expect(driver.raised == ["a normal", "a normal", "a high"])
        // when
        for name in ["a", "c"] { #expect(driver.cancel(name) && !driver.isWithdrawn("a")) }
        #expect(driver.cancel("b") && driver.isWithdrawn("a"))
        // then: the next load asks again, and an answer to the first question is not for it
        driver.submit("d", alike())
        driver.answer("a", .pixels)
        #expect(driver.take().last == "ask d")
        driver.answer("d", .pixels)
        #expect(driver.take() == ["finish d disk"] && driver.table.lookups.isEmpty)
    }

    @Test("M18: a success by an alternative unblocks the load's own URL")
    mutating func anAlternativeUnblocksTheOwnURL() throws {
        driver.submit("a", try .sample(["u", "v"], asks: false, stores: false))
        driver.fetch("a", .badImage)
        #expect(driver.isBlocked("u"))
        driver.fetch("a")
        #expect(driver.take() == ["fetch a 0", "fetch a 1", "finish a network"] && !driver.isBlocked("u"))
    }

    @Test("M5 M6: a URL that has failed is not tried, until it has succeeded")
    mutating func aFailedURLIsNotTried() throws {
        driver.submit("a", try .sample(["u"], asks: false))
        driver.fetch("a", .badImage)
        driver.submit("b", try .sample(["u"]))
        driver.answer("b", .nothing)
        #expect(driver.take() == ["fetch a 0", "finish a badImageData", "ask b", "finish b blocked"])
        driver.submit("c", try .sample(["u"], options: .retryFailed, asks: false, stores: false))
        driver.fetch("c")
        #expect(driver.take() == ["fetch c 0", "finish c network"])
        driver.submit("d", try .sample(["u"]))
        #expect(driver.take() == ["ask d"])
    }

    @Test("M5 M18: a server that confirms the cached picture unblocks the URL")
    mutating func aConfirmedPictureUnblocks() throws {
        driver.submit("a", try .sample(["u"], asks: false))
        driver.fetch("a", .badImage)
        #expect(driver.isBlocked("u"))
        driver.submit("b", try .sample(["u"], options: [.refreshCached, .retryFailed]))
        driver.answer("b", .pixels)
        driver.fetch("b", .notModified)
        #expect(driver.take().last == "finish b notModified" && !driver.isBlocked("u"))
    }

    @Test("alternatives are tried in their order; the first success ends it")
    mutating func alternativesAreTriedInTheirOrder() throws {
        driver.submit("a", try .sample(["u", "", "v", "w"], asks: false, stores: false))
        driver.fetch("a", .lost)
        #expect(driver.take() == ["fetch a 0", "fetch a 2"])
        driver.fetch("a")
        #expect(driver.take() == ["finish a network"])
        #expect(driver.results["a"]?.failures.map(\.url) == ["u", ""])
        #expect(driver.results["a"]?.failures.map(\.error.code) == [.connectionLost, .invalidURL])
    }

    @Test("when all have failed, the load ends with the last error")
    mutating func allAlternativesFail() throws {
        driver.submit("a", try .sample(["u", "v", ""], asks: false))
        driver.fetch("a", .badImage)
        driver.fetch("a", .lost)
        #expect(driver.take() == ["fetch a 0", "fetch a 1", "finish a invalidURL"])
        #expect(driver.results["a"]?.failures.count == 3)
        // A blocked alternative is skipped.
        driver.submit("b", try .sample(["u", "w"], asks: false))
        #expect(driver.take() == ["fetch b 1"])
    }

    // MARK: Storing

    @Test("M21: a load that waits for the store ends after it") mutating func aLoadThatWaitsForTheStore() throws {
        driver.submit("a", try .sample(options: .waitStoreCache, asks: false))
        driver.fetch("a")
        #expect(driver.take() == ["fetch a 0", "store a first"])
        driver.now += 700
        driver.store("a")
        #expect(driver.take() == ["finish a network"])
        #expect(driver.results["a"]?.timings.store == 700 && driver.results["a"]?.timings.total == 700)
        driver.store("a")
        #expect(driver.take().isEmpty)
    }

    @Test("a picture that another load has brought into memory ends the load")
    mutating func aPictureFoundMeanwhileEndsTheLoad() throws {
        driver.submit("a", try .sample())
        driver.answer("a", .nothing)
        driver.find("a")
        #expect(driver.take().last == "finish a memory")
    }
}

/// Cancels and time limits, at each stage and between stages.
@Suite struct LoadTableEndTests {
    private var driver: LoadDriver

    init() throws { driver = try LoadDriver() }

    @Test("a cancel by the downloader ends the load", arguments: [LoadDriver.Content.encoded, .nothing])
    mutating func aCancelByTheDownloaderEndsTheLoad(content: LoadDriver.Content) throws {
        driver.submit("a", try .sample(options: .refreshCached))
        driver.answer("a", content)
        if content == .encoded { driver.make("a", .cancelledDecoding) } else { driver.fetch("a", .cancelledSending) }
        #expect(driver.take().last == "finish a cancelled")
        #expect(driver.table.failures.count == 0)
    }

    @Test("a load that is submitted after the end of its loader is cancelled, without a lookup")
    mutating func afterTheEndOfItsLoader() throws {
        driver.submit("a", try .sample())
        #expect(driver.close() == ["a"])
        driver.submit("b", try .sample())
        #expect(driver.take() == ["ask a", "finish b cancelled"])
    }

    @Test("M16: while the cache is asked a cancelled load ends at once, and its answer is ignored")
    mutating func whileTheCacheIsAsked() throws {
        for content in [LoadDriver.Content.nothing, .pixels, .encoded] {
            driver.submit("a", try .sample(options: .refreshCached))
            #expect(driver.cancel("a"))
            #expect(driver.take() == ["ask a", "finish a cancelled"])
            #expect(driver.results["a"]?.error?.detail == .cancelledCache)
            driver.answer("a", content)
            #expect(driver.take().isEmpty && driver.table.count == 0)
        }
    }

    @Test("M16: a load with a request is cancelled once, by the end of the request")
    mutating func duringARequest() throws {
        for error in [nil, DownloadError.lost, .notModified] {
            driver.submit("a", try .sample(["u", "v"], options: .waitStoreCache, asks: false))
            #expect(driver.cancel("a") && !driver.cancel("a"))
            #expect(driver.take() == ["fetch a 0", "cancel a"])
            driver.fetch("a", error)
            #expect(driver.take().last == "finish a cancelled")
            #expect(!driver.cancel("a") && driver.table.count == 0)
        }
        driver.submit("b", try .sample(options: .refreshCached))
        driver.answer("b", .encoded)
        #expect(driver.cancel("b"))
        driver.make("b")
        #expect(driver.take() == ["ask b", "make b", "cancel b", "finish b cancelled"])
    }

    @Test("M16: while the application is asked a cancelled load ends at once, and its answer is ignored")
    mutating func whileTheApplicationIsAsked() throws {
        driver = try LoadDriver(consults: true, judges: true)
        for mayFetch in [true, false] {
            driver.submit("a", try .sample(asks: false))
            #expect(driver.cancel("a"))
            driver.consult("a", mayFetch: mayFetch)
            #expect(driver.take() == ["consult a", "finish a cancelled"])
        }
        driver.submit("b", try .sample(["u", "v"], asks: false))
        driver.consult("b", mayFetch: true)
        driver.fetch("b", .badImage)
        #expect(driver.cancel("b"))
        #expect(driver.take() == ["consult b", "fetch b 0", "judge b 0", "finish b cancelled"])
        // Its URL has failed nevertheless.
        driver.judge("b", .badImage, isBlocked: nil)
        #expect(driver.take().isEmpty && driver.isBlocked("u") && !driver.isBlocked("v"))
    }

    @Test("M16 M21: during the store, after which nothing else would end it") mutating func duringTheStore() throws {
        driver.submit("a", try .sample(options: .waitStoreCache, asks: false))
        driver.fetch("a")
        #expect(driver.cancel("a"))
        #expect(driver.take() == ["fetch a 0", "store a first", "finish a cancelled"])
        driver.store("a")
        #expect(driver.take().isEmpty && !driver.cancel("a"))
    }

    @Test("Z6: the limit is for all stages together: each gets the remaining time")
    mutating func theLimitIsForAllStages() throws {
        driver.submit("a", try .sample(["u", "v", "w"], limit: 1000))
        driver.now += 300
        driver.answer("a", .nothing)
        #expect(driver.limits["a"] == 700)
        driver.now += 699
        driver.fetch("a", .lost)
        #expect(driver.limits["a"] == 1)
        // The remaining time must not be 0, which would mean no limit.
        driver.now += 1
        driver.fetch("a", .lost)
        #expect(driver.take() == ["ask a", "fetch a 0", "fetch a 1", "finish a timeout"])
        #expect(driver.results["a"]?.error?.detail == .timeoutTotal)
        #expect(driver.results["a"]?.timings.total == 1000)
    }

    @Test("Z6: a load ends at its limit while the cache is asked, and not before")
    mutating func theLimitWhileTheCacheIsAsked() throws {
        driver.submit("a", try .sample(limit: 1000))
        driver.submit("b", try .sample(limit: 2000))
        driver.submit("c", try .sample())
        #expect(driver.nextDeadline == driver.now + 1000)
        driver.now += 999
        driver.lookAtClocks()
        #expect(driver.take() == ["ask a", "ask b", "ask c"])
        driver.now += 1
        driver.lookAtClocks()
        #expect(driver.take() == ["finish a timeout"] && driver.results["a"]?.error?.detail == .timeoutTotal)
        driver.answer("a", .pixels)
        #expect(driver.take().isEmpty)
        // A load that asks no more has no clock here: its request has one.
        driver.answer("b", .encoded)
        #expect(driver.limits["b"] == 1000 && driver.nextDeadline == .max)
        driver.now += 5000
        driver.lookAtClocks()
        #expect(driver.take() == ["make b"] && driver.table.count == 2)
    }

    @Test("Z6: a load that shares the lookup of another has a clock of its own")
    mutating func aSharedLookupHasTheLimitOfEachLoad() throws {
        let plan = try LoadPlan.sample()
        var limited = plan
        limited.totalLimit = 100
        driver.submit("a", plan)
        #expect(driver.looks.isEmpty)
        driver.submit("b", limited)
        #expect(driver.take() == ["ask a"] && driver.looks == [driver.now + 100])
        driver.now += 100
        driver.lookAtClocks()
        #expect(driver.take() == ["finish b timeout"] && driver.table.count == 1)
    }

    @Test("Z6: after the limit nothing is made from the cache's content")
    mutating func nothingIsMadeAfterTheLimit() throws {
        driver.submit("a", try .sample(limit: 1000))
        driver.now += 1000
        driver.answer("a", .encoded)
        #expect(driver.take() == ["ask a", "finish a timeout"])
    }

    @Test("Z6: after the limit no alternative is tried", arguments: [false, true])
    mutating func noAlternativeAfterTheLimit(judges: Bool) throws {
        driver = try LoadDriver(judges: judges)
        driver.submit("a", try .sample(["u", "v"], asks: false, limit: 1000))
        driver.fetch("a", .tookTooLong)
        #expect(driver.take() == ["fetch a 0", "finish a timeout"])
    }

    @Test("without a limit a load does not time out") mutating func noLimit() throws {
        driver.submit("a", try .sample())
        driver.now = .max
        driver.answer("a", .nothing)
        #expect(driver.limits["a"] == 0)
    }

    @Test("events of ended loads, or of another stage, have no effect")
    mutating func strayEvents() throws {
        driver.submit("a", try .sample(asks: false))
        _ = driver.take()
        driver.answer("a", .pixels)
        driver.consult("a", mayFetch: true)
        driver.judge("a", .lost, isBlocked: true)
        driver.store("a")
        driver.fetch("nobody")
        #expect(driver.take().isEmpty && !driver.cancel("nobody") && driver.table.count == 1)
    }
}

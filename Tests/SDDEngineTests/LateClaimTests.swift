import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCaches
@testable import SDDEngine

/// Loads that have found nothing on disk and download: they claim the right to it only if another user of the disk may
/// download or have stored the same.
@Suite struct LateClaimTests {
    private let driver: Driver
    private let fixture: CacheFixture
    private let lookup: HTTPCacheLookup

    init() throws {
        driver = try Driver { $0.maxConcurrent = 2 }
        fixture = try CacheFixture(shareWait: 3_600_000_000)
        lookup = try #require(HTTPCacheLookup(fixture.cache, try Sample.request("http://host/0").transfer, .pictures))
    }

    /// - Parameter settled: the stores that had been made when the load looked on disk.
    private func submit(settled: UInt64 = 0, _ change: (inout DownloadRequest) -> Void = { _ in }) throws {
        try driver.submit(0, pixels: false) {
            $0.claiming = ClaimIfShared(lookup: lookup, settled: settled)
            change(&$0)
        }
    }

    private func openElsewhere() throws -> DiskStore {
        try DiskStore(options: DiskOptions(directory: fixture.folder.path("cache")))
    }

    @Test func aloneNothingIsClaimed() throws {
        try submit()
        #expect(driver.commands().started == [1] && driver.cacheTasks().claimed.isEmpty)
    }

    @Test(arguments: [false, true]) func whoComesDuringTheTransferFindsItsMark(isCancelled: Bool) throws {
        // given
        try submit()
        let other = try openElsewhere()
        #expect(other.downloads.owner(of: lookup.key) == 0)
        // when
        if isCancelled { driver.cancel(1) } else { driver.answer(1) }
        for case .unmark(let mark, let disk) in driver.cacheTasks() {
            // Nothing is stored that would have to be waited for.
            #expect(disk == nil)
            mark.release()
        }
        // then
        #expect(other.downloads.owner(of: lookup.key) == nil && driver.isEmpty)
    }

    @Test func aMarkEndsAfterTheOriginalIsStored() throws {
        try submit { $0.keeper = OriginalKeeper(fixture.cache, key: lookup.key) }
        driver.answer(1)
        let tasks = driver.cacheTasks().compactMap { task in
            switch task {
            case .keepOriginal: "keep"
            case .unmark(_, let disk): disk === fixture.disk ? "unmark afterwards" : "unmark at once"
            default: "other"
            }
        }
        #expect(tasks == ["keep", "unmark afterwards"])
    }

    @Test func aProcessThatCameWhileTheLoadWaitedIsRespected() throws {
        // given
        driver.suspend(true)
        try submit()
        // when
        let other = try openElsewhere()
        driver.suspend(false)
        // then
        #expect(driver.cacheTasks().claimed == [1] && driver.commands().isEmpty)
        driver.found(1)
        #expect(driver.ended[1]?.origin == .disk && driver.isEmpty)
        withExtendedLifetime(other) {}
    }

    @Test func anotherDownloaderOfTheCacheIsRespected() throws {
        let (first, second) = (FakeUser(), FakeUser())
        fixture.cache.used(by: first)
        fixture.cache.used(by: first)
        #expect(!fixture.cache.hasOtherUsers)
        fixture.cache.used(by: second)
        try submit()
        #expect(driver.cacheTasks().claimed == [1])
    }

    @Test func aCacheMayHaveOneDownloaderAfterTheOther() {
        for _ in 0..<2 { fixture.cache.used(by: FakeUser()) }
        #expect(!fixture.cache.hasOtherUsers)
    }

    @Test func whatWasStoredSinceTheLoadLookedIsNotDownloadedAgain() throws {
        driver.table.stores.add(lookup.key)
        try submit()
        #expect(driver.cacheTasks().claimed == [1] && driver.commands().isEmpty)
        driver.found(1)
        #expect(driver.ended[1]?.origin == .disk && driver.isEmpty)
    }

    @Test func storesOfOthersDoNotMatter() throws {
        driver.table.stores.add("another key")
        try submit()
        #expect(driver.commands().started == [1])
    }

    @Test func whatWasStoredBeforeTheLoadLookedDoesNotMatter() throws {
        driver.table.stores.add(lookup.key)
        driver.table.stores.progress.ended()
        try submit(settled: driver.table.stores.progress.settled)
        #expect(driver.commands().started == [1])
    }

    @Test func theHitOfALateLookupIsNotUsedByARequestWithoutOne() throws {
        // given
        driver.suspend(true)
        driver.table.stores.add(lookup.key)
        try submit()
        try driver.submit(0, pixels: false)
        #expect(driver.table.jobs.count == 1)
        driver.suspend(false)
        // when
        driver.found(1)
        // then
        #expect(driver.ended.isEmpty && driver.commands().started == [1])
    }

    @Test func loadsThatJoinALateLookupGetItsHit() throws {
        // given
        driver.table.stores.add(lookup.key)
        try submit()
        try submit()
        // when
        driver.found(1)
        // then
        #expect(driver.ended.count == 2 && driver.commands().isEmpty && driver.isEmpty)
    }

    @Test func aLookupAwaitsTheStoresThatWereDecidedBefore() throws {
        // given
        let findings = Recorder<LookupResult>()
        driver.table.stores.add(lookup.key)
        let progress = driver.table.stores.progress
        let look = HTTPLookupJob(lookup, fixture.disk, LookupContext(isOffline: false, stores: progress))
        // when
        look.claim { findings.record($0) }
        // then
        guard case .busy(let next)? = findings.wait(count: 1)?.last else {
            Issue.record("the store was not awaited")
            return
        }
        // when
        fixture.disk.store(EntryMetadata(key: lookup.key), try Sample.body([7]))
        progress.ended()
        next.lookLater { findings.record($0) }
        // then
        guard case .found(let hit)? = findings.wait(count: 2)?.last else {
            Issue.record("the entry was not found")
            return
        }
        #expect(hit.body.map { Array($0.pointer) } == [7])
    }
}

@Suite struct RecentStoresTests {
    @Test func onlyLaterStoresCount() {
        var stores = RecentStores()
        stores.add("a")
        stores.add("b")
        #expect(stores.mayHave("a", since: 0) && stores.mayHave("b", since: 1) && !stores.mayHave("a", since: 1))
        #expect(!stores.mayHave("c", since: 0) && !stores.mayHave("b", since: 2))
    }

    @Test func aKeyWhoseTimeIsForgottenMayHaveBeenStored() {
        var stores = RecentStores()
        for number in 0...RecentStores.kept { stores.add("\(number)") }
        #expect(stores.mayHave("never", since: 0) && !stores.mayHave("never", since: 1))
        #expect(!stores.mayHave("0", since: 1) && stores.mayHave("1", since: 1))
    }

    @Test func storesAreSettledOnceAllBeforeThemAreMade() {
        var stores = RecentStores()
        stores.add("a")
        stores.add("b")
        stores.progress.ended()
        #expect(stores.progress.settled == 0 && stores.progress.decided == 2)
        stores.progress.ended()
        #expect(stores.progress.settled == 2)
    }
}

/// A downloader without a log.
private final class FakeUser: CacheUser {
    func log(_ level: LogLevel, _ text: String) -> Bool { false }
}

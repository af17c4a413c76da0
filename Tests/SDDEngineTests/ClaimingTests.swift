import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Jobs whose cache has no usable response: when their turn comes, they claim the right to download among all
/// processes.
@Suite struct ClaimingTests {
    private let driver: Driver
    private let fixture: CacheFixture

    init() throws {
        driver = try Driver { $0.maxConcurrent = 2 }
        fixture = try CacheFixture(shareWait: 3_600_000_000)
    }

    /// Submits requests that wait for their turns, with transfers from 1 on.
    private func submit(_ count: Int, _ change: (inout DownloadRequest) throws -> Void = { _ in }) throws {
        for number in 0..<count {
            try driver.submit(number, asking: FakeLookup(UInt64(number)), pixels: false, change: change)
            driver.answer(UInt64(number + 1), .turn(try fixture.look(number)))
        }
    }

    private func goOn(_ id: UInt64, _ number: Int) throws {
        driver.answer(id, .network(try fixture.revalidation(number, stored: nil)))
    }

    @Test func noMoreJobsClaimThanMayRun() throws {
        // given
        try submit(5)
        // then
        #expect(driver.cacheTasks().claimed == [1, 2] && driver.commands().isEmpty)
        #expect(driver.table.slots.running == 2 && driver.table.slots.waitingCount == 3)
        // when
        try goOn(1, 0)
        #expect(driver.commands().started == [1] && driver.cacheTasks().claimed.isEmpty)
        driver.answer(1)
        // then
        #expect(driver.cacheTasks().claimed == [3])
    }

    @Test func aJobThatAwaitsAnotherProcessFreesItsSlot() throws {
        // given
        try submit(3)
        _ = driver.cacheTasks()
        // when
        driver.answer(1, .busy(try fixture.look(0)))
        // then
        let cacheTasks = driver.cacheTasks()
        #expect(cacheTasks.awaited == [1] && cacheTasks.claimed == [3] && driver.table.slots.running == 2)
        // When the other process has finished, the job waits for its turn like the rest.
        driver.answer(1, .turn(try fixture.look(0)))
        #expect(driver.cacheTasks().claimed.isEmpty && driver.table.slots.waitingCount == 1)
        driver.answer(2, .busy(try fixture.look(1)))
        #expect(driver.cacheTasks().claimed == [1])
    }

    @Test func aResponseStoredMeanwhileNeedsNoTransfer() throws {
        try submit(1)
        _ = driver.cacheTasks()
        driver.found(1)
        #expect(driver.commands().isEmpty && driver.table.slots.running == 0)
        #expect(driver.ended[1]?.bytes != nil && driver.isEmpty)
    }

    @Test func aRequestMayBeCancelledWhileItClaims() throws {
        // given
        try submit(3)
        _ = driver.cacheTasks()
        // when
        #expect(driver.cancel(1) == true)
        // then
        #expect(driver.ended[1]?.error?.code == .cancelled && driver.ended[1]?.stage == .queue)
        #expect(driver.cacheTasks().claimed == [3] && driver.commands().isEmpty)
        try goOn(1, 0)
        #expect(driver.commands().isEmpty && driver.table.slots.running == 2)
    }

    /// Found by the simulation: `sdd_get()` in a callback waited for the claim of a picture that waited for memory, and
    /// that for the callback.
    @Test func aBodyThatWaitsForMemoryLetsOthersDownload() throws {
        // given
        try driver.submit(0, asking: FakeLookup(0))
        driver.answer(1, .turn(try fixture.look(0)))
        try goOn(1, 0)
        driver.answer(1)
        _ = driver.nextWork()
        #expect(driver.cacheTasks().outcomes.isEmpty)
        // when
        var step = PictureStream.Step()
        step.lacksRoom = 100
        driver.play { $0.decoded(TransferID(1), .success(step), nil, at: driver.now) }
        // then
        let outcomes = driver.cacheTasks().outcomes
        #expect(outcomes.count == 1 && outcomes.first?.isWritten == false)
        #expect(driver.cancel(1) == true && driver.cacheTasks().outcomes.count == 1 && driver.isEmpty)
    }

    @Test func theQueueLimitRunsWhileAJobClaims() throws {
        try submit(1) { $0.queueLimit = 600 }
        _ = driver.cacheTasks()
        driver.now += 600
        _ = driver.commands()
        #expect(driver.error(of: 1)?.detail == .timeoutQueue && driver.isEmpty)
    }

    @Test func aPriorityThatIsSetDuringTheClaimCounts() throws {
        try submit(1)
        #expect(driver.setPriority(.veryHigh, of: 1))
        try goOn(1, 0)
        #expect(driver.commands() == [.start(1, .veryHigh)])
        driver.answer(1)
        #expect(driver.isEmpty)
    }

    @Test func aClaimedTransferWaitsInTheBackground() throws {
        // given
        try submit(1)
        _ = driver.cacheTasks()
        // when
        driver.enterBackground(grace: 0)
        try goOn(1, 0)
        // then
        #expect(driver.commands().contains(.pause(1)))
        driver.enterForeground()
        #expect(driver.commands().contains(.resume(1)))
    }

    // MARK: Handlers with another lookup, or without one

    /// Submits two requests for one URL: the first waits for its turn, and the second joins it before that comes.
    private func submitTwo(_ second: FakeLookup?) throws {
        driver.suspend(true)
        try driver.submit(0, asking: FakeLookup(1, isOptional: true), pixels: false)
        driver.answer(1, .turn(try fixture.look(0)))
        try driver.submit(0, pixels: false) { $0.lookup = second }
        #expect(driver.table.jobs.count == 1)
        driver.suspend(false)
        #expect(driver.cacheTasks().claimed == [1])
    }

    @Test(arguments: [FakeLookup(2, isOptional: true), nil])
    func aHitOfOneLookupIsNotUsedByAnother(_ second: FakeLookup?) throws {
        // given
        try submitTwo(second)
        // when
        driver.found(1)
        // then
        #expect(driver.ended.isEmpty && driver.commands().started == [1])
    }

    @Test(arguments: [FakeLookup(2, isOptional: true), nil])
    func anotherLookupDoesNotAwaitTheProcess(_ second: FakeLookup?) throws {
        try submitTwo(second)
        driver.answer(1, .busy(try fixture.look(0)))
        #expect(driver.cacheTasks().awaited.isEmpty && driver.commands().started == [1])
    }

    @Test func anEqualLookupGetsTheHitToo() throws {
        try submitTwo(FakeLookup(1, isOptional: true))
        driver.found(1)
        #expect(driver.ended.count == 2 && driver.commands().isEmpty && driver.isEmpty)
    }

    // MARK: Claims on disk

    @Test func processesClaimOneAfterTheOther() throws {
        // given
        let findings = Recorder<LookupResult>()
        let look = try fixture.look(0)
        // when
        look.claim { findings.record($0) }
        guard case .network(let revalidation?)? = findings.wait(count: 1)?.first else {
            Issue.record("the right to download was refused")
            return
        }
        try fixture.look(0).claim { findings.record($0) }
        // then
        guard case .busy(let next)? = findings.wait(count: 2)?.last else {
            Issue.record("two have the right to download")
            return
        }
        next.lookLater { findings.record($0) }
        revalidation.apply(.nothing)
        guard case .turn? = findings.wait(count: 3)?.last else {
            Issue.record("the second lookup did not get its turn after the first was done")
            return
        }
    }
}

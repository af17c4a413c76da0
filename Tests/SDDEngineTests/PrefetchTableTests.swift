import SDDBase
import Testing

@testable import SDDEngine

/// The order in which URLs begin, and the events that a list's application gets: rows B30 and Z22.
@Suite struct PrefetchTableTests {
    private func begun(_ limit: Int = 3) -> PrefetchDriver { PrefetchDriver(limit: limit) }

    @Test("B30: at most 3 run at once, over all lists, the first list first")
    func atMostThreeLoadsRunTheFirstListFirst() {
        var driver = begun()
        driver.submit("A", 2)
        driver.submit("B", 2)
        driver.submit("C", 1)
        #expect(driver.takeStarts() == ["A0", "A1", "B0"])
        driver.end("B0")
        #expect(driver.takeStarts() == ["B1"])
        driver.end("A1")
        driver.end("A0")
        #expect(driver.takeStarts() == ["C0"])
        #expect(driver.table.loadCount == 2)
    }

    @Test("B30: finished counts every URL that has ended, skipped counts those that failed")
    func finishedCountsAllAndSkippedTheFailed() {
        var driver = begun()
        driver.submit("A", 3)
        driver.end("A1", .badImageData)
        driver.end("A0")
        driver.end("A2", .timeout)
        #expect(driver.takeTold() == ["A1 1/1/3", "A0 2/1/3", "A2 3/2/3", "A end 3/2/3"])
        #expect(driver.reports.last?.isCancelled == false && driver.reports.last?.cancelled == 0)
        #expect(driver.reports.last?.outcomes.map(\.error?.code) == [nil, .badImageData, .timeout])
        #expect(driver.table.listCount == 0 && driver.table.loadCount == 0)
    }

    @Test("B30: an empty list ends at once, with nothing finished and nothing skipped")
    func anEmptyListEndsAtOnce() {
        var driver = begun()
        driver.submit("A", 0)
        #expect(driver.takeTold() == ["A end 0/0/0"])
        #expect(driver.reports.last?.isCancelled == false && driver.reports.last?.outcomes.isEmpty == true)
        #expect(driver.table.listCount == 0)
    }

    @Test("Z22: the outcome of each URL is reported, without its data")
    func theOutcomeOfEachURLIsReported() throws {
        var driver = begun()
        driver.submit("A", 2)
        let bytes = try Sample.body([1, 2, 3])
        let result = DownloadResult(bytes: bytes, response: Sample.response(206), origin: .disk, ended: 7)
        driver.end("A1", with: result)
        let step = try #require(driver.steps.last)
        #expect(step.bytes == nil && step.httpStatus == 206 && step.origin == .disk && step.ended == 7)
        let error = DownloadError(.badImageData, .imageCorrupt, "no")
        driver.end("A0", with: DownloadResult(error: error, stage: .decode, response: Sample.response(), ended: 8))
        #expect(driver.steps.last?.error == error && driver.steps.last?.stage == .decode)
        let outcomes = try #require(driver.reports.last).outcomes
        #expect(outcomes.map(\.error?.code) == [.badImageData, nil])
        #expect(outcomes.map(\.error?.detail) == [.imageCorrupt, nil])
        #expect(outcomes.map(\.httpStatus) == [200, 206])
        #expect(outcomes.map(\.origin) == [.network, .disk])
    }

    @Test("B30 Z5: a new priority applies to running loads, and later ones begin with it")
    func aNewPriority() {
        var driver = begun(2)
        driver.submit("A", 4)
        driver.submit("B", 1)
        #expect(driver.priority("A") == .veryLow && driver.begun == ["A0": .veryLow, "A1": .veryLow])
        #expect(driver.setPriority(.high, "A") == true)
        #expect(driver.takePriorities() == ["A0 high", "A1 high"])
        driver.end("A0")
        #expect(driver.begun["A2"] == .high)
        #expect(driver.takePriorities() == [])
        #expect(driver.setPriority(.low, "A") == true)
        #expect(driver.takePriorities() == ["A1 low", "A2 low"])
        for name in ["A1", "A2", "A3"] { driver.end(name) }
        // Another list has a priority of its own.
        #expect(driver.begun["A3"] == .low && driver.begun["B0"] == .veryLow && driver.priority("B") == .veryLow)
    }

    @Test("Z5: a load whose token arrives late gets the current priority of its list")
    func aPriorityIsSetBeforeTheToken() {
        var driver = begun(2)
        driver.tellsTokens = false
        driver.submit("A", 2)
        driver.tellToken("A0")
        #expect(driver.setPriority(.veryHigh, "A") == true)
        #expect(driver.takePriorities() == ["A0 veryHigh"])
        driver.tellToken("A1")
        #expect(driver.takePriorities() == ["A1 veryHigh"])
    }

    @Test("Z5: a list that has ended, or never existed, has no priority")
    func anEndedListHasNoPriority() {
        var driver = begun()
        driver.tellsTokens = false
        driver.submit("A", 1)
        driver.submit("B", 1)
        #expect(driver.cancel("A") == true)
        #expect(driver.setPriority(.high, "A") == false)
        #expect(driver.priority("A") == nil)
        // Its load is cancelled when its token arrives, and has no other effect.
        driver.tellToken("A0")
        #expect(driver.takeCancels() == ["A0"])
        driver.end("B0")
        #expect(driver.setPriority(.high, "B") == false)
        #expect(driver.setPriority(.high, "nobody") == false)
        driver.tellToken("B0")
        #expect(driver.takePriorities() == [])
    }

    @Test("B30: a cancelled list ends once, and no more of its URLs are reported")
    func aCancelledListEndsOnce() throws {
        var driver = begun()
        driver.submit("A", 6)
        driver.end("A1")
        _ = (driver.takeTold(), driver.takeStarts())
        #expect(driver.cancel("A") && !driver.cancel("A"))
        #expect(driver.takeTold() == ["A end 1/0/6"])
        #expect(driver.takeCancels() == ["A0", "A2", "A3"])
        let report = try #require(driver.reports.last)
        #expect(report.isCancelled && report.cancelled == 5)
        #expect(
            report.outcomes.map(\.error?.code) == [.cancelled, nil, .cancelled, .cancelled, .cancelled, .cancelled])
        #expect(
            report.outcomes.map(\.error?.detail)
                == [
                    .cancelledSending, nil, .cancelledSending, .cancelledSending, .cancelledWaiting,
                    .cancelledWaiting,
                ])
        for name in ["A0", "A2", "A3"] { driver.end(name, .cancelled) }
        #expect(driver.takeTold().isEmpty && driver.takeStarts().isEmpty)
        #expect(driver.table.loadCount == 0)
    }

    @Test("B30: loads of a cancelled list keep their slots until they have ended")
    func cancelledLoadsKeepTheirSlotsUntilTheEnd() {
        var driver = begun(2)
        driver.submit("A", 2)
        driver.submit("B", 2)
        _ = (driver.cancel("A"), driver.takeStarts())
        #expect(driver.takeStarts().isEmpty)
        driver.end("A0", .cancelled)
        #expect(driver.takeStarts() == ["B0"])
        driver.end("A1", .cancelled)
        #expect(driver.takeStarts() == ["B1"])
    }

    @Test("a waiting list is cancelled without a load, and the others are not affected")
    func aWaitingListIsCancelledWithoutALoad() {
        var driver = begun(1)
        driver.submit("A", 2)
        driver.submit("B", 2)
        driver.submit("C", 1)
        let isCancelled = driver.cancel("B")
        #expect(isCancelled)
        #expect(driver.takeCancels().isEmpty && driver.takeTold() == ["B end 0/0/2"])
        driver.end("A0")
        driver.end("A1")
        #expect(driver.takeStarts() == ["A0", "A1", "C0"])
    }

    @Test("a load whose token arrives after the cancel is cancelled then")
    func aLoadWhoseTokenArrivesLateIsCancelledThen() {
        var driver = begun()
        driver.tellsTokens = false
        driver.submit("A", 1)
        let isCancelled = driver.cancel("A")
        #expect(isCancelled)
        #expect(driver.takeCancels().isEmpty)
        driver.tellToken("A0")
        #expect(driver.takeCancels() == ["A0"])
    }

    @Test("a load may end before its token is known, and a second end is ignored")
    func aLoadMayEndBeforeItsTokenIsKnown() {
        var driver = begun()
        driver.tellsTokens = false
        driver.submit("A", 2)
        driver.end("A0")
        driver.tellToken("A0")
        driver.end("A0", .timeout)
        #expect(driver.takeTold() == ["A0 1/0/2"])
        #expect(driver.takeCancels().isEmpty)
    }

    @Test("the limit may change at any time; running loads continue")
    func theLimitMayChangeAtAnyTime() {
        var driver = begun(1)
        driver.submit("A", 6)
        driver.setLimit(4)
        #expect(driver.takeStarts() == ["A0", "A1", "A2", "A3"])
        driver.setLimit(2)
        #expect(driver.takeCancels().isEmpty)
        for name in ["A0", "A1"] { driver.end(name) }
        #expect(driver.takeStarts().isEmpty)
        driver.end("A2")
        #expect(driver.takeStarts() == ["A4"])
    }

    @Test("after closing all lists end as cancelled, and so does each later one")
    func closingEndsAllListsAsCancelled() {
        var driver = begun()
        driver.submit("A", 4)
        driver.submit("B", 1)
        driver.close()
        #expect(driver.takeTold() == ["A end 0/0/4", "B end 0/0/1"])
        #expect(driver.takeCancels() == ["A0", "A1", "A2"])
        driver.submit("C", 2)
        #expect(driver.takeTold() == ["C end 0/0/2"])
        #expect(driver.reports.allSatisfy(\.isCancelled) && driver.reports.count == 3)
        #expect(driver.takeStarts() == ["A0", "A1", "A2"])
    }

    @Test("a list of many URLs costs as much per URL as one of few", .timeLimit(.minutes(1)))
    func aListOfManyURLsCostsNoMorePerURL() {
        var driver = begun()
        driver.keepsLogs = false
        // With a copy of all outcomes for each URL this would take a terabyte.
        let count = 200_000
        driver.submit("A", count)
        for index in 0..<count { driver.end("A", index) }
        #expect(driver.reports.last?.counts.finished == count)
    }
}

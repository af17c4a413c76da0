import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// Limits on the time in the queue and on the total time: the clocks of Z6 that the table keeps.
@Suite struct ClockTests {
    private func waiting(_ change: (inout DownloadRequest) -> Void) throws -> (Driver, UInt64) {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0)
        let token = try driver.submit(1, change: change)
        _ = driver.commands()
        return (driver, token)
    }

    @Test("Z6: a request that waits longer than its queue limit ends with 3004 and the detail for it")
    func theQueueLimitEndsAWaitingRequest() throws {
        let (driver, token) = try waiting { $0.queueLimit = 500 }
        driver.now += 499
        #expect(driver.turn().deadline == driver.now + 1)
        #expect(driver.endOrder.isEmpty)
        driver.now += 1
        #expect(driver.turn().commands.isEmpty)
        #expect(driver.error(of: token)?.code == .timeout && driver.error(of: token)?.detail == .timeoutQueue)
        #expect(driver.ended[token]?.stage == .queue)
        #expect(driver.table.currentDownloadCount == 1)
    }

    @Test("Z6: the queue limit means nothing once the transfer has started")
    func theQueueLimitEndsAtTheStart() throws {
        let driver = try Driver()
        let token = try driver.submit(0) { $0.queueLimit = 500 }
        driver.now += 10_000
        _ = driver.turn()
        #expect(driver.ended[token] == nil)
        #expect(driver.turn().deadline == .max)
    }

    @Test("Z6: the total limit ends a request at every stage", arguments: [0, 1, 2, 3, 4])
    func theTotalLimitEndsEverything(stage: Int) throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        if stage == 0 { try driver.submit(9) }
        let token = try driver.submit(0) { $0.totalLimit = 1000 }
        _ = driver.commands()
        if stage == 2 { driver.respond(1) }
        if stage >= 3 { driver.answer(1) }
        if stage == 4 { _ = driver.nextWork() }
        driver.now += 1000
        let commands = driver.commands()
        #expect(driver.error(of: token)?.detail == .timeoutTotal)
        #expect(driver.ended[token]?.stage == [.queue, .response, .body, .decode, .decode][stage])
        #expect(commands == (stage == 1 || stage == 2 ? [.cancel(1)] : []))
    }

    @Test("Z4 Z6: requests that share a transfer have their own limits, each from its submission")
    func eachRequestHasItsOwnLimits() throws {
        let driver = try Driver()
        let first = try driver.submit(0) { $0.totalLimit = 1000 }
        driver.now += 600
        let second = try driver.submit(0) { $0.totalLimit = 1000 }
        let unlimited = try driver.submit(0)
        driver.now += 400
        #expect(driver.commands().cancelled.isEmpty)
        #expect(driver.endOrder == [first])
        driver.now += 600
        #expect(driver.commands().cancelled.isEmpty)
        #expect(driver.endOrder == [first, second])
        driver.answer(1)
        driver.work()
        #expect(driver.ended[unlimited]?.image != nil)
        #expect(driver.endOrder.count == 3)
    }

    @Test("Z4 Z6: the queue limit of one request does not end the others of a waiting transfer")
    func theQueueLimitEndsOnlyItsRequest() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0)
        let hasty = try driver.submit(1, priority: .veryHigh) { $0.queueLimit = 10 }
        let patient = try driver.submit(1)
        driver.now += 10
        _ = driver.turn()
        #expect(driver.endOrder == [hasty])
        #expect(driver.effectivePriority(of: patient) == .normal)
    }

    @Test("Z6: the transport is woken for a limit that runs out sooner than it knows, and for no other")
    func theTransportIsWokenForASoonerLimit() throws {
        let (driver, first) = try waiting { $0.totalLimit = 1000 }
        _ = driver.table.takeWakes()
        try driver.submit(2) { $0.totalLimit = 5000 }
        #expect(driver.table.takeWakes().transport == [])
        try driver.submit(3) { $0.totalLimit = 100 }
        #expect(driver.table.takeWakes().transport == .first)
        #expect(driver.turn().deadline == driver.now + 100)
        driver.now += 100
        #expect(driver.turn().deadline == driver.now + 900)
        driver.cancel(first)
        #expect(driver.turn().deadline == driver.now + 4900)
    }

    @Test("D19 Z6: the queue limit runs on while the downloader is suspended")
    func theQueueLimitRunsOnWhileSuspended() throws {
        let driver = try Driver()
        driver.suspend(true)
        let token = try driver.submit(0) { $0.queueLimit = 10 }
        driver.now += 10
        _ = driver.turn()
        #expect(driver.error(of: token)?.detail == .timeoutQueue)
    }

    @Test(
        "Z6: there is no limit by default, and a limit beyond the clock's range is none",
        arguments: [0, .max, .max - 1_000_000])
    func aLimitBeyondTheClocksRangeIsNone(limit: Int64) throws {
        let driver = try Driver()
        try driver.submit(0) {
            $0.totalLimit = limit
            $0.queueLimit = limit
        }
        #expect(driver.turn().deadline == .max)
        driver.now = .max - 1
        _ = driver.turn()
        #expect(driver.endOrder.isEmpty)
    }

    @Test("Z6: an expired transfer makes room for another")
    func anExpiredTransferMakesRoom() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0) { $0.totalLimit = 10 }
        try driver.submit(1)
        driver.now += 10
        #expect(driver.commands() == [.start(1, .normal), .cancel(1), .start(2, .normal)])
    }
}

import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The transfers that run, and their order: the table decides by limits, classes and the order inside a class.
@Suite struct QueueOrderTests {
    @Test("D7 G1: six transfers at a time by default, the seventh when one has ended")
    func startsSixAtATime() throws {
        // given
        #expect(DownloaderConfiguration().maxConcurrentDownloads == 6)
        #expect(DownloaderConfiguration().maxConcurrentPerHost == 6)
        let driver = try Driver()
        // when
        for number in 0..<10 { try driver.submit(number) }
        // then
        #expect(driver.commands().started == [1, 2, 3, 4, 5, 6])
        #expect(driver.commands().isEmpty)
        driver.fail(3)
        #expect(driver.commands().started == [7])
    }

    @Test func decidesAtTheMomentOfSubmissionAndWakesTheTransport() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0)
        #expect(driver.table.takeWakes().transport == .first)
        #expect(driver.table.slots.running == 1)
        // A second, more urgent request comes too late, though the transport has not asked yet.
        try driver.submit(1, priority: .veryHigh)
        #expect(driver.commands() == [.start(1, .normal)])
        // A request that only waits does not wake the transport.
        try driver.submit(2)
        #expect(driver.table.takeWakes().transport == [])
    }

    @Test("D7: a raised limit starts waiting transfers at once; a lowered one stops no running transfer")
    func theLimitChangesWhileTransfersRun() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        for number in 0..<6 { try driver.submit(number) }
        #expect(driver.commands().started == [1])
        driver.setRules { $0.maxConcurrent = 3 }
        #expect(driver.table.takeWakes().transport == .first)
        #expect(driver.commands().started == [2, 3])
        driver.setRules { $0.maxConcurrent = 1 }
        #expect(driver.commands().isEmpty)
        for id in [1, 2] as [UInt64] { driver.fail(id) }
        #expect(driver.commands().isEmpty)
        driver.fail(3)
        #expect(driver.commands().started == [4])
    }

    @Test("D8: the count is of transfers that wait or run, not of requests, nor of bodies being decoded")
    func countsTransfersThatWaitOrRun() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        for number in [0, 0, 1, 2, 2] { try driver.submit(number) }
        #expect(driver.table.currentDownloadCount == 3)
        driver.answer(1)
        #expect(driver.table.currentDownloadCount == 2)
        driver.cancelAll()
        #expect(driver.table.currentDownloadCount == 0)
    }

    @Test("D10 D11: first in, first out inside a class is the default")
    func servesInTheOrderOfSubmission() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        for number in 0..<20 { try driver.submit(number) }
        #expect(driver.startOrder() == Array(1...20))
    }

    @Test("D10 D13 B2: last in, first out: the newest waiting request starts next, and running ones are not stopped")
    func servesTheNewestFirst() throws {
        let driver = try Driver {
            $0.maxConcurrent = 1
            $0.order = .lifo
        }
        for number in 1...7 { try driver.submit(number) }
        #expect(driver.commands() == [.start(1, .normal)])
        var done: [UInt64] = [1]
        driver.fail(1)
        #expect(driver.commands() == [.start(7, .normal)])
        for number in 8...14 { try driver.submit(number) }
        // The running transfer continues.
        #expect(driver.commands().isEmpty)
        done.append(7)
        driver.fail(7)
        done += driver.startOrder()
        #expect(done == [1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2])
    }

    @Test("D14 R1 R2: the class comes first, then the order inside it", arguments: [false, true])
    func theClassBeatsTheOrder(isLIFO: Bool) throws {
        let driver = try Driver {
            $0.maxConcurrent = 1
            $0.order = isLIFO ? .lifo : .fifo
        }
        try driver.submit(0)
        for priority in Priority.allCases { try driver.submit(Int(priority.rawValue) * 10, priority: priority) }
        for priority in Priority.allCases { try driver.submit(Int(priority.rawValue) * 10 + 1, priority: priority) }
        let first: [UInt64] = [1, 6, 11, 5, 10, 4, 9, 3, 8, 2, 7]
        let last: [UInt64] = [1, 11, 6, 10, 5, 9, 4, 8, 3, 7, 2]
        #expect(driver.startOrder() == (isLIFO ? last : first))
    }

    @Test("D10: a new order applies to waiting requests")
    func theOrderChangesForWaitingRequests() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        for number in 1...5 { try driver.submit(number) }
        driver.setRules { $0.order = .lifo }
        driver.fail(1)
        driver.fail(5)
        #expect(driver.commands().started == [1, 5, 4])
        driver.setRules { $0.order = .fifo }
        driver.fail(4)
        #expect(driver.startOrder() == [2, 3])
    }

    @Test func aFullDecodeBacklogHoldsNewTransfersBack() throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        for number in 0..<4 { try driver.submit(number) }
        #expect(driver.commands().started == [1, 2])
        // Up to the limit the network continues: 3 starts as soon as 1 is done.
        driver.answer(1, size: 5 << 20)
        driver.answer(2, size: 5 << 20)
        #expect(driver.commands().started == [3])
        // A body that a decode thread has taken does not wait any more.
        #expect(driver.nextWork()?.id.number == 1)
        #expect(driver.table.takeWakes().transport == .first)
        #expect(driver.commands().started == [4])
    }

    @Test func aCancelledBodyNoLongerHoldsTransfersBack() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let large = try driver.submit(0)
        try driver.submit(1)
        driver.answer(1, size: 9 << 20)
        #expect(driver.commands().started == [1])
        driver.cancel(large)
        #expect(driver.commands().started == [2])
    }
}

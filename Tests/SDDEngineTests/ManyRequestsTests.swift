import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

/// Tens of thousands of requests in the queue. The time that takes is measured elsewhere.
@Suite struct ManyRequestsTests {
    private static let count = TestLength.count(100_000, short: 20_000)

    private func filled(_ set: (inout Driver.Table.Rules) -> Void = { _ in }) throws -> (Driver, [Priority]) {
        var random = SeededRandom(seed: 42)
        let driver = try Driver(set)
        driver.suspend(true)
        var priorities: [Priority] = []
        for number in 0..<Self.count {
            let priority = Priority.allCases.randomElement(using: &random) ?? .normal
            priorities.append(priority)
            try driver.submit(number, host: "host\(number % 7)", priority: priority)
        }
        return (driver, priorities)
    }

    @Test("Z3 D11: a long queue is served by priority, and in order inside a class", arguments: [false, true])
    func aLongQueueIsServedInOrder(isLIFO: Bool) throws {
        let (driver, priorities) = try filled { $0.order = isLIFO ? .lifo : .fifo }
        driver.suspend(false)
        let order = driver.startOrder()
        try #require(order.count == Self.count)
        let wanted = (1...UInt64(Self.count)).sorted { a, b in
            let (first, second) = (priorities[Int(a) - 1], priorities[Int(b) - 1])
            return first == second ? (isLIFO ? a > b : a < b) : first > second
        }
        #expect(order == wanted)
        #expect(driver.table.jobs.isEmpty)
    }

    @Test("D20: all of a long queue is cancelled")
    func aLongQueueIsCancelled() throws {
        let (driver, _) = try filled { $0.maxPerHost = 2 }
        driver.suspend(false)
        driver.cancelAll()
        #expect(driver.endOrder == Array(1...UInt64(Self.count)))
        #expect(driver.table.currentDownloadCount == 0)
        #expect(driver.commands().cancelled.count == 6)
    }

    @Test("X9: requests leave a long queue one by one, the last first and from its middle")
    func aLongQueueIsLeft() throws {
        let (driver, _) = try filled { $0.ageing = 1000 }
        var random = SeededRandom(seed: 7)
        for token in (1...UInt64(Self.count)).shuffled(using: &random) { #expect(driver.cancel(token) == true) }
        #expect(driver.table.jobs.isEmpty && driver.table.slots.waitingCount == 0)
    }

    @Test("Z3: a request that is never urgent enough does not slow down those that overtake it")
    func theUnurgentDoesNotSlowDownTheOthers() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0, priority: .veryHigh)
        let patient = try driver.submit(1, priority: .veryLow)
        var running: UInt64 = 1
        for number in 2..<50_000 {
            try driver.submit(number)
            driver.fail(running)
            running = try #require(driver.commands().started.last)
        }
        #expect(driver.ended[patient] == nil && driver.table.currentDownloadCount == 2)
    }
}

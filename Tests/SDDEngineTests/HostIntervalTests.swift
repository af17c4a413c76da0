import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The minimum time between two starts to one host.
@Suite struct HostIntervalTests {
    private static let start: Int64 = 1_000_000

    @Test("Z14: transfers to a host start one after the other, at an interval; others do not wait, nor do files")
    func startsToAHostKeepTheInterval() throws {
        // given
        let driver = try Driver {
            ($0.maxConcurrent, $0.minHostInterval) = (9, 100)
        }
        for number in 0..<3 { try driver.submit(number) }
        try driver.submit(3, host: "other")
        for number in 4..<6 { try driver.submit(number) { $0.transfer.url = try Sample.url("file:///\(number)") } }
        // when, then
        #expect(driver.turn() == ([1, 4, 5, 6].map { .start($0, .normal) }, Self.start + 100))
        driver.now += 99
        #expect(driver.turn() == ([], Self.start + 100))
        driver.now += 1
        #expect(driver.turn() == ([.start(2, .normal)], Self.start + 200))
        driver.now += 250
        #expect(driver.turn() == ([.start(3, .normal)], .max))
    }

    @Test("Z14: the interval runs from the start of a transfer, whenever that ends")
    func theIntervalRunsFromTheStart() throws {
        let driver = try Driver { $0.minHostInterval = 100 }
        try driver.submit(0)
        #expect(driver.commands().started == [1])
        driver.now += 40
        driver.answer(1)
        try driver.submit(1)
        #expect(driver.turn() == ([], Self.start + 100))
        driver.now = Self.start + 100
        #expect(driver.commands().started == [2])
    }

    @Test("Z14: the most urgent transfer of a host is next, whenever it was submitted")
    func theMostUrgentIsNext() throws {
        let driver = try Driver { $0.minHostInterval = 100 }
        for number in 0..<3 { try driver.submit(number) }
        #expect(driver.commands().started == [1])
        let token = try driver.submit(3, priority: .high)
        driver.now += 100
        #expect(driver.commands().started == [4])
        _ = token
    }

    @Test("Z14: a transfer cancelled during the interval causes no wake-up")
    func aCancelDuringTheIntervalCausesNoWakeUp() throws {
        let driver = try Driver { $0.minHostInterval = 100 }
        try driver.submit(0)
        let token = try driver.submit(1)
        #expect(driver.turn().deadline == Self.start + 100)
        driver.cancel(token)
        #expect(driver.turn() == ([], .max))
        #expect(driver.error(of: token)?.detail == .cancelledWaiting)
    }

    @Test("Z14: a new interval applies to waiting hosts, from their last start on", arguments: [0, 50, 200])
    func aNewIntervalAppliesToWaitingHosts(interval: Int64) throws {
        let driver = try Driver { $0.minHostInterval = 100 }
        for number in 0..<2 { try driver.submit(number) }
        _ = driver.commands()
        driver.now += 60
        driver.setRules { $0.minHostInterval = interval }
        #expect(driver.turn() == (interval < 60 ? ([.start(2, .normal)], .max) : ([], Self.start + 200)))
        if interval > 60 {
            driver.now = Self.start + 200
            #expect(driver.commands().started == [2])
        }
    }

    @Test("Z14: an infinite interval holds transfers back, and no time overflows")
    func anInfiniteIntervalHoldsTransfersBack() throws {
        let driver = try Driver { $0.minHostInterval = .max }
        for number in 0..<2 { try driver.submit(number) }
        #expect(driver.turn() == ([.start(1, .normal)], .max))
        driver.now = 1 << 60
        #expect(driver.commands().isEmpty)
        driver.setRules { $0.minHostInterval = 0 }
        #expect(driver.commands().started == [2])
    }

    @Test("hosts are forgotten after their interval")
    func hostsAreForgotten() {
        var queue = WaitingQueue<TransferID>(minInterval: 100)
        for host in 1...1000 as ClosedRange<UInt64> {
            let place = queue.append(TransferID(host), host: host, priority: .normal, at: Int64(host))
            queue.started(place, at: Int64(host))
            queue.ended(host: host)
            queue.restsEnded(at: Int64(host))
        }
        #expect(queue.hostCount == 100)
        queue.restsEnded(at: 1100)
        #expect(queue.hostCount == 0)
    }
}

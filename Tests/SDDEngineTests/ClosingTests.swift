import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// Closing a downloader, and the information about it and its requests until then.
@Suite struct ClosingTests {
    @Test("D17: closed with cancel, everything ends at once with 2002")
    func closingWithCancelEndsEverything() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let tokens = try (0..<3).map { try driver.submit($0) }
        driver.closing(cancels: true)
        #expect(driver.endOrder == tokens)
        #expect(driver.endOrder.allSatisfy { driver.error(of: $0)?.code == .cancelled })
        #expect(driver.table.gate != .closed)
    }

    @Test("D17: closed with drain, running and waiting requests finish; a close with cancel may follow")
    func closingWithDrainLetsRequestsFinish() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let tokens = try (0..<4).map { try driver.submit($0, pixels: false) }
        driver.closing(cancels: false)
        driver.answer(1)
        driver.answer(2)
        #expect(driver.endOrder == [tokens[0], tokens[1]])
        #expect(driver.endOrder.allSatisfy { driver.error(of: $0) == nil })
        driver.closing(cancels: true)
        #expect(driver.endOrder == tokens)
    }

    @Test("D18: a request after that ends with 2000 and the detail, and enters nothing", arguments: [true, false])
    func aRequestAfterClosingIsRefused(cancels: Bool) throws {
        let driver = try Driver()
        try driver.submit(0)
        driver.closing(cancels: cancels)
        // A request of the same URL is refused too, rather than joined.
        for number in [0, 1] {
            let token = try driver.submit(number)
            #expect(driver.error(of: token)?.code == .invalidOperation && driver.error(of: token)?.detail == .closed)
            #expect(driver.ended[token]?.stage == .submit)
        }
        #expect(driver.table.jobs.count == (cancels ? 0 : 1))
    }

    @Test("D17 Z1: destroying ends everything once, also after closing", arguments: [nil, true, false] as [Bool?])
    func destroyingEndsEverythingOnce(closingFirst: Bool?) throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        for number in 0..<5 { try driver.submit(number) }
        driver.answer(1)
        if let closingFirst { driver.closing(cancels: closingFirst) }
        driver.close()
        #expect(driver.endOrder.sorted() == [1, 2, 3, 4, 5])
        #expect(driver.table.gate == .closed)
        #expect(driver.table.jobs.isEmpty)
    }

    // MARK: - Information

    @Test("X1: waiting, running, received, decoding, and no information afterwards")
    func aRequestGoesThroughItsStates() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(9)
        let token = try driver.submit(0, priority: .low)
        driver.now += 10
        #expect(information(driver, token)?.state == .waiting)
        #expect(information(driver, token)?.waitingMicroseconds == 10)
        driver.fail(1)
        driver.now += 5
        #expect(information(driver, token)?.state == .running)
        #expect(information(driver, token)?.response == nil && information(driver, token)?.expectedBytes == -1)
        driver.respond(2, 206, expected: 30)
        driver.receive(2, 20)
        let running = try #require(information(driver, token))
        #expect(running.receivedBytes == 20 && running.expectedBytes == 30 && running.response?.status == 206)
        #expect(running.waitingMicroseconds == 10 && running.runningMicroseconds == 5)
        driver.finish(2, size: 30)
        driver.now += 100
        #expect(information(driver, token)?.state == .received)
        #expect(information(driver, token)?.runningMicroseconds == 5)
        _ = driver.nextWork()
        #expect(information(driver, token)?.state == .decoding)
        driver.decoded(2)
        #expect(information(driver, token) == nil)
    }

    @Test("X1 Z5: a request's own priority, and that of its transfer")
    func informationHasBothPriorities() throws {
        let driver = try Driver()
        let low = try driver.submit(0, priority: .low)
        try driver.submit(0, priority: .high)
        #expect(information(driver, low)?.priority == .low)
        #expect(information(driver, low)?.effectivePriority == .high)
        #expect(information(driver, low)?.url == "http://host/0")
    }

    private func information(_ driver: Driver, _ token: UInt64) -> RequestInformation? {
        driver.table.handler(of: token).map { RequestInformation($0.job, $0.handler, at: driver.now) }
    }

    @Test func countsItsWork() throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        for number in [0, 0, 1, 2, 3, 4] { try driver.submit(number) }
        driver.answer(1, size: 10)
        _ = driver.nextWork()
        driver.now += 7
        driver.decoded(1)
        driver.fail(2)
        driver.answer(3, size: 5)
        driver.cancel(6)
        let counts = driver.table.currentStatistics
        #expect(counts.requests == 6 && counts.joined == 1)
        #expect(counts.succeeded == 2 && counts.failed == 1 && counts.cancelled == 1)
        #expect(counts.transfersStarted == 5 && counts.transfersSucceeded == 2)
        #expect(counts.imagesDecoded == 1 && counts.decodeMicroseconds == 7 && counts.bodyBytes == 15)
        #expect(counts.connectionsOpened == 3 && counts.requestBytes == 300)
        #expect(counts.headerBytes == 60 && counts.wireBodyBytes == 9)
        #expect(counts.waiting == 0 && counts.running == 1 && counts.decoding == 1)
    }
}

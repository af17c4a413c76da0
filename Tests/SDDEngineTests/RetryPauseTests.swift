import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCaches
@testable import SDDEngine

/// Row Z7: requests that wait for their next attempt.
@Suite struct RetryPauseTests {
    private let driver: Driver
    private let token: UInt64

    /// A request whose first transfer has failed; the pause is 500 to 1000 microseconds.
    init() throws {
        driver = try Driver {
            ($0.maxConcurrent, $0.retry) = (1, RetryPolicy(maxAttempts: 2, delay: 1000))
        }
        driver.table.observes = true
        token = try driver.submit(0) { ($0.queueLimit, $0.totalLimit) = (100, 5000) }
        _ = driver.commands()
        driver.now += 50
        driver.fail(1)
    }

    @Test("Z7: it counts as waiting, and occupies no slot")
    func aPausingRequestCountsAsWaiting() throws {
        #expect(driver.table.currentDownloadCount == 1)
        let counts = driver.table.currentStatistics
        #expect(counts.waiting == 1 && counts.running == 0 && counts.decoding == 0 && counts.transfersStarted == 1)
        let found = driver.table.handler(of: token)
        let (job, handler) = try #require(found)
        let information = RequestInformation(job, handler, at: driver.now)
        #expect(information.state == .waiting && information.waitingMicroseconds == 50)
        #expect(information.runningMicroseconds == 0 && information.receivedBytes == 0)
        try driver.submit(1)
        #expect(driver.commands().started == [3])
    }

    @Test("Z7: cancelled, it ends at once, and nothing starts")
    func cancelled() {
        #expect(driver.cancel(token) == true)
        #expect(driver.error(of: token)?.detail == .cancelledWaiting)
        #expect(driver.ended[token]?.metrics.attempts == 1)
        #expect(driver.isEmpty && driver.table.retries.count == 0)
        #expect(driver.turn() == ([], .max))
    }

    @Test("Z7: closing with cancel, and the end of the downloader, end it; closing with drain does not")
    func closed() throws {
        driver.closing(cancels: false)
        #expect(driver.endOrder.isEmpty)
        driver.now += 1000
        #expect(driver.commands().started == [2])
        driver.fail(2)
        #expect(driver.error(of: token)?.code == .connectionLost)
        let other = try RetryPauseTests()
        other.driver.closing(cancels: true)
        #expect(other.driver.error(of: other.token)?.detail == .cancelledWaiting)
        let third = try RetryPauseTests()
        third.driver.close()
        #expect(third.driver.error(of: third.token)?.detail == .cancelledWaiting && third.driver.isEmpty)
    }

    @Test("Z7 Z6: its queue limit ended with the first attempt, that of a new request did not; the total limit runs on")
    func clocks() throws {
        let late = try driver.submit(0) { $0.queueLimit = 60 }
        driver.now += 100
        _ = driver.turn()
        #expect(driver.endOrder == [late] && driver.error(of: late)?.detail == .timeoutQueue)
        driver.suspend(true)
        driver.now += 4000
        #expect(driver.turn().deadline == 1_005_000)
        driver.now = 1_005_000
        _ = driver.turn()
        #expect(driver.error(of: token)?.detail == .timeoutTotal && driver.isEmpty)
    }

    @Test("Z7: suspended or in the background, nothing starts when the pause is over", arguments: [false, true])
    func nothingStartsWhileSuspendedOrInTheBackground(inBackground: Bool) {
        if inBackground { driver.enterBackground(grace: 100) } else { driver.suspend(true) }
        driver.now += 2000
        #expect(driver.commands().isEmpty && driver.endOrder.isEmpty)
        #expect(driver.table.currentDownloadCount == 1)
        if inBackground { driver.enterForeground() } else { driver.suspend(false) }
        #expect(driver.commands() == [.start(2, .normal)])
    }

    @Test("Z7: late events of the first transfer are ignored")
    func lateEventsAreIgnored() {
        driver.respond(1)
        driver.receive(1, 10)
        driver.finish(1)
        #expect(driver.endOrder.isEmpty && driver.table.retries.count == 1)
        driver.now += 2000
        #expect(driver.commands() == [.start(2, .normal)])
        driver.finish(1)
        driver.fail(1)
        #expect(driver.endOrder.isEmpty && driver.table.slots.running == 1)
    }

    @Test("Z7: the interval between starts to a host applies to retries, too")
    func theHostIntervalAppliesToRetries() throws {
        let driver = try Driver {
            ($0.minHostInterval, $0.retry) = (10_000, RetryPolicy(maxAttempts: 2, delay: 1000))
        }
        try driver.submit(0)
        _ = driver.commands()
        driver.fail(1)
        driver.now += 1000
        #expect(driver.turn() == ([], 1_010_000))
        driver.now = 1_010_000
        #expect(driver.commands() == [.start(2, .normal)])
    }

    @Test("Z7: thousands that are cancelled during the pause leave nothing behind")
    func manyCancelledPausesLeaveNothingBehind() throws {
        let driver = try Driver {
            $0.maxConcurrent = 9
            $0.retry = RetryPolicy(maxAttempts: 2, budget: nil, delay: 1 << 40, maxDelay: 1 << 40)
        }
        for number in 0..<5000 {
            let token = try driver.submit(number)
            let id = try #require(driver.commands().started.first)
            driver.fail(id)
            driver.cancel(token)
        }
        #expect(driver.isEmpty && driver.table.retries.count == 0 && driver.table.retries.endCount <= 1025)
        #expect(driver.turn().deadline == .max && driver.table.retries.endCount == 0)
    }

    // MARK: Caches

    @Test("Z7 Z17: the exchange with the cache and its part end, and then it is asked again")
    func cachesAreAskedAgain() throws {
        // given
        let fixture = try CacheFixture()
        let driver = try Driver { $0.retry = RetryPolicy(maxAttempts: 2, delay: 1000) }
        let token = try driver.submit(0, asking: FakeLookup(), pixels: false)
        #expect(driver.cacheTasks().asked == [1])
        driver.answer(1, .network(try fixture.revalidation(0, stored: nil, wishes: .resumes)))
        #expect(driver.commands() == [.start(1, .normal), .show(1)])
        driver.report(.response(TransferID(1), Sample.head(200, [("ETag", "\"a\"")], expected: 9)))
        driver.report(.body(TransferID(1), Sample.body(5)))
        // when
        driver.fail(1, .truncatedBody)
        // then
        let cacheTasks = driver.cacheTasks()
        #expect(cacheTasks.savingEnds == [false] && cacheTasks.outcomes.count == 1 && cacheTasks.asked.isEmpty)
        driver.now = driver.turn().deadline
        #expect(driver.commands().isEmpty && driver.cacheTasks().asked == [2])
        // An answer to the first lookup is ignored.
        driver.answer(1, .done)
        driver.answer(2, .network(try fixture.revalidation(0, stored: nil, wishes: .resumes)))
        #expect(driver.commands() == [.start(2, .normal), .show(2)])
        driver.answer(2, size: 9)
        #expect(driver.ended[token]?.bytes?.count == 9 && driver.ended[token]?.metrics.attempts == 2)
        #expect(driver.isEmpty)
    }

    @Test("Z7: a response that another process has stored meanwhile is used")
    func aResponseStoredMeanwhileIsUsed() throws {
        let fixture = try CacheFixture()
        let driver = try Driver { $0.retry = RetryPolicy(maxAttempts: 2, delay: 1000) }
        let token = try driver.submit(0, asking: FakeLookup(), pixels: false)
        driver.answer(1, .network(try fixture.revalidation(0, stored: nil)))
        _ = driver.commands()
        driver.fail(1)
        driver.now = driver.turn().deadline
        _ = driver.commands()
        driver.found(2, size: 4)
        #expect(driver.error(of: token) == nil && driver.ended[token]?.origin == .disk && driver.isEmpty)
        #expect(driver.ended[token]?.metrics.attempts == 1)
    }

    @Test("Z7 RFC 5861 §4: a stale response that may replace an error is served, without another attempt")
    func aStaleResponseComesBeforeARetry() throws {
        let fixture = try CacheFixture()
        let driver = try Driver { $0.retry = RetryPolicy(maxAttempts: 2, delay: 1000) }
        let token = try driver.submit(0, asking: FakeLookup(), pixels: false)
        let stale = [("Cache-Control", "max-age=10, stale-if-error=100000"), ("ETag", "\"a\"")]
        driver.answer(1, .network(try fixture.revalidation(0, stored: stale)))
        _ = driver.commands()
        driver.fail(1)
        #expect(driver.ended[token]?.origin == .httpStale && driver.isEmpty)
    }
}

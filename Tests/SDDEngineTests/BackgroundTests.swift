import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The application in the background, O4, and suspension, D19.
@Suite struct BackgroundTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    private func submit(_ driver: Driver, _ number: Int, continues: Bool) throws -> UInt64 {
        try driver.submit(number) { $0.continuesInBackground = continues }
    }

    @Test("O4: transfers are paused unless they may continue during the grace time; then they are cancelled")
    func theGraceTimeEnds() throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        let going = try submit(driver, 0, continues: true)
        let paused = try submit(driver, 1, continues: false)
        let waiting = try submit(driver, 2, continues: true)
        _ = driver.commands()
        driver.enterBackground(grace: 500)
        #expect(driver.table.takeWakes().transport == .first)
        #expect(driver.turn() == ([.pause(2)], driver.now + 500))
        driver.now += 500
        #expect(driver.turn() == ([.cancel(1)], .max))
        #expect(driver.error(of: going)?.code == .cancelled)
        #expect(driver.error(of: going)?.detail == .cancelledBackground)
        // No other transfer takes its place; waiting ones stay in the queue.
        #expect(driver.endOrder == [going])
        driver.enterForeground()
        #expect(driver.commands() == [.resume(2), .start(3, .normal)])
        _ = (paused, waiting)
    }

    @Test("O4: no grace time ends continuing transfers at once; an infinite one never", arguments: [0, -1] as [Int64])
    func noGraceTimeAndAnInfiniteOne(grace: Int64) throws {
        let token = try submit(driver, 0, continues: true)
        _ = driver.commands()
        driver.enterBackground(grace: grace)
        driver.now += 1 << 50
        #expect(driver.commands() == (grace == 0 ? [.cancel(1)] : []))
        #expect(driver.error(of: token)?.detail == (grace == 0 ? .cancelledBackground : nil))
    }

    @Test("O4: nothing starts in the background")
    func nothingStartsInTheBackground() throws {
        driver.enterBackground(grace: -1)
        _ = try submit(driver, 0, continues: true)
        driver.setRules { $0.maxConcurrent = 9 }
        driver.suspend(false)
        #expect(driver.commands().isEmpty)
        driver.enterForeground()
        #expect(driver.commands() == [.start(1, .normal)])
    }

    @Test("O4: after another call the new grace time counts")
    func theNewGraceTimeCounts() throws {
        let token = try submit(driver, 0, continues: true)
        driver.enterBackground(grace: 100)
        driver.now += 99
        driver.enterBackground(grace: 100)
        driver.now += 99
        _ = driver.turn()
        #expect(driver.ended[token] == nil)
        driver.now += 1
        _ = driver.turn()
        #expect(driver.error(of: token)?.detail == .cancelledBackground)
    }

    @Test("O4: a transfer continues while one of its requests may: joins and leavings resume and pause it")
    func joinsAndLeavingsResumeAndPause() throws {
        let plain = try submit(driver, 0, continues: false)
        _ = driver.commands()
        driver.enterBackground(grace: -1)
        let going = try submit(driver, 0, continues: true)
        #expect(driver.commands() == [.pause(1), .resume(1)])
        driver.cancel(going)
        #expect(driver.commands() == [.pause(1)])
        driver.cancel(plain)
        #expect(driver.commands() == [.cancel(1)])
    }

    @Test("O4: a request that refuses the response leaves, which may pause the transfer")
    func theRefusalOfTheContinuingRequestPauses() throws {
        try driver.submit(0) { $0.acceptance = try Sample.acceptance(statuses: "*") }
        _ = try submit(driver, 0, continues: true)
        driver.enterBackground(grace: -1)
        _ = driver.commands()
        driver.respond(1, 404)
        #expect(driver.commands() == [.pause(1)])
    }

    @Test("O4: in the foreground the most urgent transfer resumes first")
    func theMostUrgentResumesFirst() throws {
        for (number, priority) in [Priority.low, .high, .low, .veryHigh].enumerated() {
            try driver.submit(number, priority: priority)
        }
        _ = driver.commands()
        driver.enterBackground(grace: 0)
        #expect(driver.commands() == [.pause(1), .pause(2), .pause(3), .pause(4)])
        driver.enterForeground()
        #expect(driver.commands() == [.resume(4), .resume(2), .resume(1), .resume(3)])
        // A second call has no effect.
        driver.enterForeground()
        #expect(driver.commands().isEmpty)
    }

    @Test("O4 Z6: the queue and the total limit run on in the background")
    func theLimitsRunOn() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let running = try driver.submit(0) { $0.totalLimit = 100 }
        let waiting = try driver.submit(1) { $0.queueLimit = 200 }
        driver.enterBackground(grace: -1)
        driver.now += 200
        _ = driver.turn()
        #expect(driver.error(of: running)?.detail == .timeoutTotal)
        #expect(driver.error(of: waiting)?.detail == .timeoutQueue)
    }

    @Test("O4: a received body is decoded and delivered in the background")
    func receivedBodiesAreDelivered() throws {
        let token = try driver.submit(0)
        driver.answer(1)
        driver.enterBackground(grace: 0)
        driver.work()
        #expect(driver.ended[token]?.image != nil)
    }

    @Test("D19: while suspended nothing starts; running transfers continue, waiting ones can be cancelled and joined")
    func suspensionStartsNothing() throws {
        let running = try driver.submit(0, pixels: false)
        driver.suspend(true)
        #expect(driver.table.slots.isSuspended)
        let tokens = try (1..<4).map { try driver.submit($0) }
        #expect(driver.commands().started == [1])
        driver.answer(1)
        #expect(driver.ended[running]?.bytes != nil)
        driver.cancel(tokens[1])
        driver.setPriority(.high, of: tokens[2])
        #expect(driver.commands().isEmpty)
        driver.suspend(false)
        #expect(driver.commands() == [.start(4, .high), .start(2, .normal)])
        #expect(!driver.table.slots.isSuspended)
    }
}

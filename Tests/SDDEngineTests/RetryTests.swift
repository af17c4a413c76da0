import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// Row Z7 in the table: the requests that are retried, and the events that can occur meanwhile.
@Suite struct RetryTests {
    private let driver: Driver

    /// Allows three attempts, with one second before the second one.
    init() throws {
        driver = try Driver {
            $0.retry = RetryPolicy(maxAttempts: 3, delay: 1_000_000, maxDelay: 60_000_000)
        }
        driver.table.observes = true
    }

    private var kinds: [Notice.Kind] { driver.notices.map(\.kind) }
    private var pauses: [Int64] { driver.notices.filter { $0.kind == .retry }.map(\.delay) }

    /// Ends the pause, and returns the transfer that starts then.
    private func next() throws -> UInt64 {
        let (commands, deadline) = driver.turn()
        #expect(commands.started.isEmpty)
        driver.now = deadline
        return try #require(driver.commands().started.first)
    }

    private func refuse(_ id: UInt64, _ fields: [(String, String)], status: Int32 = 503) {
        driver.report(.response(TransferID(id), Sample.head(status, fields)))
    }

    // MARK: Retried failures

    @Test("Z7: 503, then 200: one end, two transfers, and a notice between them")
    func aRefusedResponseIsRetried() throws {
        // given
        let token = try driver.submit(0, pixels: false) { $0.wantsProgress = true }
        #expect(driver.commands() == [.start(1, .normal)])
        // when
        driver.respond(1, 503)
        // then
        #expect(driver.endOrder.isEmpty && kinds == [.start, .response, .stop, .retry])
        let retry = try #require(driver.notices.last)
        #expect(
            retry.error?.code == .invalidStatusCode && retry.httpStatus == 503 && retry.attempt == 1
                && retry.token == token)
        #expect((500_000...1_000_000).contains(retry.delay))
        #expect(driver.turn() == ([.cancel(1)], driver.now + retry.delay))
        driver.now += retry.delay - 1
        #expect(driver.commands().isEmpty)
        driver.now += 1
        #expect(driver.commands() == [.start(2, .normal)])
        driver.answer(2, size: 3)
        #expect(driver.error(of: token) == nil && driver.ended[token]?.metrics.attempts == 2)
        #expect(driver.notices.suffix(4).map(\.attempt) == [2, 2, 2, 2])
        #expect(driver.progress[token] == [[0, -1], [0, -1], [0, 3], [3, 3]])
        #expect(driver.isEmpty && driver.table.retries.count == 0)
    }

    @Test("Z7: when all attempts have failed, the last failure is reported", arguments: [1, 2, 5] as [Int32])
    func attemptsAreExhausted(most: Int32) throws {
        let token = try driver.submit(0) { $0.maxAttempts = most }
        var id = try #require(driver.commands().started.first)
        for attempt in 1...most {
            #expect(driver.endOrder.isEmpty)
            driver.fail(id, attempt == most ? .truncatedBody : .connectionLost)
            if attempt < most { id = try next() }
        }
        #expect(driver.error(of: token)?.code == .truncatedBody)
        #expect(driver.ended[token]?.metrics.attempts == most)
        #expect(driver.table.currentStatistics.transfersStarted == Int64(most))
        // Each pause is up to twice as long as the one before.
        for (index, pause) in pauses.enumerated() {
            #expect((500_000 << index...1_000_000 << index).contains(Int(pause)))
        }
        #expect(pauses.count == Int(most) - 1 && driver.isEmpty)
    }

    @Test(
        "Z7: transient failures of the network are retried",
        arguments: [
            .resolve, .connect, .connectTimeout, .firstByteTimeout, .stall, .tooSlow, .connectionLost, .truncatedBody,
            .noResources, .tlsHandshake, .notProcessed, .proxyUnavailable,
        ] as [TransportError.Kind])
    func transientFailuresAreRetried(kind: TransportError.Kind) throws {
        try driver.submit(0)
        driver.fail(1, kind)
        #expect(driver.endOrder.isEmpty && pauses.count == 1)
    }

    @Test("Z7: other failures are final", arguments: TransportError.Kind.allCases)
    func otherFailuresAreFinal(kind: TransportError.Kind) throws {
        let passing: [TransportError.Kind] = [
            .resolve, .connect, .connectTimeout, .firstByteTimeout, .stall, .tooSlow, .connectionLost, .truncatedBody,
            .noResources, .unsupported, .badConfiguration, .tlsHandshake, .notProcessed, .proxyUnavailable,
        ]
        if passing.contains(kind) { return }
        let token = try driver.submit(0)
        driver.fail(1, kind)
        #expect(driver.endOrder == [token] && pauses.isEmpty)
    }

    @Test(
        "Z7: a broken HTTP/2 connection is retried, though it is a protocol error", arguments: [16, 8] as [Int32])
    func brokenStreams(code: Int32) throws {
        try driver.submit(0)
        _ = driver.commands()
        driver.finish(1, .failure(TransportError(.notHTTP, curlCode: code)))
        #expect(driver.endOrder.isEmpty == (code == 16))
    }

    @Test(
        "Z7: transient statuses are retried, others are not",
        arguments: [
            (408, true), (425, true), (429, true), (500, true), (502, true), (503, true), (504, true), (304, false),
            (400, false), (401, false), (403, false), (404, false), (410, false), (501, false), (505, false),
        ] as [(Int32, Bool)])
    func statuses(status: Int32, mayPass: Bool) throws {
        try driver.submit(0)
        driver.respond(1, status)
        #expect(driver.endOrder.isEmpty == mayPass)
    }

    @Test("Z7: a method that must not be sent twice is sent again only if it was not sent")
    func unsafeMethods() throws {
        // given: every transfer here has sent 100 bytes
        let post = try driver.submit(0) { $0.transfer.method = "POST" }
        let put = try driver.submit(1) { $0.transfer.method = "PUT" }
        let unsent = try driver.submit(2) { $0.transfer.method = "POST" }
        _ = driver.commands()
        // when
        driver.fail(1, .connect)
        driver.fail(2)
        driver.report(.finished(TransferID(3), TransferEnd(result: .failure(TransportError(.connect)))))
        // then
        #expect(driver.endOrder == [post] && pauses.count == 2)
        _ = (put, unsent)
    }

    @Test("Z7: a body partly written to a descriptor is not retried", arguments: [false, true])
    func sinks(isWritten: Bool) throws {
        let sink = try BodySink(descriptor: nil) { _ in true }
        let token = try driver.submit(0, pixels: false) { $0.transfer.sink = sink }
        _ = driver.commands()
        driver.respond(1)
        if isWritten { driver.receive(1, 5) }
        driver.fail(1)
        #expect(driver.endOrder == (isWritten ? [token] : []))
    }

    @Test("Z7: requests that got facts or a preview of the body fail; others wait on")
    func requestsThatGotPreviewsAreNotRetried() throws {
        let knowing = try driver.submit(0) { $0.wantsFacts = true }
        let watching = try driver.submit(0) { $0.wantsPreviews = true }
        let other = try driver.submit(0)
        _ = driver.commands()
        driver.respond(1, expected: 100_000)
        driver.show(1, 50_000)
        _ = driver.nextWork()
        driver.advanced(1, Made.previews())
        #expect(driver.facts[knowing]?.count == 1 && driver.previews[watching]?.count == 1)
        driver.fail(1)
        #expect(driver.endOrder == [knowing, watching])
        #expect(driver.error(of: watching)?.code == .connectionLost)
        // The stream of the first body is gone.
        let id = try next()
        #expect(driver.table.decoding.streamCount == 0 && driver.job(of: other)?.progressive == nil)
        driver.answer(id)
        driver.work()
        #expect(driver.error(of: other) == nil && driver.isEmpty)
    }

    @Test("Z7: a response that a modifier has turned into a failure is retried, too")
    func aResponseAModifierRefusedIsRetried() throws {
        let token = try driver.submit(0, pixels: false) { $0.bodyWork = Sample.bodyWork(1, modifies: true) }
        _ = driver.commands()
        driver.respond(1, 503)
        driver.finish(1)
        #expect(driver.work() == 1 && driver.endOrder.isEmpty && pauses.count == 1)
        let id = try next()
        driver.answer(id)
        #expect(driver.work() == id && driver.error(of: token) == nil && driver.isEmpty)
    }

    // MARK: Retry-After

    @Test("Z7: Retry-After in seconds, and as a date")
    func retryAfter() throws {
        try driver.submit(0)
        _ = driver.commands()
        refuse(1, [("Retry-After", "42")], status: 429)
        #expect(pauses == [42_000_000])
        let id = try next()
        let now = SystemTime().wallMicroseconds() / 1_000_000
        refuse(id, [("Retry-After", HTTPDate.text(now + 30)), ("Date", HTTPDate.text(now))])
        #expect(pauses == [42_000_000, 30_000_000])
    }

    @Test("Z7: a longer Retry-After than allowed ends the request at once")
    func retryAfterTooLong() throws {
        let token = try driver.submit(0)
        _ = driver.commands()
        refuse(1, [("Retry-After", "61")])
        #expect(driver.endOrder == [token] && pauses.isEmpty)
    }

    @Test("Z7: the Retry-After of a good response does not apply to a truncated body")
    func retryAfterOfAGoodResponse() throws {
        try driver.submit(0)
        _ = driver.commands()
        refuse(1, [("Retry-After", "42")], status: 200)
        driver.fail(1, .truncatedBody)
        #expect(pauses.count == 1 && pauses[0] <= 1_000_000)
    }

    // MARK: The budget

    @Test("Z7: failures of a host without retries left are final; another host has its own")
    func theBudgetIsSpent() throws {
        let driver = try Driver { $0.retry = RetryPolicy(maxAttempts: 2, budget: 2) }
        let tokens = try (0..<3).map { try driver.submit($0) } + [try driver.submit(0, host: "other")]
        _ = driver.commands()
        for id in 1...4 as ClosedRange<UInt64> { driver.fail(id) }
        #expect(driver.endOrder == [tokens[2]])
        #expect(driver.table.retries.count == 3)
    }

    // MARK: Several requests

    @Test("Z7: a request that has had its attempts ends, the others wait on, and a new one has all of its attempts")
    func eachRequestHasItsOwnAttempts() throws {
        // given
        let one = try driver.submit(0) { $0.maxAttempts = 1 }
        let two = try driver.submit(0) { $0.maxAttempts = 2 }
        _ = driver.commands()
        // when, then
        driver.fail(1)
        #expect(driver.endOrder == [one] && driver.ended[one]?.metrics.attempts == 1)
        let late = try driver.submit(0) { $0.maxAttempts = 1 }
        #expect(driver.table.currentDownloadCount == 1)
        let id = try next()
        let later = try driver.submit(0) { $0.maxAttempts = 2 }
        driver.fail(id)
        #expect(driver.endOrder == [one, two, late])
        #expect(driver.ended[two]?.metrics.attempts == 2 && driver.ended[late]?.metrics.attempts == 1)
        driver.fail(try next())
        #expect(driver.endOrder.last == later && driver.ended[later]?.metrics.attempts == 2)
        #expect(driver.isEmpty)
    }

    @Test("Z7: a request that accepts the response gets it, and one that does not has no retry")
    func aRequestThatAcceptsTheResponseGetsIt() throws {
        let picky = try driver.submit(0, pixels: false)
        let taking = try driver.submit(0, pixels: false) { $0.acceptance = try Sample.acceptance(statuses: "*") }
        _ = driver.commands()
        driver.respond(1, 503)
        #expect(driver.endOrder == [picky] && pauses.isEmpty)
        driver.finish(1)
        #expect(driver.endOrder == [picky, taking] && driver.error(of: taking) == nil)
    }

    @Test("Z7 Z5: the next transfer is as urgent as its most urgent request at that time")
    func prioritiesMeanwhile() throws {
        let token = try driver.submit(0, priority: .low)
        _ = driver.commands()
        driver.fail(1)
        #expect(driver.setPriority(.high, of: token))
        #expect(driver.effectivePriority(of: token) == .high)
        driver.now = driver.turn().deadline
        #expect(driver.commands() == [.start(2, .high)])
    }
}

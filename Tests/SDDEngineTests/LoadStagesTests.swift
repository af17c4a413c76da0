import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The stages of loads in their downloader's table: requests with the load's token, one after another.
@Suite struct LoadStagesTests {
    private let driver: Driver
    private let token: UInt64 = 100

    /// The downloader runs one transfer at a time.
    init() throws { driver = try Driver { $0.maxConcurrent = 1 } }

    private func begin(_ path: String, queueLimit: Int64 = 0) throws {
        driver.forgetEnds()
        var request = try Sample.request("http://host/\(path)")
        request.isStage = true
        request.wantsPixels = false
        request.queueLimit = queueLimit
        driver.play { $0.submitted(request, token: token, listener: NumberedListener(token), at: driver.now) }
    }

    @Test("the queue limit of a stage is not counted from the start of the stage before")
    func queueLimits() throws {
        // given: a stage that takes most of its time, and fails
        try begin("a", queueLimit: 1_000_000)
        #expect(driver.commands() == [.start(1, .normal)])
        driver.now += 900_000
        driver.respond(1, 404)
        #expect(driver.error(of: token)?.code == .invalidStatusCode)
        // when: the next one waits behind another transfer
        try driver.submit(1)
        #expect(driver.commands().started == [2])
        try begin("b", queueLimit: 1_000_000)
        driver.now += 999_999
        _ = driver.commands()
        #expect(driver.ended[token] == nil)
        driver.now += 1
        _ = driver.commands()
        // then
        #expect(driver.error(of: token)?.detail == .timeoutQueue)
    }

    @Test("while a downloader is drained the stages of its loads continue")
    func drained() throws {
        driver.closing(cancels: false)
        try begin("a")
        #expect(driver.commands() == [.start(1, .normal)])
        driver.answer(1, size: 3)
        #expect(driver.ended[token]?.error == nil && driver.endOrder == [token])
        try driver.submit(1)
        #expect(driver.error(of: driver.lastToken)?.detail == .closed)
    }

    @Test("closing with cancel cancels them, also after a drain")
    func cancelled() throws {
        driver.closing(cancels: false)
        driver.closing(cancels: true)
        try begin("a")
        #expect(driver.error(of: token)?.code == .cancelled)
        #expect(driver.commands().isEmpty)
    }
}

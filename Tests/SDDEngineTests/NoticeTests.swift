import SDDBase
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

/// Notices that a listener gets about transfers: START, RESPONSE, FINISH, STOP.
@Suite struct NoticeTests {
    private func listening(_ set: (inout Driver.Table.Rules) -> Void = { _ in }) throws -> Driver {
        let driver = try Driver(set)
        driver.table.observes = true
        return driver
    }

    private func kinds(_ driver: Driver, of transfer: UInt64 = 1) -> [Notice.Kind] {
        driver.notices.filter { $0.transfer == transfer }.map(\.kind)
    }

    @Test("N1 N2 N3 N4: a good transfer, shared or not: START, RESPONSE, FINISH, STOP")
    func reportsAGoodTransfer() throws {
        let driver = try listening()
        let token = try driver.submit(0)
        try driver.submit(0)
        driver.now += 5
        driver.answer(1)
        driver.work()
        #expect(kinds(driver) == [.start, .response, .finish, .stop])
        #expect(driver.notices.allSatisfy { $0.token == token && $0.url == "http://host/0" && $0.level == .none })
        #expect(driver.notices.map(\.httpStatus) == [0, 200, 200, 200])
        #expect(driver.notices.allSatisfy { $0.error == nil })
        #expect(driver.notices.map(\.time) == [1_000_000, 1_000_005, 1_000_005, 1_000_005])
    }

    @Test("N5: without a listener there are no notices, and a new one gets none about the past")
    func reportsNothingByDefault() throws {
        let driver = try Driver()
        try driver.submit(0)
        driver.answer(1)
        #expect(driver.notices.isEmpty)
    }

    @Test("N2 N3 X34: a refused response gives RESPONSE, and then STOP with its error; no FINISH")
    func reportsARefusedResponse() throws {
        let driver = try listening()
        try driver.submit(0)
        driver.respond(1, 404)
        #expect(kinds(driver) == [.start, .response, .stop])
        #expect(driver.notices.last?.error?.code == .invalidStatusCode && driver.notices.last?.httpStatus == 404)
    }

    @Test("N3 X34: a failure gives STOP with its error", arguments: [false, true])
    func reportsAFailure(afterResponse: Bool) throws {
        let driver = try listening()
        try driver.submit(0)
        if afterResponse { driver.respond(1) }
        driver.fail(1)
        #expect(kinds(driver) == (afterResponse ? [.start, .response, .stop] : [.start, .stop]))
        #expect(driver.notices.last?.error?.code == .connectionLost)
    }

    @Test("N3: a cancel gives STOP with 2002, once, when the last request has left")
    func reportsACancel() throws {
        let driver = try listening()
        let tokens = try (0..<2).map { _ in try driver.submit(0) }
        driver.cancel(tokens[0])
        #expect(kinds(driver) == [.start])
        driver.cancel(tokens[1])
        driver.fail(1)
        #expect(kinds(driver) == [.start, .stop])
        #expect(driver.notices.last?.error?.code == .cancelled)
    }

    @Test("N1 N3: a transfer that never started gives no STOP")
    func reportsNothingOfATransferThatOnlyWaited() throws {
        let driver = try listening { $0.maxConcurrent = 1 }
        try driver.submit(0)
        driver.cancel(try driver.submit(1))
        driver.cancelAll()
        #expect(kinds(driver) == [.start, .stop])
        #expect(kinds(driver, of: 2).isEmpty)
    }

    @Test("X34 N4: FINISH is about the transfer: a bad picture, or a cancel during the decode, changes nothing")
    func finishIsOfTheTransferAlone() throws {
        let driver = try listening()
        try driver.submit(0)
        driver.answer(1)
        _ = driver.nextWork()
        driver.decoded(1, failure: .corrupt)
        let token = try driver.submit(1)
        driver.answer(2)
        driver.cancel(token)
        #expect(kinds(driver) == [.start, .response, .finish, .stop])
        #expect(kinds(driver, of: 2) == [.start, .response, .finish, .stop])
        #expect(driver.notices.last?.error == nil)
    }

    @Test("N3: every kind of end gives STOP: limits, closing, the end of the grace time")
    func everyEndGivesAStop() throws {
        let driver = try listening { $0.maxConcurrent = 3 }
        try driver.submit(0) { $0.totalLimit = 100 }
        try driver.submit(1) { $0.continuesInBackground = true }
        try driver.submit(2)
        driver.enterBackground(grace: 200)
        driver.now += 100
        _ = driver.commands()
        driver.now += 100
        _ = driver.commands()
        driver.close()
        let stops = driver.notices.filter { $0.kind == .stop }
        #expect(stops.map(\.transfer) == [1, 2, 3])
        #expect(stops.map(\.error?.code) == [.timeout, .cancelled, .cancelled])
    }

    @Test func messagesAreDeliveredUpToTheRequestedLevel() throws {
        let driver = try Driver()
        let token = try driver.submit(0)
        let levels: [LogLevel] = [.error, .warning, .info, .debug]
        for level in levels { driver.report(.message(TransferID(1), level, "unheard")) }
        driver.table.logs = .info
        for level in levels { driver.report(.message(TransferID(1), level, "\(level)")) }
        #expect(driver.notices.map(\.message) == ["error", "warning", "info"])
        #expect(driver.notices.map(\.level) == [.error, .warning, .info])
        #expect(driver.notices.allSatisfy { $0.kind == .log && $0.token == token && $0.url == "http://host/0" })
    }

    @Test func aMessageOfAnEndedTransferHasNoRequest() throws {
        let driver = try Driver()
        driver.table.logs = .debug
        driver.report(.message(TransferID(77), .error, "late"))
        #expect(driver.notices.first?.transfer == 77)
        #expect(driver.notices.first?.token == 0 && driver.notices.first?.url == nil)
    }
}

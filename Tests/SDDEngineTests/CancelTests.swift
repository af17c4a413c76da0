import SDDBase
import SDDCoders
import Testing

@testable import SDDEngine

/// Cancelling at every stage of a request.
@Suite struct CancelTests {
    @Test("X9 X10 X11 B1: a cancelled request ends with 2002, with a detail that says how far it had come")
    func saysHowFarTheRequestHadCome() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let working = try driver.submit(0)
        driver.answer(1)
        _ = driver.nextWork()
        let received = try driver.submit(1)
        driver.answer(2)
        let sending = try driver.submit(2)
        let waiting = try driver.submit(3)
        _ = driver.commands()
        for token in [working, received, waiting, sending] { #expect(driver.cancel(token) == true) }
        #expect(driver.endOrder.allSatisfy { driver.error(of: $0)?.code == .cancelled })
        #expect(
            [working, received, sending, waiting].map { driver.error(of: $0)?.detail } == [
                .cancelledDecoding, .cancelledDecoding, .cancelledSending, .cancelledWaiting,
            ])
        #expect(
            [working, received, sending, waiting].map { driver.ended[$0]?.stage } == [
                .decode, .decode, .response, .queue,
            ])
        #expect(driver.commands() == [.cancel(3)])
        #expect(driver.table.jobs.isEmpty)
    }

    @Test("K6 K7 X12: only the first cancel has an effect; tokens of ended requests or of none are harmless")
    func aSecondCancelHasNoEffect() throws {
        let driver = try Driver()
        let token = try driver.submit(0)
        #expect(driver.cancel(token) == true)
        #expect(driver.cancel(token) == nil)
        #expect(driver.cancel(0) == nil)
        #expect(driver.cancel(12_345) == nil)
        let done = try driver.submit(0, pixels: false)
        driver.answer(2)
        #expect(driver.cancel(done) == nil)
        #expect(driver.ended[done]?.error == nil)
        #expect(driver.endOrder == [token, done])
    }

    @Test("X7 X8: one of many leaves alone; the transfer ends with the last, whose cancel says so")
    func theTransferEndsWithItsLastRequest() throws {
        let driver = try Driver()
        let tokens = try (0..<3).map { _ in try driver.submit(0) }
        _ = driver.commands()
        #expect(driver.cancel(tokens[1]) == false)
        #expect(driver.cancel(tokens[0]) == false)
        #expect(driver.commands().isEmpty)
        #expect(driver.endOrder == [tokens[1], tokens[0]])
        #expect(driver.cancel(tokens[2]) == true)
        #expect(driver.commands() == [.cancel(1)])
    }

    @Test("X7: the others get the picture", arguments: [false, true])
    func theOthersGetThePicture(duringDecode: Bool) throws {
        let driver = try Driver()
        let (leaving, staying) = (try driver.submit(0), try driver.submit(0))
        if !duringDecode { driver.cancel(leaving) }
        driver.answer(1)
        _ = driver.nextWork()
        if duringDecode { driver.cancel(leaving) }
        driver.decoded(1)
        #expect(driver.error(of: leaving)?.code == .cancelled)
        #expect(driver.ended[staying]?.image != nil)
    }

    @Test("X9 X14: a request cancelled before its start is never started, and its place is free at once")
    func freesItsPlaceInTheQueueAtOnce() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        driver.suspend(true)
        let tokens = try (0..<3).map { try driver.submit($0) }
        driver.cancel(tokens[0])
        driver.cancel(tokens[1])
        #expect(driver.endOrder == [tokens[0], tokens[1]])
        #expect(driver.table.currentDownloadCount == 1)
        driver.suspend(false)
        #expect(driver.commands() == [.start(3, .normal)])
    }

    @Test("X10: the place of a cancelled transfer is free at once, and the cancel goes out before the next start")
    func freesItsPlaceOnTheNetworkAtOnce() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let token = try driver.submit(0)
        try driver.submit(1)
        _ = driver.commands()
        driver.cancel(token)
        #expect(driver.commands() == [.cancel(1), .start(2, .normal)])
    }

    @Test("X11 X33: the decode result of a cancelled request is dropped", arguments: [false, true])
    func aLateDecodeResultIsDropped(succeeds: Bool) throws {
        let driver = try Driver()
        let token = try driver.submit(0)
        driver.answer(1)
        _ = driver.nextWork()
        driver.cancel(token)
        driver.decoded(1, failure: succeeds ? nil : .corrupt)
        #expect(driver.endOrder == [token])
        #expect(driver.error(of: token)?.code == .cancelled)
    }

    @Test("X10 X33: reports of a cancelled transfer are dropped")
    func lateReportsAreDropped() throws {
        let driver = try Driver()
        let token = try driver.submit(0) { $0.wantsProgress = true }
        driver.cancel(token)
        let progress = driver.progress
        driver.respond(1)
        driver.receive(1, 5)
        driver.answer(1)
        driver.fail(1)
        #expect(driver.endOrder == [token])
        #expect(driver.progress == progress)
        #expect(driver.table.slots.running == 0)
    }

    @Test("D20 B1: cancelling all ends every request with 2002, in the order of submission")
    func cancelAllEndsEveryRequest() throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        let decoding = try driver.submit(0)
        driver.answer(1)
        let rest = try [1, 1, 2, 3, 3, 4].map { try driver.submit($0) }
        _ = driver.commands()
        driver.cancelAll()
        #expect(driver.endOrder == [decoding] + rest)
        #expect(driver.endOrder.allSatisfy { driver.error(of: $0)?.code == .cancelled })
        // The effect is immediate: the transfers end, and nothing else starts.
        #expect(driver.commands() == [.cancel(2), .cancel(3)])
        #expect(driver.table.currentDownloadCount == 0)
        // The downloader works as before.
        try driver.submit(9)
        #expect(driver.commands().started == [6])
    }
}

import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// The table alone: events in, effects out, no thread.
struct DownloadTableTests {
    typealias Table = DownloadTable<UInt64>

    // MARK: - Order

    @Test func startsSixAtATime() throws {
        // Given a table with the default limit
        let driver = try Driver(maxConcurrent: 6)
        // When ten requests for different pictures come in
        for number in 0..<10 { driver.submit(url: number) }
        // Then six start, and the seventh when one of them has ended
        #expect(driver.ask().started == [1, 2, 3, 4, 5, 6])
        #expect(driver.ask().started == [])
        driver.finish(3)
        #expect(driver.ask().started == [7])
    }

    @Test func startsTheMoreUrgentFirstAndInOrderWithinAClass() throws {
        let driver = try Driver(maxConcurrent: 1)
        driver.submit(url: 0, priority: .low)
        driver.submit(url: 1, priority: .normal)
        driver.submit(url: 2, priority: .high)
        driver.submit(url: 3, priority: .normal)
        driver.submit(url: 4, priority: .high)
        driver.submit(url: 5, priority: .low)
        #expect(driver.startOrder() == [3, 5, 2, 4, 1, 6])
    }

    @Test func aJoinerRaisesAWaitingTransferAndItsLeavingLowersItAgain() throws {
        let driver = try Driver(maxConcurrent: 1)
        driver.submit(url: 0)
        driver.submit(url: 1, priority: .low)
        driver.submit(url: 2)
        let urgent = driver.submit(url: 1, priority: .high)
        driver.cancel(urgent)
        #expect(driver.startOrder() == [1, 3, 2])
    }

    @Test func aRaisedLimitStartsWhatWaits() throws {
        let driver = try Driver(maxConcurrent: 1)
        for number in 0..<4 { driver.submit(url: number) }
        #expect(driver.ask().started == [1])
        #expect(driver.setMaxConcurrent(3))
        #expect(driver.ask().started == [2, 3])
    }

    @Test func aFullDecodeBacklogHoldsNewTransfersBack() throws {
        let driver = try Driver(maxConcurrent: 2)
        for number in 0..<4 { driver.submit(url: number) }
        #expect(driver.ask().started == [1, 2])
        driver.finish(1, size: 5 << 20)
        driver.finish(2, size: 5 << 20)
        #expect(driver.ask().started == [])
        // One that a decode thread has taken waits no more.
        #expect(driver.decodeBegins(1))
        #expect(driver.ask().started == [3, 4])
    }

    // MARK: - Sharing

    @Test func equalRequestsShareOneTransferAndEachIsTold() throws {
        let driver = try Driver(maxConcurrent: 6)
        let tokens = (0..<3).map { _ in driver.submit(url: 0) }
        #expect(driver.ask().started == [1])
        driver.finish(1)
        driver.decoded(1)
        #expect(driver.ended.keys.sorted() == tokens)
    }

    @Test(
        arguments: [
            { (request: inout HTTPRequest) in request.method = "HEAD" },
            { (request: inout HTTPRequest) in request.headers.set("X-Key", to: "2") },
            { (request: inout HTTPRequest) in request.verifiesCertificate = false },
            { (request: inout HTTPRequest) in request.method = "POST" },
        ] as [@Sendable (inout HTTPRequest) -> Void])
    func requestsThatDifferHaveTransfersOfTheirOwn(_ change: @Sendable (inout HTTPRequest) -> Void) throws {
        let driver = try Driver(maxConcurrent: 6)
        driver.submit(url: 0)
        driver.submit(url: 0, change: change)
        #expect(driver.ask().started == [1, 2])
    }

    @Test func aRequestForBytesEndsBeforeTheDecoder() throws {
        let driver = try Driver(maxConcurrent: 6)
        let pixels = driver.submit(url: 0)
        let bytes = driver.submit(url: 0, wantsPixels: false)
        _ = driver.ask()
        driver.finish(1)
        #expect(driver.ended.keys.sorted() == [bytes])
        driver.decoded(1)
        #expect(driver.ended.keys.sorted() == [pixels, bytes])
    }

    @Test func lateJoinersAreServedDuringDecoding() throws {
        let driver = try Driver(maxConcurrent: 6)
        driver.submit(url: 0)
        _ = driver.ask()
        driver.finish(1)
        let bytes = driver.submit(url: 0, wantsPixels: false)
        let pixels = driver.submit(url: 0)
        #expect(driver.ask().started == [])
        #expect(driver.ended[bytes]?.bytes != nil)
        driver.decoded(1)
        #expect(driver.ended[pixels]?.image != nil)
    }

    // MARK: - Ends

    @Test(arguments: [199, 204, 299, 300, 304, 404, 500])
    func onlyStatus200To299BringsAPicture(_ status: Int32) throws {
        let driver = try Driver(maxConcurrent: 6)
        let token = driver.submit(url: 0)
        _ = driver.ask()
        driver.respond(1, status: status)
        let refused = !(200...299).contains(status)
        #expect(driver.ended[token]?.error?.code == (refused ? .invalidStatusCode : nil))
        #expect(driver.ask().cancelled == (refused ? [1] : []))
    }

    @Test func cancellingSaysHowFarTheRequestHadCome() throws {
        let driver = try Driver(maxConcurrent: 1)
        let decoding = driver.submit(url: 0)
        _ = driver.ask()
        driver.finish(1)
        let sending = driver.submit(url: 1)
        _ = driver.ask()
        let waiting = driver.submit(url: 2)
        for token in [decoding, sending, waiting] { driver.cancel(token) }
        #expect(driver.ended[decoding]?.error?.detail == .cancelledDecoding)
        #expect(driver.ended[sending]?.error?.detail == .cancelledSending)
        #expect(driver.ended[waiting]?.error?.detail == .cancelledWaiting)
        // And the place is free at once, the transfer ended.
        driver.submit(url: 3)
        let commands = driver.ask()
        #expect(commands.cancelled == [2] && commands.started == [4])
    }

    @Test func theLateResultOfACancelledDecodeIsDropped() throws {
        let driver = try Driver(maxConcurrent: 1)
        let token = driver.submit(url: 0)
        _ = driver.ask()
        driver.finish(1)
        driver.cancel(token)
        driver.decoded(1)
        #expect(driver.endCount == 1)
    }

    @Test func cancellingTwiceFindsNothing() throws {
        let driver = try Driver(maxConcurrent: 1)
        let token = driver.submit(url: 0)
        #expect(driver.cancel(token))
        #expect(!driver.cancel(token))
        #expect(!driver.cancel(12_345))
    }

    @Test func closingEndsEverythingOnce() throws {
        let driver = try Driver(maxConcurrent: 2)
        for number in 0..<5 { driver.submit(url: number) }
        _ = driver.ask()
        driver.finish(1)
        driver.close()
        #expect(driver.endCount == 5)
        #expect(driver.ended.values.allSatisfy { $0.error?.code == .cancelled })
        #expect(driver.table.isClosed)
    }

    // MARK: - Progress (row C2)

    @Test func progressGoesFromTheStartOverTheResponseToTheWhole() throws {
        let driver = try Driver(maxConcurrent: 1)
        let token = driver.submit(url: 0, wantsProgress: true)
        _ = driver.ask()
        driver.respond(1, status: 200, expected: 10)
        driver.receive(1, 4)
        driver.finish(1, size: 10)
        #expect(driver.progress[token] == [[0, -1], [0, 10], [4, 10], [10, 10]])
    }

    @Test func aLateJoinerHearsWhatItMissed() throws {
        let driver = try Driver(maxConcurrent: 1)
        driver.submit(url: 0)
        _ = driver.ask()
        driver.respond(1, status: 200, expected: 10)
        driver.receive(1, 4)
        let late = driver.submit(url: 0, wantsProgress: true)
        #expect(driver.progress[late] == [[0, -1], [0, 10], [4, 10]])
    }

    // MARK: - Everything, in random order

    @Test(arguments: [1, 2, 3, 4])
    func agreesWithANaiveModelInAnyOrder(seed: UInt64) throws {
        var walk = try RandomWalk(seed: seed)
        for _ in 0..<25_000 { try walk.step() }
        try walk.end()
    }
}

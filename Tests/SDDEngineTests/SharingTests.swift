import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Requests that share a transfer, a body and a picture, each with its own end.
@Suite struct SharingTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    @Test("D22 X5 Z4: equal requests share one transfer, with a token and an end for each")
    func equalRequestsShareOneTransfer() throws {
        let tokens = try (0..<3).map { _ in try driver.submit(0) }
        #expect(Set(tokens).count == 3)
        #expect(driver.commands() == [.start(1, .normal)])
        driver.answer(1)
        #expect(driver.endOrder.isEmpty)
        driver.work()
        #expect(driver.endOrder == tokens)
        #expect(driver.table.currentStatistics.joined == 2)
    }

    @Test(
        "D22: requests that would send something different have transfers of their own",
        arguments: [
            { $0.transfer.method = "HEAD" },
            { $0.transfer.headers.set("X-Key", to: "2") },
            { $0.transfer.options = options { $0.verifiesCertificate = false } },
            { $0.transfer.options = options { $0.usesCookies = true } },
            { $0.transfer.options = options { $0.credential = Credential() } },
            { $0.transfer.options = options { $0.clocks.stall = 1 } },
            { $0.transfer.options = options { $0.clocks.connect = 1 } },
            { $0.transfer.options = options { $0.clocks.firstByte = 1 } },
            { $0.transfer.appTransport = FakeAppTransport() },
            { $0.bodyWork = Sample.bodyWork(1, transforms: true) },
            { $0.transfer.url = (try? Sample.url("https://host/0")) ?? $0.transfer.url },
        ] as [@Sendable (inout DownloadRequest) -> Void])
    func requestsThatDifferDoNotShare(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        try driver.submit(0)
        try driver.submit(0, change: change)
        #expect(driver.commands().started == [1, 2])
    }

    @Test("D22: header values that are canonically equal, but of other bytes, are not shared")
    func bytesOfHeadersDecide() throws {
        try driver.submit(0) { $0.transfer.headers.set("X-User", to: "K") }
        try driver.submit(0) { $0.transfer.headers.set("X-User", to: "\u{212a}") }
        #expect(driver.commands().started == [1, 2])
    }

    @Test(
        "D22 Z4: options that are not sent do not prevent sharing",
        arguments: [
            { $0.priority = .veryHigh },
            { $0.wantsPixels = false },
            { $0.wantsProgress = true },
            { $0.continuesInBackground = true },
            { $0.queueLimit = 5 },
            { $0.totalLimit = 5 },
            { $0.acceptance = Acceptance(statuses: "*", types: "*") ?? .standard },
            { $0.transfer.options = TransferOptions(TransferOptions.Values()) },
        ] as [@Sendable (inout DownloadRequest) -> Void])
    func optionsThatAreNotSentDoNotPreventSharing(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        try driver.submit(0)
        try driver.submit(0, change: change)
        #expect(driver.commands().started == [1])
    }

    @Test(
        "D22: requests that are not safe to send once for two are never shared",
        arguments: [
            { $0.transfer.method = "POST" }, { $0.transfer.method = "DELETE" },
            { $0.transfer.body = Sample.body(1) },
        ] as [@Sendable (inout DownloadRequest) -> Void])
    func unsafeRequestsAreNeverShared(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        for _ in 0..<2 { try driver.submit(0, change: change) }
        #expect(driver.commands().started == [1, 2])
    }

    @Test("D23: a transfer that was cancelled is not joined, though the transport has not heard of it yet")
    func aCancelledTransferIsNotJoined() throws {
        driver.cancel(try driver.submit(0))
        let second = try driver.submit(0)
        #expect(driver.commands() == [.start(1, .normal), .cancel(1), .start(2, .normal)])
        driver.answer(1)
        #expect(driver.ended[second] == nil)
        driver.answer(2)
        driver.work()
        #expect(driver.ended[second]?.image != nil)
    }

    @Test("D23: a transfer that has failed, was refused, or is done is not joined")
    func anEndedTransferIsNotJoined() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        try driver.submit(0)
        driver.fail(1)
        try driver.submit(0)
        driver.respond(2, 404)
        try driver.submit(0, pixels: false)
        driver.answer(3)
        try driver.submit(0)
        #expect(driver.commands().started == [1, 2, 3, 4])
    }

    @Test("D26: a response that arrives as soon as possible finds its request")
    func noFastResponseIsLost() throws {
        let token = try driver.submit(0, pixels: false)
        driver.answer(1)
        #expect(driver.ended[token]?.bytes?.count == 1)
    }

    @Test func aRequestForBytesEndsBeforeTheDecoder() throws {
        let pixels = try driver.submit(0)
        let bytes = try driver.submit(0, pixels: false)
        driver.answer(1)
        #expect(driver.endOrder == [bytes])
        #expect(driver.ended[bytes]?.image == nil)
        driver.work()
        #expect(driver.endOrder == [bytes, pixels])
    }

    @Test("X39: one body is decoded once, however many wait for it")
    func decodesOnceForAll() throws {
        let tokens = try (0..<5).map { _ in try driver.submit(0) }
        driver.answer(1)
        #expect(driver.table.takeWakes().decoders == 1)
        #expect(driver.work() == 1)
        #expect(driver.work() == nil)
        let picture = try #require(driver.ended[tokens[0]]?.image)
        #expect(tokens.allSatisfy { driver.ended[$0]?.image === picture })
    }

    @Test("X39: each distinct set of decode options is decoded once, in one go")
    func distinctOptionsAreDecodedInOneGo() throws {
        // given
        let formats = [PixelFormat.rgba8, .bgra8, .bgra8, .rgba8]
        let tokens = try formats.map { format in try driver.submit(0) { $0.form = DecodeOptions(format: format) } }
        driver.answer(1)
        // when
        let work = try #require(driver.nextWork())
        driver.decoded(1)
        // then
        guard case .decode(let forms, _) = work.step else { throw TestSupportFailure("no decode") }
        #expect(forms == [DecodeOptions(), DecodeOptions(format: .bgra8)])
        #expect(tokens.map { driver.ended[$0]?.image?.pixels.format } == formats)
        #expect(driver.ended[tokens[1]]?.image === driver.ended[tokens[2]]?.image)
        #expect(driver.table.statistics.imagesDecoded == 1 && driver.nextWork() == nil)
    }

    @Test("X39 X40: a request that joins during the decode with other options is served by another decode")
    func lateOptionsAreDecodedAfterwards() throws {
        // given
        let first = try driver.submit(0)
        driver.answer(1, size: 7)
        _ = driver.nextWork()
        let same = try driver.submit(0)
        let other = try driver.submit(0, priority: .high) { $0.form = DecodeOptions(format: .rgb8) }
        let upright = try driver.submit(0) { $0.form = DecodeOptions(isUpright: false) }
        // when
        driver.decoded(1)
        // then
        #expect(driver.ended[first]?.image != nil && driver.ended[same]?.image != nil)
        #expect(driver.ended[other] == nil && driver.table.job(of: other)?.priority == .high)
        #expect(driver.table.decoding.backlog.total == 7 && driver.table.takeWakes().decoders == 2)
        // and a later request now waits with them
        let late = try driver.submit(0) { $0.form = DecodeOptions(isUpright: false) }
        #expect(driver.work() == 1)
        #expect(driver.ended[other]?.image?.pixels.format == .rgb8)
        #expect(driver.ended[upright]?.image === driver.ended[late]?.image && driver.ended[late]?.image != nil)
        #expect(driver.commands().started == [1] && driver.table.jobs.isEmpty)
    }

    @Test("X40 B22: a request that joins while a body waits for the decoder, or is being decoded, is served from it")
    func lateJoinersAreServedFromTheSameBody() throws {
        try driver.submit(0)
        driver.answer(1)
        let early = try driver.submit(0)
        let bytes = try driver.submit(0, pixels: false)
        #expect(driver.ended[bytes]?.bytes?.count == 1)
        _ = driver.nextWork()
        let late = try driver.submit(0)
        let lateBytes = try driver.submit(0, pixels: false)
        #expect(driver.ended[lateBytes]?.bytes?.count == 1)
        driver.decoded(1)
        #expect(driver.ended[early]?.image != nil && driver.ended[late]?.image != nil)
        #expect(driver.commands().started == [1])
    }

    @Test("B22: late requests are told of a failure, too")
    func lateJoinersGetAFailure() throws {
        try driver.submit(0)
        driver.answer(1)
        _ = driver.nextWork()
        let late = try driver.submit(0)
        driver.decoded(1, failure: .truncated)
        #expect(driver.error(of: late)?.detail == .imageTruncated)
    }
}

private func options(_ set: (inout TransferOptions.Values) -> Void) -> TransferOptions {
    var values = TransferOptions.Values()
    set(&values)
    return TransferOptions(values)
}

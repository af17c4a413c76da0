import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// The bodies that are decoded before their last byte, and the steps of that.
@Suite struct ProgressiveDecodeTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    // MARK: - Which transfers

    @Test func aLargeSlowBodyIsDecodedProgressively() throws {
        _ = try driver.begin(0, expected: 192 << 10)
        driver.receive(1, 1000)
        driver.now += 24_999
        driver.receive(1, 2000)
        #expect(driver.commands().isEmpty)
        driver.now += 1
        driver.receive(1, 3000)
        driver.receive(1, 4000)
        #expect(driver.commands() == [.show(1)])
        #expect(driver.table.decoding.streamCount == 1)
    }

    @Test(
        arguments: [
            (196_608, 1000, true), (196_607, 1000, false),
            // At least a tenth of the received bytes must be missing.
            (1_100_000, 999_999, true), (1_100_000, 1_000_000, false),
            (-1, 196_607, false), (-1, 196_608, true),
        ] as [(Int64, Int64, Bool)])
    func enoughBytesMustBeMissing(expected: Int64, received: Int64, isRead: Bool) throws {
        _ = try driver.begin(0, expected: expected)
        driver.now += 25_000
        driver.receive(1, received)
        #expect(driver.commands() == (isRead ? [.show(1)] : []))
    }

    @Test(
        arguments: [
            { $0.wantsPixels = false },
            { $0.bodyWork = Sample.bodyWork(1, transforms: true) },
            { $0.transfer.sink = try! BodySink(descriptor: nil) { _ in true } },
            // Watched transfers are excluded for the same reasons.
            {
                $0.wantsPreviews = true
                $0.bodyWork = Sample.bodyWork(1, modifies: true)
            },
            {
                $0.wantsFacts = true
                $0.transfer.sink = try! BodySink(descriptor: nil) { _ in true }
            },
        ] as [@Sendable (inout DownloadRequest) -> Void])
    func someBodiesAreNeverDecodedProgressively(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        _ = try driver.begin(0, change: change)
        driver.now += 1_000_000
        driver.receive(1, 500_000)
        #expect(driver.commands().isEmpty && driver.table.decoding.streamCount == 0)
    }

    /// It is not begun again for the same requests, but for one that wants previews.
    @Test func aStreamMayAskForTheWholeBody() throws {
        // given
        _ = try driver.begin(0)
        driver.now += 25_000
        driver.show(1, 100_000)
        driver.show(1, 200_000)
        let part = try #require(driver.nextPart())
        #expect(part.part.mayWait)
        // when
        var step = PictureStream.Step()
        step.wantsWhole = true
        driver.advanced(1, step)
        driver.show(1, 300_000)
        // then
        #expect(driver.table.decoding.streamCount == 0 && driver.nextPart() == nil)
        // when
        _ = try driver.submit(0) { $0.wantsPreviews = true }
        driver.show(1, 400_000)
        // then
        #expect(driver.nextPart()?.part.mayWait == false)
    }

    /// A coder of the application has no previews, also not later.
    @Test func aWatchedStreamThatWantsTheWholeBodyEnds() throws {
        // given
        _ = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 10_000)
        #expect(driver.nextPart()?.part.mayWait == false)
        // when
        var step = PictureStream.Step()
        step.wantsWhole = true
        driver.advanced(1, step)
        for count in [20_000, 300_000] { driver.show(1, count) }
        // then
        #expect(driver.table.decoding.streamCount == 0 && driver.nextPart() == nil)
        #expect(driver.commands() == [.show(1)])
    }

    @Test(
        arguments: [{ $0.wantsFacts = true }, { $0.endsEarly = true }] as [@Sendable (inout DownloadRequest) -> Void])
    func aWatchedStreamMayNotAskForTheWholeBody(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        _ = try driver.begin(0, change: change)
        driver.show(1, 100_000)
        driver.show(1, 200_000)
        #expect(driver.nextPart()?.part.mayWait == false)
    }

    @Test func noneStartsWhileABodyWaitsForADecodeThread() throws {
        _ = try driver.begin(0)
        _ = try driver.begin(1)
        driver.now += 25_000
        driver.finish(2)
        driver.receive(1, 1000)
        #expect(driver.commands().isEmpty)
        _ = driver.nextWork()
        driver.receive(1, 2000)
        #expect(driver.commands() == [.show(1)])
    }

    @Test func theNumberAtATimeIsLimited() throws {
        let driver = try Driver { $0.progressive.streams = 2 }
        for number in 0..<3 { _ = try driver.begin(number) }
        driver.now += 25_000
        for id in 1...3 as ClosedRange<UInt64> { driver.receive(id, 1000) }
        #expect(driver.commands() == [.show(1), .show(2)])
        driver.fail(1)
        driver.receive(3, 2000)
        #expect(driver.commands() == [.show(3)])
        #expect(driver.table.decoding.streamCount == 2)
    }

    @Test(
        arguments: [
            { $0.wantsPreviews = true }, { $0.wantsFacts = true }, { $0.endsEarly = true },
            {
                $0.wantsFacts = true
                $0.wantsPixels = false
            },
        ] as [@Sendable (inout DownloadRequest) -> Void])
    func aWatchedBodyIsDecodedFromItsFirstByte(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        let driver = try Driver { $0.progressive.streams = 0 }
        _ = try driver.begin(0, expected: 10, change: change)
        driver.receive(1, 1)
        #expect(driver.commands() == [.show(1)])
    }

    @Test func aLateJoinerThatWatchesStartsIt() throws {
        _ = try driver.begin(0)
        driver.receive(1, 5000)
        #expect(driver.commands().isEmpty)
        let late = try driver.submit(0) { $0.wantsPreviews = true }
        #expect(driver.commands() == [.show(1)])
        driver.show(1, 5000)
        #expect(driver.nextPart()?.part.wantsPreviews == true)
        driver.advanced(1, Made.previews())
        #expect(driver.previews.keys.sorted() == [late])
    }

    // MARK: - Steps

    @Test("X30: at most one step of a transfer is under way")
    func oneStepAtATime() throws {
        _ = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        driver.show(1, 6000)
        #expect(driver.nextPart()?.count == 6000)
        driver.show(1, 60_000)
        driver.show(1, 70_000)
        #expect(driver.nextWork() == nil)
        driver.advanced(1)
        #expect(driver.nextPart()?.count == 70_000)
        #expect(driver.nextWork() == nil)
    }

    @Test("each step wakes one thread, and waits until there are enough bytes for it", arguments: [true, false])
    func stepsHaveAMinimumSize(isWatched: Bool) throws {
        _ = try driver.begin(0, expected: 4 << 20) { $0.wantsPreviews = isWatched }
        driver.now += 25_000
        // The least step of a watched transfer is 1 KiB, and with the first preview a 64th of the bytes read, at least
        // 4 KiB; otherwise a 32nd of the whole, at least 32 KiB.
        let least = isWatched ? [1 << 10, 16 << 10] : [128 << 10, 128 << 10]
        // when: the kind of the picture is not known yet
        driver.show(1, 1)
        _ = driver.table.takeWakes()
        #expect(driver.nextPart()?.count == 1)
        driver.advanced(1)
        driver.show(1, 2)
        #expect(driver.nextPart()?.count == 2)
        driver.advanced(1, .init(facts: Made.facts))
        var read = 2
        for least in least {
            // when
            driver.show(1, read + least - 1)
            #expect(driver.nextWork() == nil)
            _ = driver.table.takeWakes()
            driver.show(1, read + least)
            // then
            #expect(driver.table.takeWakes().decoders == 1)
            #expect(driver.nextPart()?.count == read + least)
            driver.advanced(1)
            if read > 2 { break }
            read = 1 << 20
            driver.show(1, read)
            #expect(driver.nextPart()?.count == read)
            driver.advanced(1, isWatched ? Made.previews() : .init())
        }
    }

    @Test("R3: the step of the most urgent transfer is first, even if it has become so in the queue")
    func stepsGoByPriority() throws {
        for (number, priority) in [Priority.low, .high, .normal].enumerated() {
            _ = try driver.begin(number, priority: priority) { $0.wantsPreviews = true }
        }
        for id in 1...3 as ClosedRange<UInt64> { driver.show(id, 5000) }
        #expect(driver.nextPart()?.id == 2)
        driver.setPriority(.veryHigh, of: 1)
        #expect(driver.nextPart()?.id == 1)
        #expect(driver.nextPart()?.id == 3)
    }

    @Test func aCompleteBodyGoesFirst() throws {
        _ = try driver.begin(0, priority: .veryHigh) { $0.wantsPreviews = true }
        _ = try driver.begin(1, priority: .veryLow)
        driver.show(1, 5000)
        driver.finish(2)
        #expect(driver.nextWork()?.id.number == 2)
        #expect(driver.nextPart()?.id == 1)
    }

    @Test("X10: the stream that began a picture also ends it")
    func theSameStreamDoesTheLastStep() throws {
        let token = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        guard case .advance(let stream, _)? = driver.nextWork()?.step else { throw TestSupportFailure("no step") }
        driver.advanced(1)
        driver.show(1, 50_000)
        // when: the step is still in the queue
        driver.finish(1, size: 60_000)
        // then
        guard case .decode(_, let last)? = driver.nextWork()?.step else { throw TestSupportFailure("no decode") }
        #expect(last === stream)
        #expect(driver.table.decoding.streamCount == 0 && driver.nextWork() == nil)
        driver.decoded(1)
        #expect(driver.ended[token]?.image != nil && driver.hasNothingAhead)
    }

    @Test("X30: the last byte arrives during a step: there is no more preview, and the picture once")
    func theLastByteArrivesDuringAStep() throws {
        let token = try driver.begin(0) {
            $0.wantsPreviews = true
            $0.endsEarly = true
        }
        driver.show(1, 5000)
        #expect(driver.nextPart() != nil)
        driver.finish(1, size: 6000)
        #expect(driver.nextWork() == nil)
        // when
        var step = Made.pictures()
        step.previews = Made.previews().previews
        driver.advanced(1, step)
        // then
        #expect(driver.previews.isEmpty && driver.endOrder.isEmpty)
        guard case .decode(_, .some)? = driver.nextWork()?.step else { throw TestSupportFailure("no decode") }
        driver.decoded(1)
        #expect(driver.ended[token]?.bytes?.count == 6000)
        #expect(driver.hasNothingAhead)
    }

    @Test func aFailedStepLeavesTheDecodeToTheWholeBody() throws {
        let token = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        _ = driver.nextPart()
        driver.advanced(1, failure: .corrupt)
        #expect(driver.table.decoding.streamCount == 0)
        // when
        driver.show(1, 50_000)
        try driver.submit(0) { $0.wantsPreviews = true }
        driver.show(1, 100_000)
        // then
        #expect(driver.nextWork() == nil && driver.endOrder.isEmpty)
        driver.finish(1, size: 110_000)
        guard case .decode(_, nil)? = driver.nextWork()?.step else { throw TestSupportFailure("no decode") }
        driver.decoded(1, failure: .corrupt)
        #expect(driver.error(of: token)?.code == .badImageData)
        #expect(driver.hasNothingAhead)
    }

    @Test func aFailedStepOfACompleteBodyLeavesTheDecodeToo() throws {
        let token = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        _ = driver.nextPart()
        driver.finish(1, size: 6000)
        driver.advanced(1, failure: .corrupt)
        guard case .decode(_, nil)? = driver.nextWork()?.step else { throw TestSupportFailure("no decode") }
        driver.decoded(1)
        #expect(driver.ended[token]?.image != nil && driver.hasNothingAhead)
    }

    // MARK: - Ends during a progressive decode

    /// The states of a progressive decode.
    enum Standing: CaseIterable { case begun, inLine, working, workingWithMore, between, received, workingAtTheEnd }

    private func bring(_ driver: Driver, to standing: Standing) throws -> UInt64 {
        let token = try driver.begin(0) { $0.wantsPreviews = true }
        driver.receive(1, 5000)
        if standing == .begun { return token }
        driver.show(1, 5000)
        if standing == .inLine { return token }
        if standing == .received {
            driver.finish(1, size: 6000)
            return token
        }
        _ = driver.nextPart()
        switch standing {
        case .workingWithMore: driver.show(1, 50_000)
        case .between: driver.advanced(1, Made.previews())
        case .workingAtTheEnd: driver.finish(1, size: 6000)
        default: break
        }
        return token
    }

    @Test("X11 X30: after a cancel nothing is left of it, and nothing is reported", arguments: Standing.allCases)
    func aCancelLeavesNothing(standing: Standing) throws {
        let token = try bring(driver, to: standing)
        let previews = driver.previews[token, default: []].count
        driver.cancel(token)
        #expect(driver.hasNothingAhead && driver.table.decoding.backlog.total == 0)
        driver.advanced(1, Made.previews())
        driver.advanced(1, failure: .corrupt)
        driver.show(1, 90_000)
        #expect(driver.previews[token, default: []].count == previews)
        #expect(driver.nextWork() == nil && driver.endOrder == [token])
        #expect(driver.hasNothingAhead)
    }

    @Test(arguments: [Standing.begun, .inLine, .working, .workingWithMore, .between])
    func aFailureOfTheTransferLeavesNothing(standing: Standing) throws {
        let token = try bring(driver, to: standing)
        driver.fail(1)
        driver.advanced(1, Made.previews())
        #expect(driver.nextWork() == nil && driver.hasNothingAhead)
        #expect(driver.error(of: token)?.code == .connectionLost)
    }

    @Test("O1: with the decoder itself: previews of a progressive JPEG, then the picture")
    func previewsAreMadeOfTheReceivedBytes() throws {
        let whole = try Fixtures.array("large/progressive.jpg")
        let driver = try Driver { $0.progressive.previewMicroseconds = 0 }
        let token = try driver.begin(0, expected: Int64(whole.count)) { $0.wantsPreviews = true }
        for count in stride(from: 4000, to: whole.count, by: 4100) {
            driver.receive(1, Int64(count))
            driver.report(.body(TransferID(1), try Sample.body(Array(whole[..<count]))))
            driver.now += 1000
            driver.work()
        }
        let previews = driver.previews[token, default: []]
        #expect(previews.count > 3)
        #expect(previews.allSatisfy { $0.isPreview && $0.bytes == nil && $0.error == nil && $0.stage == .none })
        #expect(previews.allSatisfy { $0.image?.pixels.width == 640 && $0.image?.pixels.height == 480 })
        #expect(driver.facts.isEmpty)
    }
}

import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Transfers that stop when the picture is complete, before the last byte.
@Suite struct EarlyEndTests {
    private let small = DecodeOptions(size: SizeRule(width: 1, height: 1))

    @Test func doesNotWaitForTheRestOfTheBody() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        driver.table.observes = true
        let token = try driver.begin(0, expected: 100_000) { $0.endsEarly = true }
        let next = try driver.submit(1)
        driver.show(1, 30_000)
        #expect(driver.nextPart()?.part.endsEarly == true)
        driver.receive(1, 40_000)
        driver.now += 500
        _ = driver.commands()
        // when
        let step = Made.pictures()
        driver.advanced(1, step)
        // then
        let result = try #require(driver.ended[token])
        #expect(try result.image === step.pictures?[0].image.get() && result.bytes == nil && result.error == nil)
        #expect(!result.isPreview && result.metrics.savedBytes == 60_000 && result.metrics.bodyBytes == 40_000)
        #expect(result.timings.transfer.total == 500)
        #expect(driver.commands() == [.cancel(1), .start(2, .normal)])
        #expect(driver.table.currentStatistics.imagesDecoded == 1)
        #expect(driver.notices.filter { $0.transfer == 1 }.map(\.kind) == [.start, .response, .stop])
        // Bytes that arrive late are dropped.
        driver.show(1, 50_000)
        driver.finish(1, size: 100_000)
        driver.advanced(1, Made.pictures())
        #expect(driver.endOrder == [token] && driver.table.decoding.streamCount == 0 && driver.table.slots.running == 1)
        driver.cancel(next)
        #expect(driver.hasNothingAhead && driver.table.slots.running == 0)
    }

    @Test func withoutALengthNoSavedBytesAreCounted() throws {
        let driver = try Driver()
        let token = try driver.begin(0, expected: -1) { $0.endsEarly = true }
        driver.show(1, 30_000)
        _ = driver.nextPart()
        driver.advanced(1, Made.pictures())
        #expect(driver.ended[token]?.image != nil && driver.ended[token]?.metrics.savedBytes == 0)
    }

    @Test(
        "all requests of the transfer must want it",
        arguments: [
            { $0.wantsPixels = false }, { $0.endsEarly = false },
            {
                $0.wantsPixels = false
                $0.endsEarly = true
            },
        ] as [@Sendable (inout DownloadRequest) -> Void])
    func allRequestsMustWantIt(_ change: @Sendable (inout DownloadRequest) -> Void) throws {
        let driver = try Driver()
        _ = try driver.begin(0) { $0.endsEarly = true }
        let other = try driver.submit(0, change: change)
        driver.show(1, 30_000)
        #expect(driver.nextPart()?.part.endsEarly == false)
        driver.advanced(1, .init(facts: Made.facts, isComplete: true))
        #expect(driver.endOrder.isEmpty)
        // when: the requests that do not want it leave
        driver.cancel(other)
        driver.show(1, 40_000)
        #expect(driver.nextPart()?.part.endsEarly == true)
        driver.advanced(1, Made.pictures())
        #expect(driver.endOrder == [2, 1])
    }

    @Test("a request that joins during the step may keep it going", arguments: [true, false])
    func aJoinerKeepsTheTransferGoing(wantsIt: Bool) throws {
        let driver = try Driver()
        let first = try driver.begin(0) { $0.endsEarly = true }
        driver.show(1, 30_000)
        _ = driver.nextPart()
        // when: a request joins that wants the whole body, or another size
        let late = try driver.submit(0) {
            $0.endsEarly = wantsIt
            if wantsIt { $0.form = small }
        }
        driver.advanced(1, Made.pictures())
        #expect(driver.endOrder.isEmpty && driver.commands().cancelled.isEmpty)
        // then
        driver.show(1, 40_000)
        #expect(driver.nextPart()?.part.endsEarly == wantsIt)
        if wantsIt {
            driver.advanced(1, Made.pictures(DecodeOptions(), small))
            #expect(driver.ended[late]?.image?.form == small && driver.ended[first]?.image?.form == DecodeOptions())
        } else {
            driver.advanced(1)
            driver.finish(1, size: 50_000)
            driver.work()
            #expect(driver.ended[first]?.bytes?.count == 50_000)
        }
        #expect(driver.endOrder.sorted() == [first, late] && driver.hasNothingAhead)
    }

    @Test func theFactsAreDeliveredFirst() throws {
        let driver = try Driver()
        let token = try driver.begin(0) {
            $0.endsEarly = true
            $0.wantsFacts = true
        }
        driver.show(1, 30_000)
        _ = driver.nextPart()
        driver.advanced(1, Made.pictures())
        #expect(driver.facts[token]?.count == 1 && driver.ended[token] != nil)
    }
}

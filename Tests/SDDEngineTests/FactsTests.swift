import SDDBase
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// The facts of a picture: delivered once, and before the end.
@Suite struct FactsTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    @Test func factsAreDeliveredOnceToEachRequest() throws {
        let first = try driver.begin(0) { $0.wantsFacts = true }
        let bytes = try driver.submit(0, pixels: false) { $0.wantsFacts = true }
        let other = try driver.submit(0) { $0.wantsPreviews = true }
        driver.show(1, 100)
        _ = driver.nextPart()
        driver.advanced(1, .init(facts: Made.facts))
        let late = try driver.submit(0) { $0.wantsFacts = true }
        driver.show(1, 10_000)
        _ = driver.nextPart()
        driver.advanced(1, .init(facts: Made.facts))
        driver.finish(1, size: 20_000)
        driver.work()
        for token in [first, bytes, late] { #expect(driver.facts[token]?.count == 1) }
        #expect(driver.facts[other] == nil)
        #expect(driver.endOrder.sorted() == [first, bytes, other, late])
    }

    @Test("also for a body that arrives in one piece")
    func factsOfASmallBodyAreDelivered() throws {
        let token = try driver.submit(0) { $0.wantsFacts = true }
        driver.answer(1)
        _ = driver.nextWork()
        driver.decoded(1, facts: Made.facts)
        #expect(driver.facts[token]?.count == 1)
        #expect(driver.ended[token]?.image != nil)
    }

    @Test(arguments: [nil, CoderError.Kind.corrupt])
    func aRequestForBytesWaitsForTheFacts(failure: CoderError.Kind?) throws {
        let bytes = try driver.submit(0, pixels: false) { $0.wantsFacts = true }
        let plain = try driver.submit(0, pixels: false)
        driver.answer(1, size: 5)
        #expect(driver.endOrder == [plain])
        // when
        guard case .decode([], nil)? = driver.nextWork()?.step else { throw TestSupportFailure("no look") }
        let late = try driver.submit(0, pixels: false) { $0.wantsFacts = true }
        driver.decoded(1, failure: failure, facts: failure == nil ? Made.facts : nil)
        // then: with any outcome
        for token in [bytes, late] {
            #expect(driver.ended[token]?.bytes?.count == 5)
            #expect(driver.facts[token, default: []].count == (failure == nil ? 1 : 0))
        }
        #expect(driver.table.currentStatistics.imagesDecoded == 0)
        #expect(driver.hasNothingAhead && driver.nextWork() == nil)
    }

    @Test func aBadPictureDoesNotDelayARequestForBytes() throws {
        let pixels = try driver.submit(0)
        let bytes = try driver.submit(0, pixels: false) { $0.wantsFacts = true }
        driver.answer(1)
        _ = driver.nextWork()
        driver.decoded(1, failure: .corrupt, facts: Made.facts)
        #expect(driver.error(of: pixels)?.code == .badImageData)
        #expect(driver.ended[bytes]?.error == nil && driver.facts[bytes]?.count == 1)
        #expect(driver.facts[pixels] == nil)
    }

    @Test("when they are known, and no request wants the picture, no more is read")
    func readingEndsWhenTheFactsAreKnown() throws {
        let token = try driver.begin(0, pixels: false) { $0.wantsFacts = true }
        driver.show(1, 100)
        _ = driver.nextPart()
        driver.advanced(1, .init(facts: Made.facts))
        #expect(driver.table.decoding.streamCount == 0)
        driver.show(1, 500_000)
        #expect(driver.nextWork() == nil)
        // when: a request joins that wants the picture, too
        let late = try driver.submit(0) {
            $0.wantsPreviews = true
            $0.wantsFacts = true
        }
        driver.show(1, 510_000)
        #expect(driver.nextPart()?.part.wantsPreviews == true)
        driver.advanced(1, .init(facts: Made.facts))
        // then
        driver.finish(1, size: 600_000)
        driver.work()
        #expect(driver.ended[token]?.bytes?.count == 600_000 && driver.ended[late]?.image != nil)
        #expect(driver.facts[token]?.count == 1 && driver.facts[late]?.count == 1)
        #expect(driver.hasNothingAhead)
    }

    /// How a step ends that was made while nobody wanted more than the picture.
    enum StepEnd: CaseIterable { case fails, wantsTheWholeBody, findsNothing }

    @Test(
        "a request that joins during a step or after it is told from the bytes there are", arguments: StepEnd.allCases,
        [true, false])
    func aRequestThatJoinsNeedsNoMoreBytes(end: StepEnd, joinsDuringStep: Bool) throws {
        // given
        _ = try driver.begin(0)
        driver.now += 25_000
        driver.show(1, 100_000)
        driver.show(1, 200_000)
        #expect(driver.nextPart()?.part.mayWait == true)
        #expect(driver.commands() == [.show(1)])
        let join = { try driver.submit(0, pixels: false) { $0.wantsFacts = true } }
        var token = try joinsDuringStep ? join() : 0
        // when
        var step = PictureStream.Step()
        step.wantsWhole = end == .wantsTheWholeBody
        if end == .fails { driver.advanced(1, failure: .unknownFormat) } else { driver.advanced(1, step) }
        if !joinsDuringStep { token = try join() }
        // then: the transport shows the body to a stream that begins again
        if driver.commands().contains(.show(1)) { driver.show(1, 200_000) }
        #expect(driver.nextPart()?.part.mayWait == false)
        driver.advanced(1, .init(facts: Made.facts))
        #expect(driver.facts[token]?.count == 1)
    }

    @Test("facts are delivered once, even if a late request makes the picture decode again")
    func factsAreDeliveredOnceIfThePictureIsDecodedTwice() throws {
        let first = try driver.submit(0) { $0.wantsFacts = true }
        driver.answer(1)
        _ = driver.nextWork()
        let late = try driver.submit(0) {
            $0.wantsFacts = true
            $0.form = DecodeOptions(format: .grey8)
        }
        driver.decoded(1, facts: Made.facts)
        #expect(driver.endOrder == [first])
        _ = driver.nextWork()
        driver.decoded(1, facts: Made.facts)
        #expect(driver.endOrder == [first, late])
        #expect(driver.facts[first]?.count == 1 && driver.facts[late]?.count == 1)
    }

    @Test("they are of the body that the application's transform made", arguments: [true, false])
    func factsAreOfTheTransformedBody(pixels: Bool) throws {
        let token = try driver.submit(0, pixels: pixels) {
            $0.wantsFacts = true
            $0.bodyWork = Sample.bodyWork(1, transforms: true)
        }
        driver.answer(1)
        driver.work()
        #expect(driver.facts.isEmpty)
        _ = driver.nextWork()
        driver.decoded(1, facts: Made.facts)
        #expect(driver.facts[token]?.count == 1 && driver.ended[token]?.error == nil)
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// The previews that are made, and the requests that they are shown to.
@Suite struct PreviewTests {
    private let small = DecodeOptions(size: SizeRule(width: 1, height: 1))

    /// Takes the next step of transfer 1, with that many bytes of its body.
    private func wantsPreviews(_ driver: Driver, _ count: Int) throws -> Bool {
        driver.show(1, count)
        return try #require(driver.nextPart()).part.wantsPreviews
    }

    @Test("Z20: previews have a minimum distance in time")
    func previewsHaveAMinimumDistanceInTime() throws {
        let driver = try Driver()
        _ = try driver.begin(0) { $0.wantsPreviews = true }
        #expect(try wantsPreviews(driver, 5000))
        driver.advanced(1, Made.previews())
        driver.now += 99_999
        #expect(try !wantsPreviews(driver, 10_000))
        // A step without a preview changes nothing.
        driver.advanced(1)
        driver.now += 1
        #expect(try wantsPreviews(driver, 15_000))
        // The step had nothing more to show, so the next one may make a preview.
        driver.advanced(1)
        #expect(try wantsPreviews(driver, 20_000))
    }

    @Test("Z20: previews have a minimum distance in bytes")
    func previewsHaveAMinimumDistanceInBytes() throws {
        let driver = try Driver {
            $0.progressive.previewMicroseconds = 0
            $0.progressive.previewBytes = 10_000
        }
        _ = try driver.begin(0) { $0.wantsPreviews = true }
        #expect(try wantsPreviews(driver, 5000))
        driver.advanced(1, Made.previews())
        #expect(try !wantsPreviews(driver, 14_999))
        driver.advanced(1)
        driver.show(1, 19_999)
        #expect(driver.nextPart()?.part.wantsPreviews == true)
    }

    @Test("Z20: slow previews are made less often: they take at most a fifth of a thread's time")
    func previewsHaveAMaximumCost() throws {
        let driver = try Driver()
        _ = try driver.begin(0) { $0.wantsPreviews = true }
        #expect(try wantsPreviews(driver, 5000))
        driver.now += 50_000
        driver.advanced(1, Made.previews())
        driver.now += 199_999
        #expect(try !wantsPreviews(driver, 10_000))
        driver.advanced(1)
        driver.now += 1
        #expect(try wantsPreviews(driver, 15_000))
    }

    @Test("Z20: each step has the rule on scans")
    func theDecoderCountsTheScans() throws {
        let driver = try Driver { $0.progressive.previewScans = 3 }
        _ = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        #expect(driver.nextPart()?.part.leastScans == 3)
    }

    @Test("X30 X39 Z20: each request that wants previews gets its own options, others get nothing")
    func eachRequestGetsItsOwnPreviews() throws {
        let driver = try Driver()
        let large = try driver.begin(0) { $0.wantsPreviews = true }
        let tiny = try driver.submit(0) {
            $0.wantsPreviews = true
            $0.form = small
        }
        let silent = try driver.submit(0)
        let bytes = try driver.submit(0, pixels: false)
        driver.show(1, 5000)
        #expect(driver.nextPart()?.part.forms == [DecodeOptions(), small])
        let step = Made.previews(DecodeOptions(), small)
        driver.advanced(1, step)
        #expect(driver.previews[large]?.first?.image === step.previews[0].image)
        #expect(driver.previews[tiny]?.first?.image === step.previews[1].image)
        #expect(driver.previews[silent] == nil && driver.previews[bytes] == nil)
        #expect(driver.previews[large]?.first?.isPreview == true)
    }

    @Test("X40 Z20: a request that joins during the transfer gets later previews")
    func aLateJoinerGetsLaterPreviews() throws {
        let driver = try Driver { $0.progressive.previewMicroseconds = 0 }
        let first = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        #expect(driver.nextPart()?.part.forms == [DecodeOptions()])
        // when: during a step, which does not know of it
        let late = try driver.submit(0) {
            $0.wantsPreviews = true
            $0.form = small
        }
        driver.advanced(1, Made.previews())
        #expect(driver.previews[first]?.count == 1 && driver.previews[late] == nil)
        // then
        driver.show(1, 10_000)
        #expect(driver.nextPart()?.part.forms == [DecodeOptions(), small])
        driver.advanced(1, Made.previews(DecodeOptions(), small))
        #expect(driver.previews[first]?.count == 2 && driver.previews[late]?.count == 1)
    }

    @Test(
        "X40: a request that joins a stalled transfer gets a preview, others do not get it twice",
        arguments: [true, false])
    func aLateJoinerGetsAPreviewOfTheBodySoFar(joinsInAStep: Bool) throws {
        let driver = try Driver()
        let first = try driver.begin(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        _ = driver.nextPart()
        if !joinsInAStep { driver.advanced(1, Made.previews()) }
        // when
        let late = try driver.submit(0) { $0.wantsPreviews = true }
        if joinsInAStep { driver.advanced(1, Made.previews()) }
        // then: a step is taken nevertheless, since the rule on time is for the first request
        let step = try #require(driver.nextPart())
        #expect(step.count == 5000 && step.part.wantsPreviews && step.part.leastScans == 0)
        let shown = joinsInAStep ? 1 : 0
        #expect(driver.previews[late, default: []].count == shown)
        driver.advanced(1, Made.previews())
        #expect(driver.previews[first]?.count == 1 && driver.previews[late]?.count == 1)
        #expect(driver.nextWork() == nil)
    }

    @Test("X11 X30: a request that leaves gets no more previews, the others do")
    func aRequestThatLeavesGetsNoMorePreviews() throws {
        let driver = try Driver()
        let leaving = try driver.begin(0) { $0.wantsPreviews = true }
        let staying = try driver.submit(0) { $0.wantsPreviews = true }
        driver.show(1, 5000)
        _ = driver.nextPart()
        driver.cancel(leaving)
        driver.advanced(1, Made.previews())
        #expect(driver.previews.keys.sorted() == [staying])
        #expect(driver.ended[leaving]?.error?.code == .cancelled)
    }

    @Test func withoutRequestsForPreviewsNoneAreMade() throws {
        let driver = try Driver()
        let watching = try driver.begin(0) { $0.wantsPreviews = true }
        _ = try driver.submit(0, pixels: false)
        driver.show(1, 5000)
        driver.cancel(watching)
        // when: only bytes are wanted
        #expect(driver.nextPart()?.part.wantsPreviews == false)
        driver.advanced(1, .init(facts: Made.facts))
        // then
        #expect(driver.table.decoding.streamCount == 0)
        driver.show(1, 900_000)
        #expect(driver.nextWork() == nil)
        driver.finish(1, size: 1 << 20)
        #expect(driver.hasNothingAhead)
    }
}

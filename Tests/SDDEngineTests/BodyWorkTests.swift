import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// Functions of the application for responses and bodies: B3 of the contract.
@Suite struct BodyWorkTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    private func work(
        _ modifier: BodyWork.Modifier? = nil, transform: BodyWork.Transform? = nil, identity: UInt = 1
    ) -> BodyWork {
        BodyWork(modifier: modifier, transform: transform, identity: [identity])
    }

    @Test("B3: work with the same functions and data is equal, and its requests share a transfer")
    func equalWorkShares() throws {
        let (first, same, other) = (work(), work(), work(identity: 2))
        #expect(first == same && first != other)
        for work in [first, same, other] { try driver.submit(0) { $0.bodyWork = work } }
        #expect(driver.commands().started == [1, 2])
    }

    @Test("B3: a modifier sees the response before it is judged, and its result is judged")
    func aModifierChangesTheStatus() throws {
        let token = try driver.submit(0) {
            $0.bodyWork = work { response in .init(response.status == 404 ? 200 : 500, "image/png") }
        }
        _ = driver.commands()
        driver.respond(1, 404)
        // The body is read to its end, since the status is not final yet.
        #expect(driver.commands().isEmpty && driver.endOrder.isEmpty)
        driver.finish(1)
        driver.work()
        driver.work()
        #expect(driver.ended[token]?.image != nil)
        // The request was judged by the modified response.
        #expect(driver.ended[token]?.httpStatus == 200)
    }

    @Test("B3 G9: a modifier changes the media type, in any case")
    func aModifierChangesTheType() throws {
        let token = try driver.submit(0, pixels: false) {
            $0.bodyWork = work { .init($0.status, "Image/PNG") }
            $0.acceptance = try Sample.acceptance(types: "image/png")
        }
        driver.respond(1, type: "text/html")
        driver.finish(1)
        driver.work()
        #expect(driver.ended[token]?.bytes != nil)
    }

    @Test("B3 B20: each request judges the modified response for itself")
    func eachRequestJudgesTheModifiedResponse() throws {
        let work = work { _ in .init(404, "") }
        let standard = try driver.submit(0) { $0.bodyWork = work }
        let tolerant = try driver.submit(0, pixels: false) {
            $0.bodyWork = work
            $0.acceptance = try Sample.acceptance(statuses: "404")
        }
        driver.answer(1)
        driver.work()
        #expect(driver.error(of: standard)?.code == .invalidStatusCode)
        #expect(driver.ended[standard]?.stage == .response)
        #expect(driver.ended[tolerant]?.bytes?.count == 1)
        #expect(driver.nextWork() == nil)
    }

    @Test("B3: a modifier that refuses ends the request with 2003")
    func aModifierRefuses() throws {
        let tokens = try [true, false].map { pixels in
            try driver.submit(0, pixels: pixels) { $0.bodyWork = work { _ in nil } }
        }
        driver.answer(1)
        driver.work()
        #expect(driver.endOrder == tokens)
        #expect(tokens.allSatisfy { driver.error(of: $0)?.code == .invalidResponse })
        #expect(driver.ended[1]?.stage == .decode)
    }

    @Test("B3: a transform gets the whole body and the response, and its result is handed out and decoded")
    func aTransformMakesOtherBytes() throws {
        let other = try Sample.body([7, 8, 9])
        let transform: BodyWork.Transform = { bytes, response in
            bytes.count == 5 && response.status == 206 ? other : nil
        }
        let pixels = try driver.submit(0) { $0.bodyWork = work(transform: transform) }
        let bytes = try driver.submit(0, pixels: false) { $0.bodyWork = work(transform: transform) }
        driver.respond(1, 206)
        driver.finish(1, size: 5)
        // No request gets the body as it was.
        #expect(driver.endOrder.isEmpty)
        driver.work()
        #expect(driver.ended[bytes]?.bytes === other)
        #expect(driver.nextWork()?.bytes === other)
        driver.decoded(1)
        #expect(driver.ended[pixels]?.bytes === other)
        #expect(driver.ended[pixels]?.metrics.bodyBytes == 3)
    }

    @Test("B3: a transform that returns nothing ends the request with 1001 and the detail for it")
    func aTransformReturnsNothing() throws {
        let token = try driver.submit(0) { $0.bodyWork = work(transform: { _, _ in nil }) }
        driver.answer(1)
        driver.work()
        #expect(driver.error(of: token)?.code == .badImageData)
        #expect(driver.error(of: token)?.detail == .imageTransform)
    }

    @Test("B3 X24: with a transform alone a bad response ends the transfer at once")
    func aTransformDoesNotDelayTheJudgement() throws {
        let token = try driver.submit(0) { $0.bodyWork = work(transform: { bytes, _ in bytes }) }
        _ = driver.commands()
        driver.respond(1, 404)
        #expect(driver.error(of: token)?.code == .invalidStatusCode)
        #expect(driver.commands() == [.cancel(1)])
    }

    @Test("B3: with both, the refusal of the response comes before the transform's failure")
    func theRefusalComesBeforeTheTransform() throws {
        let work = work({ _ in .init(404, "") }, transform: { _, _ in nil })
        let standard = try driver.submit(0) { $0.bodyWork = work }
        let tolerant = try driver.submit(0) {
            $0.bodyWork = work
            $0.acceptance = try Sample.acceptance(statuses: "*")
        }
        driver.answer(1)
        driver.work()
        #expect(driver.error(of: standard)?.code == .invalidStatusCode)
        #expect(driver.error(of: tolerant)?.detail == .imageTransform)
    }

    @Test("B3: with both, the transform gets the server's response, and each is called once for all requests")
    func bothAreCalledOnce() throws {
        let work = work(
            { _ in .init(299, "image/png") }, transform: { bytes, response in response.status == 200 ? bytes : nil })
        let tokens = try (0..<3).map { _ in try driver.submit(0) { $0.bodyWork = work } }
        driver.answer(1)
        driver.work()
        driver.work()
        #expect(driver.endOrder == tokens)
        #expect(driver.ended[1]?.image != nil)
        #expect(driver.work() == nil)
    }

    @Test("X40: a request that joins before or during the application's work gets its result")
    func lateJoinersGetTheResultOfTheWork() throws {
        let work = work(transform: { bytes, _ in bytes })
        try driver.submit(0) { $0.bodyWork = work }
        driver.answer(1)
        let early = try driver.submit(0, pixels: false) { $0.bodyWork = work }
        _ = driver.nextWork()
        let late = try driver.submit(0, pixels: false) { $0.bodyWork = work }
        #expect(driver.endOrder.isEmpty)
        let made = Sample.body(2)
        driver.processed(1, .done(Judged(Sample.response()), made))
        #expect(driver.ended[early]?.bytes === made && driver.ended[late]?.bytes === made)
        // Now they are served at once.
        let latest = try driver.submit(0, pixels: false) { $0.bodyWork = work }
        #expect(driver.ended[latest]?.bytes === made)
    }

    @Test("X11: the result of work that no request waits for any more is dropped")
    func aLateOutcomeIsDropped() throws {
        let token = try driver.submit(0) { $0.bodyWork = work() }
        driver.answer(1)
        _ = driver.nextWork()
        driver.cancel(token)
        driver.processed(1, .refused)
        driver.processed(1, .done(Judged(Sample.response()), Sample.body(1)))
        #expect(driver.endOrder == [token])
        #expect(driver.nextWork() == nil)
    }

    @Test func appDataIsFreedOutsideTheLockWhenTheTransferIsOver() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let works = (0..<3).map { work(identity: $0) }
        for work in works { try driver.submit(0) { $0.bodyWork = work } }
        driver.fail(1)
        #expect(driver.free.contains { $0 === works[0] })
        driver.cancelAll()
        #expect(driver.free.count == 3)
    }
}

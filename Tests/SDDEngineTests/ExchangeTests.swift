import SDDBase
import SDDCaches
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Jobs that an HTTP cache has sent to the network, and the effects of the response.
@Suite struct ExchangeTests {
    private let driver: Driver
    private let fixture: CacheFixture

    /// A stale response that may be used while the server is failing: RFC 5861 §4.
    private static let stale = [
        ("Cache-Control", "max-age=10, stale-if-error=100000"), ("ETag", "\"a\""), ("Content-Type", "image/png"),
    ]

    init() throws {
        driver = try Driver()
        fixture = try CacheFixture()
    }

    /// Submits a request whose transfer 1 is running.
    private func start(
        stored fields: [(String, String)]? = stale, wishes: HTTPCacheLookup.Wishes = .http, pixels: Bool = false,
        change: (inout DownloadRequest) throws -> Void = { _ in }
    ) throws -> UInt64 {
        let token = try driver.submit(0, asking: FakeLookup(), pixels: pixels, change: change)
        _ = driver.cacheTasks()
        driver.answer(1, .network(try fixture.revalidation(0, stored: fields, wishes: wishes)))
        // A body may begin and break off in one turn: if it should be kept, it is shown from its start on.
        let shows: [Order] = wishes.contains(.resumes) ? [.show(1)] : []
        #expect(driver.commands() == [.start(1, .normal)] + shows)
        return token
    }

    private func respond(_ status: Int32, _ fields: [(String, String)] = [], url: String = "http://host/0") {
        driver.report(.response(TransferID(1), Sample.head(status, fields, url: url)))
    }

    private var outcomes: [String] {
        driver.cacheTasks().outcomes.map { outcome in
            switch outcome {
            case .store(_, let body): "store \(body.count)"
            case .freshened(let response): "freshened \(response.fields["ETag"] ?? "")"
            case .keepParts(let parts, let body): "keep \(parts.pieces.count) parts of \(body.count)"
            case .invalidate(let urls, stored: let made, _): "invalidate \(urls)" + (made == nil ? "" : " and store")
            case .withdrawn: "withdrawn"
            case .nothing: "nothing"
            }
        }
    }

    private func bytes(_ token: UInt64) -> [UInt8]? { driver.ended[token]?.bytes.map { Array($0.pointer) } }

    // MARK: 304

    @Test("RFC 9111 §4.3.3: a 304 is answered with the stored response")
    func a304GivesTheStoredResponse() throws {
        // given
        let token = try start { $0.wantsProgress = true }
        #expect(driver.table.jobs[1]?.request.headers["If-None-Match"] == "\"a\"")
        // when
        respond(304, [("ETag", "\"a\"")])
        driver.finish(1, size: 0)
        // then
        let result = try #require(driver.ended[token])
        #expect(bytes(token) == [1, 2, 3] && result.origin == .httpRevalidated && result.httpStatus == 200)
        #expect(result.extended.map { Array($0.pointer) } == [9])
        #expect(driver.progress[token] == [[0, -1], [0, 3], [3, 3]])
        #expect(result.metrics.attempts == 1 && outcomes == ["freshened \"a\""] && driver.isEmpty)
    }

    @Test("RFC 9111 §4.3.3: a 200 is the new response, and is stored")
    func aFullResponseIsStored() throws {
        let token = try start()
        respond(200, [("Cache-Control", "max-age=60")])
        driver.finish(1, size: 5)
        #expect(driver.ended[token]?.origin == .network && driver.ended[token]?.bytes?.count == 5)
        #expect(outcomes == ["store 5"] && driver.isEmpty)
    }

    @Test("RFC 9111 §4.3.3: a 304 about another response is followed by one unconditional request")
    func a304AboutAnotherResponseIsRepeatedWithoutCondition() throws {
        // given
        let token = try start()
        // when
        respond(304, [("ETag", "\"a\"")], url: "http://host/elsewhere")
        driver.finish(1, size: 0)
        // then
        #expect(driver.ended.isEmpty && driver.commands().started == [1])
        #expect(driver.table.jobs[1]?.request.headers["If-None-Match"] == nil)
        #expect(driver.table.currentStatistics.transfersStarted == 2 && driver.table.slots.running == 1)
        respond(304, [("ETag", "\"a\"")])
        #expect(driver.error(of: token)?.code == .notModified)
        _ = driver.commands()
        #expect(outcomes == ["nothing"] && driver.isEmpty)
    }

    @Test func theRepeatedRequestMayBringABody() throws {
        let token = try start()
        respond(304, [("ETag", "\"a\"")], url: "http://host/elsewhere")
        driver.finish(1, size: 0)
        _ = driver.commands()
        respond(200, [("ETag", "\"b\"")])
        driver.finish(1, size: 7)
        #expect(driver.ended[token]?.bytes?.count == 7 && driver.ended[token]?.origin == .network)
        #expect(outcomes == ["store 7"] && driver.isEmpty)
    }

    // MARK: Stored responses in place of errors

    @Test("RFC 5861 §4: a stored response replaces a 503, whose body is not read")
    func aServerErrorIsReplacedByTheStoredResponse() throws {
        // given
        let token = try start(pixels: true)
        // when
        respond(503)
        // then
        #expect(driver.commands().cancelled == [1] && driver.table.slots.running == 0)
        driver.finish(1)
        driver.work()
        #expect(driver.ended[token]?.origin == .httpStale && driver.ended[token]?.httpStatus == 200)
        #expect(bytes(token) == [1, 2, 3] && driver.ended[token]?.extended?.count == 1)
        #expect(outcomes == ["nothing"] && driver.isEmpty)
    }

    @Test func aResponseThatMustNotBeServedStaleIsNot() throws {
        let token = try start(stored: [("Cache-Control", "max-age=10"), ("ETag", "\"a\"")])
        respond(503)
        #expect(driver.error(of: token)?.code == .invalidStatusCode)
        _ = driver.commands()
        #expect(outcomes == ["nothing"] && driver.isEmpty)
    }

    @Test("RFC 5861 §4: a stored response replaces a network failure")
    func aNetworkFailureIsReplacedByTheStoredResponse() throws {
        let token = try start()
        driver.fail(1, .connect)
        #expect(bytes(token) == [1, 2, 3] && driver.ended[token]?.origin == .httpStale)
        #expect(driver.table.currentStatistics.succeeded == 1 && outcomes == ["nothing"] && driver.isEmpty)
    }

    @Test func withoutAnythingStoredItIsAFailure() throws {
        let token = try start(stored: nil)
        driver.fail(1)
        #expect(driver.error(of: token)?.code == .connectionLost && outcomes == ["nothing"] && driver.isEmpty)
    }

    @Test("bytes of a broken body are not mixed with the stored one", arguments: [true, false])
    func bodiesAreNotMixed(isAtWork: Bool) throws {
        // given
        let token = try start(pixels: true) { request in
            request.wantsPreviews = true
            request.wantsProgress = true
            request.wantsFacts = true
        }
        respond(200, [("Content-Length", "100000")])
        driver.show(1, 5000)
        if isAtWork { #expect(driver.nextPart()?.count == 5000) }
        // when
        driver.fail(1)
        // then
        if isAtWork { driver.advanced(1, Made.previews()) }
        #expect(driver.previews[token] == nil && driver.facts[token] == nil)
        let work = try #require(driver.nextWork())
        guard case .decode(let forms, let stream) = work.step else {
            Issue.record("the stored body is not decoded as a whole")
            return
        }
        #expect(forms.count == 1 && stream == nil && Array(work.bytes.pointer) == [1, 2, 3])
        driver.decoded(1, facts: Made.facts)
        #expect(bytes(token) == [1, 2, 3] && driver.facts[token]?.count == 1)
        #expect(driver.progress[token]?.last == [3, 3] && driver.isEmpty && driver.nextWork() == nil)
    }

    // MARK: Bodies that are not handed out

    @Test("O3: a request that ignores cached responses is told that nothing has changed")
    func anUnchangedResponseIsReportedAsSuch() throws {
        // given
        let token = try start(wishes: [.http, .ignoresCached])
        // when
        respond(304, [("ETag", "\"a\"")])
        driver.finish(1, size: 0)
        // then
        #expect(driver.error(of: token)?.code == .notModified && driver.ended[token]?.bytes == nil)
        #expect(outcomes == ["freshened \"a\""] && driver.isEmpty)
    }

    @Test("U4: the same happens if the same bytes arrive again", arguments: [[1, 2, 3], [1, 2, 4], [1, 2]])
    func equalBytesAreUnchanged(body: [UInt8]) throws {
        let token = try start(wishes: [.http, .ignoresCached])
        respond(200, [("Cache-Control", "max-age=60")])
        driver.finish(1, .success(try Sample.body(body)))
        #expect(driver.error(of: token)?.code == (body == [1, 2, 3] ? .notModified : nil))
        #expect(outcomes == ["store \(body.count)"] && driver.isEmpty)
    }

    @Test("Z12: a damaged picture is not stored")
    func aDamagedPictureIsNotStored() throws {
        let token = try start(stored: nil, pixels: true)
        respond(200, [("Cache-Control", "max-age=60")])
        driver.finish(1, size: 5)
        #expect(driver.nextWork() != nil)
        driver.decoded(1, failure: .corrupt)
        #expect(driver.error(of: token)?.detail == .imageCorrupt && outcomes == ["nothing"] && driver.isEmpty)
    }

    @Test func aCancelStoresNothing() throws {
        let token = try start(stored: nil)
        respond(200, [("Cache-Control", "max-age=60")])
        driver.cancel(token)
        driver.finish(1, size: 5)
        _ = driver.commands()
        #expect(outcomes == ["nothing"] && driver.isEmpty)
    }

    // MARK: Interrupted bodies

    @Test(arguments: [true, false])
    func aBodyIsKeptAsItArrives(isWhole: Bool) throws {
        // given
        let token = try start(stored: nil, wishes: [.http, .resumes])
        // when
        respond(200, [("ETag", "\"a\""), ("Content-Length", "9000")])
        driver.show(1, 4000)
        if isWhole { driver.finish(1, size: 9000) } else { driver.fail(1) }
        // then
        let cacheTasks = driver.cacheTasks()
        #expect(cacheTasks.savedCounts == [4000] && cacheTasks.savingEnds == [isWhole])
        #expect((driver.ended[token]?.error == nil) == isWhole && driver.isEmpty)
    }

    @Test("RFC 9110 §8.8.1: a body without a strong validator cannot be resumed, and is not kept")
    func onlyResumableBodiesAreKept() throws {
        _ = try start(stored: nil, wishes: [.http, .resumes])
        respond(200, [("ETag", "W/\"a\"")])
        #expect(driver.commands().isEmpty)
        driver.finish(1, size: 10)
        #expect(driver.cacheTasks().savingEnds.isEmpty && driver.isEmpty)
    }

    @Test func aStoredBodyDoesNotCompleteOneThatBrokeOff() throws {
        // given
        let token = try start(wishes: [.http, .resumes])
        respond(200, [("ETag", "\"b\""), ("Content-Length", "9000")])
        driver.show(1, 4000)
        // when
        driver.fail(1)
        // then
        #expect(bytes(token) == [1, 2, 3] && driver.ended[token]?.origin == .httpStale)
        #expect(driver.cacheTasks().savingEnds == [false] && driver.isEmpty)
    }

    @Test func inconsistentBodiesAreNotKept() throws {
        _ = try start(stored: nil, wishes: [.http, .resumes])
        respond(200, [("ETag", "\"b\"")])
        driver.fail(1, .notHTTP)
        #expect(driver.cacheTasks().savingEnds == [true] && driver.isEmpty)
    }
}

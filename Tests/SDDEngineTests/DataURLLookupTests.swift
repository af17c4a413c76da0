import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Requests for data: URLs, answered from the URL without the network.
@Suite struct DataURLLookupTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    private func request(
        _ text: String, limit: Int64 = 100, _ change: (DownloadRequest.Parts) -> Void = { _ in }
    ) throws -> DownloadRequest {
        let url = try Array(text.utf8).withUnsafeBufferPointer { try ImageURL(data: $0, limit: 1000) }
        let request = DownloadRequest.Parts(transfer: HTTPRequest(url: url))
        request.wantsPixels = false
        change(request)
        try request.answerDataURL(limit: limit)
        return DownloadRequest(request)
    }

    private func refusal(_ text: String, limit: Int64 = 100, _ change: (DownloadRequest.Parts) -> Void = { _ in })
        -> DownloadError.Detail?
    {
        do {
            _ = try request(text, limit: limit, change)
            return nil
        } catch {
            return (error as? DownloadError)?.detail
        }
    }

    /// Answers the lookup at once, as a cache thread does.
    private func answer() throws {
        for case .ask(let id, let lookup, let question) in driver.cacheTasks() {
            let findings = Recorder<LookupResult>()
            lookup.start(question) { findings.record($0) }
            driver.answer(id.number, try #require(findings.all.first))
        }
    }

    @Test func answersFromTheURL() throws {
        // given
        driver.setRules { ($0.maxConcurrent, $0.isOffline) = (1, true) }
        try driver.submit(7, host: "busy")
        let token = try driver.submit(request("data:image/png;base64,Zm9v") { $0.wantsProgress = true })
        driver.suspend(true)
        // when
        try answer()
        // then
        let result = try #require(driver.ended[token])
        #expect(result.error == nil && result.origin == .network && result.extended == nil)
        #expect(result.bytes.map { Array($0.pointer) } == Array("foo".utf8))
        #expect(result.httpStatus == 0 && result.response?.fields.mimeType == "image/png")
        #expect(result.response?.url == "data:image/png;base64,Zm9v")
        #expect(driver.progress[token] == [[0, 3], [3, 3]])
        #expect(result.metrics.attempts == 0 && result.metrics.bodyBytes == 3)
        #expect(driver.table.currentStatistics.transfersStarted == 1)
    }

    @Test func theMediaTypeIsJudgedAndTheStatusIsNot() throws {
        let types = try Sample.acceptance(statuses: "200", types: "image/*")
        let taken = try driver.submit(request("data:image/png,x") { $0.acceptance = types })
        let refused = try driver.submit(request("data:,x") { $0.acceptance = types })
        try answer()
        #expect(driver.ended[taken]?.bytes?.count == 1)
        #expect(driver.error(of: refused)?.code == .invalidContentType)
    }

    @Test func equalRequestsAreDecodedOnce() throws {
        // given
        let tokens = [
            try driver.submit(request("data:,x") { $0.wantsPixels = true }),
            try driver.submit(request("data:,x") { $0.wantsPixels = true }),
            try driver.submit(request("data:,y") { $0.wantsPixels = true }),
        ]
        // when
        try answer()
        driver.work()
        // then
        #expect(
            driver.ended[tokens[0]]?.image != nil && driver.ended[tokens[0]]?.image === driver.ended[tokens[1]]?.image)
        #expect(driver.ended[tokens[2]] == nil && driver.table.currentStatistics.joined == 1)
    }

    @Test func invalidRequestsAreRefused() {
        #expect(refusal("data:image/png") == .urlMalformed && refusal("data:;base64,Z") == .urlMalformed)
        #expect(refusal("data:,abc", limit: 3) == nil && refusal("data:,abcd", limit: 3) == DownloadError.Detail.none)
        #expect(refusal("data:,x") { $0.transfer.method = "POST" } == .badMethod)
        #expect(refusal("data:,x") { $0.transfer.method = "HEAD" } == .badMethod)
        #expect(refusal("data:,x") { $0.transfer.sink = try! BodySink(descriptor: nil) { _ in true } } == .badSink)
        #expect(refusal("data:,x") { $0.transfer.headers.set("Range", to: "bytes=0-0") } == nil)
    }

    @Test func otherRequestsAreUnchanged() throws {
        let other = DownloadRequest.Parts(transfer: try Sample.request("http://h/").transfer)
        try other.answerDataURL(limit: 1)
        #expect(other.lookup == nil)
        // An application's transport for data: takes precedence.
        let plugged = try request("data:") { $0.transfer.appTransport = FakeAppTransport() }
        #expect(plugged.lookup == nil)
    }
}

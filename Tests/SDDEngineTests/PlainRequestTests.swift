import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Requests that have only a URL of their own. That the table treats them like all others is what the rest of its tests
/// show: every second of their requests is a plain one.
@Suite struct PlainRequestTests {
    private let made = Monitor(0)

    private func makeKind(
        _ spec: RequestSpec = RequestSpec(), _ defaults: RequestDefaults = RequestDefaults()
    ) -> PlainKind? {
        let made = made
        return PlainKind(spec, defaults) { text, _ in
            made.withLock { $0 += 1 }
            text.free()
            return RecordingCallbacks()
        }
    }

    private func makePlain(_ kind: PlainKind, _ url: String) -> PlainRequest? {
        var url = url
        return url.withUTF8 { try? PlainRequest(kind, url: $0, userData: UserData(nil)) }
    }

    @Test func nothingIsMadeBeforeItsTurn() throws {
        // given
        let driver = try Driver { $0.maxConcurrent = 1 }
        let kind = try #require(makeKind())
        try driver.submit(0)
        // when
        for token in 11...13 as ClosedRange<UInt64> {
            let plain = try #require(makePlain(kind, "http://host/\(token)"))
            plain.accepted(as: token, at: driver.now)
            driver.play { $0.submitted(plain, at: driver.now) }
        }
        // then
        #expect(made.withLock { $0 } == 0 && driver.table.currentDownloadCount == 4)
        driver.fail(1)
        #expect(made.withLock { $0 } == 1 && driver.table.job(of: 11)?.request.url.text == "http://host/11")
        #expect(driver.cancel(12) != nil && driver.error(of: 12)?.code == .cancelled && made.withLock { $0 } == 2)
        #expect(driver.table.jobs.plain(of: 13) != nil)
        driver.cancelAll()
        #expect(driver.endOrder == [1, 12, 11, 13] && made.withLock { $0 } == 3)
        #expect(driver.table.jobs.isEmpty && driver.table.currentDownloadCount == 0)
    }

    /// The thread that takes the request from the inbox may have read the clock before the one that submits it.
    @Test func aSubmissionIsNeverInTheFuture() throws {
        // given
        let driver = try Driver { $0.maxConcurrent = 1 }
        var defaults = RequestDefaults()
        defaults.queueLimit = 1
        let kind = try #require(makeKind(RequestSpec(), defaults))
        try driver.submit(0)
        // when
        for token in 11...12 as ClosedRange<UInt64> {
            let plain = try #require(makePlain(kind, "http://host/\(token)"))
            plain.accepted(as: token, at: driver.now + 5)
            driver.play { $0.submitted(plain, at: driver.now) }
        }
        let isCancelled = driver.play { $0.cancelled(11, at: driver.now) }
        driver.now += 1000
        _ = driver.turn()
        // then
        #expect(isCancelled && driver.ended[11]?.timings.queue == 0 && driver.ended[11]?.timings.total == 0)
        #expect(driver.error(of: 12)?.detail == .timeoutQueue && driver.ended[12]?.timings.total == 1000)
    }

    @Test func theRequestIsTheOneThatWouldHaveBeenMade() throws {
        // given
        var defaults = RequestDefaults(allowsFiles: true)
        defaults.setHeader("X-One", to: "1")
        defaults.totalLimit = 7
        var spec = RequestSpec(options: [.bytesOnly, .continueInBackground])
        spec.priority = .high
        let url = "https://user:pw@host:8443/a?b=1#c"
        // when
        let kind = try #require(makeKind(spec, defaults))
        let waiting = try #require(makePlain(kind, url))
        let (late, made) = (waiting.request, try defaults.resolve(spec, Sample.url(url)))
        // then
        #expect(late.transfer.url == made.transfer.url && late.transfer.url.hasUserinfo)
        #expect(late.transfer.headers == made.transfer.headers && late.transfer.options == made.transfer.options)
        #expect(
            late.hashKey == made.hashKey && waiting.hashKey == made.hashKey && waiting.hostKey == made.transfer.hostKey)
        #expect(late.priority == .high && !late.wantsPixels && late.continuesInBackground && late.totalLimit == 7000)
        waiting.free()
    }

    @Test func whatDependsOnMoreThanTheURLIsNotPlain() throws {
        #expect(makeKind(RequestSpec(options: .handleCookies)) == nil)
        #expect(makeKind(RequestSpec(options: .useHTTPCache)) == nil)
        #expect(makeKind(RequestSpec(options: .resume)) == nil)
        var spec = RequestSpec()
        spec.sending = RequestSpec.Sending()
        #expect(makeKind(spec) == nil)
        spec = RequestSpec()
        spec.load = LoadSpec()
        #expect(makeKind(spec) == nil)
    }

    @Test(arguments: [
        "", "host/a", "ftp://host/a", "file:///a", "HTTP://host/a", "http://Host/a", "http://host/\u{e4}", "http:///a",
        "http://host/a b", "data:,a", "DATA:,a", "http://host/" + String(repeating: "a", count: ImageURL.maxLength),
    ])
    func aURLThatIsRefusedOrChangedIsNotPlain(url: String) throws {
        let kind = try #require(makeKind())
        #expect(makePlain(kind, url) == nil)
    }
}

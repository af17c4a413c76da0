import SDDBase
import TestSupport
import Testing

@testable import SDDTransport

/// The response that is handed out, the metrics of a transfer, and the messages about it.
@Suite struct ResponseTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws { (server, transport) = (try ScriptedServer(), try TransportUnderTest()) }

    @Test func handsOutTheFieldsUnchanged() throws {
        // given
        let target =
            "/ok?type=Image/PNG;%20q=1&header=X-A:%20%20one%20&header=x-a:two&header=X-Empty:"
            + "&header=X-Folded:%20a%0d%0a%20%20b%0d%0a%09c&header=X-Colon:%20a:b"
        // when
        let response = try #require(try transport.run(HTTPRequest(to: server.url(target))).response)
        // then
        #expect(response.status == 200)
        #expect(response.httpVersion == 11)
        #expect(response.url == server.url(target))
        #expect(response.fields["x-A"] == "one")
        #expect(response.fields["X-Empty"] == "")
        #expect(response.fields["X-Folded"] == "a b c")
        #expect(response.fields["X-Colon"] == "a:b")
        #expect(response.fields["X-None"] == nil)
        #expect(response.fields.mimeType == "image/png")
        let names = (0..<response.fields.count).compactMap { response.fields.at($0).map { String(cString: $0.name) } }
        #expect(names == ["Content-Type", "Content-Length", "X-A", "x-a", "X-Empty", "X-Folded", "X-Colon"])
    }

    @Test func handsOutTheLastResponse() throws {
        // given
        let user = server.url("/redirect?to=/interim?count=3%26size=9%23part").replacing("//127", with: "//u:p@127")
        // when
        let id = transport.start(try HTTPRequest(to: user))
        let end = try transport.waitForEnd(of: id)
        let cut = try transport.run(HTTPRequest(to: server.url("/redirect?to=http://127.0.0.1:1/")))
        let none = try transport.run(HTTPRequest(to: server.url("/cut-head")))
        // then: without user and password, with the fragment
        #expect(end.response?.url == server.url("/interim?count=3&size=9#part"))
        #expect(end.response?.status == 200)
        #expect(end.response?.fields["Location"] == nil)
        #expect(transport.events(of: id).compactMap(\.head).count == 1)
        #expect(transport.events(of: id).first?.head?.response === end.response)
        #expect(cut.response?.status == 302)
        #expect(cut.response?.fields["Location"] == "http://127.0.0.1:1/")
        #expect(none.response == nil)
    }

    @Test func reportsTheResponseBeforeItsBody() throws {
        // when
        let id = transport.start(try HTTPRequest(to: server.url("/hold/r?after=0&status=404&size=70")))
        // then
        #expect(transport.wait(for: id) { $0.head?.summary == [404, 70] } != nil)
        server.release("r")
        #expect(try transport.waitForEnd(of: id).bytes().count == 70)
    }

    @Test func dropsTheBodiesOfRedirects() throws {
        // given: bodies with a length, without one, and without an end
        let hops = ["/ok?size=100", "/ok?size=60000", "/endless?x", "/gzip?size=3000", "/announce?size=99999999999999"]
        for hop in hops {
            let target = hop + "&status=302&header=Location:%20/ok?size=7"
            // when
            let id = transport.start(try HTTPRequest(to: server.url(target)))
            let end = try transport.waitForEnd(of: id)
            // then
            #expect(try end.bytes() == ScriptedServer.body(of: "/ok?size=7", size: 7), "\(hop)")
            #expect(transport.events(of: id).compactMap(\.received) == [7])
        }
    }

    @Test func reusesAConnectionAfterAShortRedirect() throws {
        // when
        let end = try transport.run(HTTPRequest(to: server.url("/ok?size=60000&status=302&header=Location:%20/ok")))
        // then
        #expect(try end.bytes().count == 64)
        #expect(server.connectionCount == 1)
        #expect(end.metrics.connectionsOpened == 1)
    }

    @Test func handsOutARedirectWithoutLocation() throws {
        // when
        for target in ["/ok?status=302", "/ok?status=302&header=Location:", "/ok?status=300&header=Location:%20/x"] {
            // then
            #expect(try transport.run(HTTPRequest(to: server.url(target))).bytes().count == 64)
        }
    }

    @Test(arguments: ["compress", "gzip, x-what", "none", "identity", "utf-8"])
    func handsOutUnknownCodingsUnchanged(coding: String) throws {
        // given
        let target = "/ok?header=Content-Encoding:%20" + coding.replacing(" ", with: "%20")
        // when
        let end = try transport.run(HTTPRequest(to: server.url(target)))
        // then: unchanged, with the field that names the coding
        #expect(try end.bytes().count == 64)
        #expect(end.response?.fields["Content-Encoding"] == coding)
    }

    @Test(arguments: ["br", "zstd", "deflate", "gzip, br", "identity, br"])
    func refusesABodyThatDoesNotDecompress(coding: String) throws {
        // given
        let target = "/ok?header=Content-Encoding:%20" + coding.replacing(" ", with: "%20")
        // when
        let end = try transport.run(HTTPRequest(to: server.url(target)))
        // then
        #expect(try end.failure().kind == .contentEncoding)
        #expect(end.status == 200)
        #expect(try transport.run(HTTPRequest(to: server.url(target), method: "HEAD")).status == 200)
    }

    @Test func asksForGzipUnlessForARange() throws {
        // when
        for headers in [[], [("Range", "bytes=0-9")], [("range", "bytes=0-9"), ("Accept-Encoding", "br")]] {
            _ = try transport.run(HTTPRequest(to: server.url("/ok"), headers: headers))
        }
        // then
        #expect(server.requests.map { $0.header("Accept-Encoding") } == ["gzip", "identity", "br"])
    }
}

@Suite struct MetricsTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws { (server, transport) = (try ScriptedServer(), try TransportUnderTest()) }

    @Test func countsBytesSentAndReceived() throws {
        // given
        let body = String(repeating: "b", count: 300_000)
        // when: the reply's body is the request as it arrived
        let get = try transport.run(HTTPRequest(to: server.url("/echo"), headers: [("X-A", "1")]))
        let post = try transport.run(HTTPRequest(to: server.url("/echo"), method: "POST", body: body))
        let small = try transport.run(HTTPRequest(to: server.url("/echo"), method: "POST", body: "abc"))
        // then
        for end in [get, post, small] {
            #expect(end.metrics.requestBytes == Int64(try end.bytes().count))
            #expect(end.metrics.bodyBytes == Int64(try end.bytes().count))
            #expect(end.metrics.remoteAddress == "127.0.0.1")
            #expect(end.metrics.remotePort == Int32(server.port))
            #expect(end.metrics.redirects == 0)
        }
        #expect([get, post, small].map(\.metrics.connectionsOpened) == [1, 0, 0])
    }

    @Test func countsABodyAsCompressed() throws {
        // when
        let end = try transport.run(HTTPRequest(to: server.url("/gzip-bomb?size=100000")))
        // then
        #expect(try end.bytes().count == 100_000)
        #expect(String(end.metrics.bodyBytes) == end.response?.fields["Content-Length"])
    }

    @Test func addsUpOverRedirects() throws {
        // given: the hops measured one by one
        var configuration = TransportConfiguration()
        configuration.maxRedirects = 0
        let single = try TransportUnderTest(configuration)
        let hops = try ["/redirect-chain/2?size=9", "/redirect-chain/1?size=9", "/ok?size=9"].map {
            try single.run(HTTPRequest(to: server.url($0))).metrics
        }
        // when
        let all = try transport.run(HTTPRequest(to: server.url("/redirect-chain/2?size=9"))).metrics
        // then
        #expect(all.redirects == 2)
        #expect(all.requestBytes == hops.reduce(0) { $0 + $1.requestBytes })
        #expect(all.headerBytes == hops.reduce(0) { $0 + $1.headerBytes })
        #expect(all.headerBytes > 0)
        #expect(all.bodyBytes == 9)
        #expect(all.connectionsOpened == 1)
    }

    @Test func measuresTheWholeChain() throws {
        // when
        let end = try transport.run(HTTPRequest(to: server.url("/redirect?delay=20&to=/ok?delay=20")))
        // then
        #expect(end.timings.total >= 40_000)
        #expect(end.timings.firstByte > 0 && end.timings.firstByte <= end.timings.total - 20_000)
        #expect(end.timings.connect == 0)
    }

    @Test func measuresAFailureToo() throws {
        // when
        let end = try transport.run(HTTPRequest(to: server.url("/cut?size=100&after=40")))
        let stalled = try transport.run(HTTPRequest(to: server.url("/stall?after=40")) { $0.clocks.stall = 50 })
        // then
        #expect(end.metrics.bodyBytes == 40 && stalled.metrics.bodyBytes == 40)
        #expect(end.metrics.headerBytes > 0 && stalled.metrics.headerBytes > 0)
        #expect(end.response?.status == 200 && stalled.response?.status == 200)
    }
}

@Suite struct MessageTests {
    private func messages(
        _ level: LogLevel, _ request: (ScriptedServer) throws -> HTTPRequest
    ) throws -> [(LogLevel, String)] {
        let server = try ScriptedServer()
        var configuration = TransportConfiguration()
        configuration.logs = { level }
        let transport = try TransportUnderTest(configuration)
        _ = try transport.run(request(server))
        let messages = transport.events.compactMap(\.message)
        for (_, text) in messages {
            expectOneSentence(text)
            #expect(!text.contains("secret"))
        }
        return messages
    }

    @Test func reportsStartRedirectAndEnd() throws {
        let url = { (server: ScriptedServer) in
            try HTTPRequest(
                to: server.url("/redirect?to=/ok?key=secret").replacing("http://", with: "http://u:secret@"))
        }
        #expect(try messages(.debug, url).map(\.0) == [.debug, .debug, .debug])
        #expect(try messages(.info, url).isEmpty)
    }

    @Test func reportsFailures() throws {
        let cut = { (server: ScriptedServer) in try HTTPRequest(to: server.url("/cut")) }
        #expect(try messages(.debug, cut).map(\.0) == [.debug, .info])
        #expect(try messages(.info, cut).map(\.0) == [.info])
        #expect(try messages(.warning, cut).isEmpty)
    }

    @Test("H13: warns that a certificate is not verified") func h13_warns() throws {
        let unverified = { (_: ScriptedServer) in
            try HTTPRequest(to: NginxServer.shared.secureURL("/status/404", .selfSigned), verifies: false)
        }
        #expect(try messages(.warning, unverified).map(\.0) == [.warning])
        #expect(try messages(.error, unverified).isEmpty)
        let plain = { (server: ScriptedServer) in try HTTPRequest(to: server.url("/ok"), verifies: false) }
        #expect(try messages(.warning, plain).isEmpty)
    }
}

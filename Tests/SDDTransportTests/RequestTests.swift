import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Requests as a server sees them.
@Suite struct RequestTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws { (server, transport) = (try ScriptedServer(), try TransportUnderTest()) }

    @Test func sendsHeaderFieldsExactlyAsGiven() throws {
        // given
        let fields = [
            ("Accept", "image/*;q=0.8"), ("User-Agent", "test/1 (x; y)"), ("X-Empty", ""), ("X-Blank", " \t "),
            ("x-lower", "a: b; c"), ("X-Unicode", "é"), ("Referer", "https://example.org/"), ("X-Tab", "a\tb"),
        ]
        // when
        _ = try transport.run(HTTPRequest(to: server.url("/ok"), headers: fields))
        // then
        let own = ["Host", "Accept-Encoding"]
        let sent = server.requests[0].headers.filter { !own.contains($0.name) }
        #expect(Set(sent.map(\.name)) == Set(fields.map(\.0)))
        #expect(sent.count == fields.count)
        for (name, value) in fields where value.contains(where: { !$0.isWhitespace }) {
            #expect(server.requests[0].header(name) == value)
        }
        #expect(server.requests[0].header("X-Blank") == "")
    }

    @Test("requests whose values are canonically equal each send their own bytes")
    func sendsTheBytesOfEachRequest() throws {
        // given: the Kelvin sign is the letter K, but for its bytes
        let values = ["K", "\u{212a}"]
        // when
        for value in values {
            _ = try transport.run(HTTPRequest(to: server.url("/ok"), headers: [("X-User", value)]))
            _ = try transport.run(
                HTTPRequest(to: server.url("/ok")) { options in
                    var credential = Credential()
                    credential.bearerToken = value
                    options.credential = credential
                })
        }
        // then
        let sent = server.requests.compactMap { $0.header("X-User") ?? $0.header("Authorization") }
        let wanted = values.flatMap { [$0, "Bearer " + $0] }
        #expect(sent.map { Array($0.utf8) } == wanted.map { Array($0.utf8) })
    }

    @Test func addsNoUnneededFields() throws {
        // when
        _ = try transport.run(HTTPRequest(to: server.url("/ok")))
        _ = try transport.run(
            HTTPRequest(to: server.url("/ok"), method: "POST", body: String(repeating: "b", count: 5000)))
        // then
        #expect(server.requests[0].headers.map(\.name) == ["Host", "Accept-Encoding"])
        #expect(server.requests[1].headers.map(\.name) == ["Host", "Accept-Encoding", "Content-Length"])
    }

    @Test func offersTheCodingsItDecompresses() throws {
        // when
        _ = try transport.run(HTTPRequest(to: server.url("/ok")))
        _ = try transport.run(HTTPRequest(to: server.url("/ok"), headers: [("Accept-Encoding", "identity")]))
        // then
        #expect(server.requests[0].header("Accept-Encoding")?.contains("gzip") == true)
        #expect(server.requests[1].headers.filter { $0.name == "Accept-Encoding" }.map(\.value) == ["identity"])
    }

    /// Each request runs on the handle of the one before, and must inherit nothing from it.
    @Test func forgetsEachRequestBeforeTheNext() throws {
        // given
        let url = server.url("/echo?size=2")
        let withPassword = url.replacing("http://", with: "http://user:secret@")
        // when
        let bodies = try [
            HTTPRequest(to: url), HTTPRequest(to: url, method: "POST", body: "abc"), HTTPRequest(to: url),
            HTTPRequest(to: url, method: "HEAD"), HTTPRequest(to: withPassword), HTTPRequest(to: url),
            HTTPRequest(to: url, method: "PUT", headers: [("X-A", "1")], body: "defg"), HTTPRequest(to: url),
            HTTPRequest(to: url, method: "DELETE"), HTTPRequest(to: url, method: "POST"),
            HTTPRequest(to: url, method: "QUERY", body: ""), HTTPRequest(to: url),
        ].map { try transport.body(of: $0) }
        // then
        #expect(
            server.requests.map(\.method) == [
                "GET", "POST", "GET", "HEAD", "GET", "GET", "PUT", "GET", "DELETE", "POST", "QUERY", "GET",
            ])
        #expect(
            server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                "", "abc", "", "", "", "", "defg", "", "", "", "", "",
            ])
        let lengths = server.requests.map { $0.header("Content-Length") }
        #expect(lengths == [nil, "3", nil, nil, nil, nil, "4", nil, nil, "0", "0", nil])
        #expect(server.requests.map { $0.header("Authorization") != nil } == (0..<12).map { $0 == 4 })
        #expect(server.requests.map { $0.header("X-A") != nil } == (0..<12).map { $0 == 6 })
        #expect(bodies.map(\.isEmpty) == (0..<12).map { $0 == 3 })
        #expect(server.connectionCount == 1)
    }

    @Test func sendsALargeBodyAsItIs() throws {
        // given
        let body = String(repeating: "0123456789abcdef", count: 200_000)
        // when
        let echo = try transport.body(of: HTTPRequest(to: server.url("/echo"), method: "POST", body: body))
        // then
        #expect(server.requests[0].body == Array(body.utf8))
        #expect(echo.suffix(body.utf8.count) == Array(body.utf8)[...])
    }

    @Test func hasNoBodyForHEADWhateverTheLength() throws {
        // given: a length over the limit, of a body that is not sent
        var configuration = TransportConfiguration()
        configuration.maxBodyBytes = 1000
        let transport = try TransportUnderTest(configuration)
        // when
        let id = transport.start(try HTTPRequest(to: server.url("/ok?size=5000"), method: "HEAD"))
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(try end.bytes().isEmpty)
        #expect(transport.events(of: id).first?.head?.summary == [200, 0])
    }
}

import SDDBase
import SDDTransport
import TestSupport
import Testing

@Suite struct RedirectTests {
    @Test func followsAsManyAsAllowed() throws {
        // given
        let server = try ScriptedServer()
        var configuration = TransportConfiguration()
        configuration.maxRedirects = 3
        let transport = try TransportUnderTest(configuration)
        // when
        let allowed = transport.start(try HTTPRequest(to: server.url("/redirect-chain/3?size=40")))
        let tooMany = transport.start(try HTTPRequest(to: server.url("/redirect-chain/4?size=40")))
        // then
        #expect(try transport.waitForEnd(of: allowed).bytes().count == 40)
        #expect(transport.events(of: allowed).compactMap(\.head).map(\.response.status) == [200])
        let end = try transport.waitForEnd(of: tooMany)
        #expect(try end.failure().kind == .tooManyRedirects)
        #expect(end.status == 302)
        #expect(transport.events(of: tooMany).count == 1)
    }

    @Test func endsALoop() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when
        let failure = try transport.failure(of: HTTPRequest(to: server.url("/redirect-loop")))
        // then
        #expect(failure.kind == .tooManyRedirects)
        #expect(server.count("/redirect-loop") == 11)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1:1/", "gopher://127.0.0.1:1/", "dict://127.0.0.1:1/d",
        "smb://127.0.0.1/a/b",
        "data:image/png;base64,AAAA", "unheard-of://127.0.0.1/",
    ])
    func refusesOtherSchemes(target: String) throws {
        // given: even if the application allows files
        let server = try ScriptedServer()
        var configuration = TransportConfiguration()
        configuration.allowsFiles = true
        let transport = try TransportUnderTest(configuration)
        // when
        let failure = try transport.failure(of: HTTPRequest(to: server.url("/redirect?to=\(target)")))
        // then
        #expect(failure.kind == .redirectScheme)
    }

    @Test func followsToHTTPSButNotBackToHTTP() throws {
        // given
        let server = try NginxServer.shared
        try server.add("redirected.bin", [1, 2, 3])
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        let transport = try TransportUnderTest(configuration)
        // when
        let up = try transport.run(HTTPRequest(to: server.url("/to-https/redirected.bin")))
        let down = try transport.run(HTTPRequest(to: server.secureURL("/to-http/redirected.bin")))
        let across = try transport.run(HTTPRequest(to: server.url("/redirect/redirected.bin")))
        // then
        #expect(try up.bytes() == [1, 2, 3])
        #expect(try down.failure().kind == .redirectDowngrade)
        #expect(try across.bytes() == [1, 2, 3])
    }

    @Test func keepsCredentialsFromAnotherPort() throws {
        // given
        let first = try ScriptedServer()
        let second = try ScriptedServer()
        let transport = try TransportUnderTest()
        let secrets = [("Authorization", "Bearer secret"), ("Cookie", "a=secret"), ("X-Other", "stays")]
        let target = "/redirect?to=\(second.url("/ok"))"
        // when: given as header fields, and in the URL
        _ = try transport.run(HTTPRequest(to: first.url(target), headers: secrets))
        _ = try transport.run(HTTPRequest(to: first.url(target).replacing("http://127", with: "http://u:secret@127")))
        // then
        #expect(first.requests.map { $0.header("Authorization") != nil } == [true, true])
        #expect(second.requests.map { $0.header("Authorization") } == [nil, nil])
        #expect(second.requests.map { $0.header("Cookie") } == [nil, nil])
        #expect(second.requests[0].header("X-Other") == "stays")
    }

    @Test func keepsCredentialsOnTheSameServer() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when
        _ = try transport.run(
            HTTPRequest(to: server.url("/redirect?to=/ok"), headers: [("Authorization", "Bearer secret")]))
        // then
        #expect(server.requests.map { $0.header("Authorization") } == ["Bearer secret", "Bearer secret"])
    }

    @Test(arguments: [
        (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "PUT", "PUT"), (301, "PUT", "PUT"),
    ])
    func keepsOrChangesTheMethodAsHTTPRequires(status: Int, method: String, then: String) throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let url = server.url("/redirect?status=\(status)&to=/ok")
        // when
        _ = try transport.run(HTTPRequest(to: url, method: method, body: "abc"))
        // then
        #expect(server.requests.map(\.method) == [method, then])
        #expect(server.requests[1].body == (then == "GET" ? [] : Array("abc".utf8)))
    }

    @Test func decompressesAfterACompressedRedirect() throws {
        // given: a redirect that claims its empty body is compressed
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let hop = "/redirect?header=Content-Encoding:%20gzip&to="
        // when
        let plain = try transport.body(of: HTTPRequest(to: server.url(hop + "/ok?size=5000")))
        let packed = try transport.body(of: HTTPRequest(to: server.url(hop + "/gzip?size=5000")))
        // then
        #expect(plain == ScriptedServer.body(of: "/ok?size=5000", size: 5000))
        #expect(packed == ScriptedServer.body(of: "/gzip?size=5000", size: 5000))
    }

    @Test func theBodyLimitAppliesToTheLastHopOnly() throws {
        // given: redirects whose own bodies do not matter
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when
        let id = transport.start(try HTTPRequest(to: server.url("/redirect-chain/2?size=500")))
        _ = try transport.waitForEnd(of: id)
        // then
        #expect(transport.events(of: id).compactMap(\.received).last == 500)
    }
}

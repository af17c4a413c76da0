import SDDBase
import SDDTransport
import TestSupport
import Testing

/// H9 to H12, H14: credentials, and the origins that they are sent to.
@Suite struct CredentialTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws { (server, transport) = (try ScriptedServer(), try TransportUnderTest()) }

    private func request(
        _ url: String, method: String = "GET", body: String? = nil, _ change: (inout Credential) -> Void
    ) throws -> HTTPRequest {
        var credential = Credential()
        change(&credential)
        return try HTTPRequest(to: url, method: method, body: body) { $0.credential = credential }
    }

    private func password(_ credential: inout Credential) {
        credential.username = "user"
        credential.password = "secret"
    }

    /// "user:secret" in Base64.
    private static let basic = "Basic dXNlcjpzZWNyZXQ="

    @Test(
        "H10: answers a challenge, and sends nothing before it",
        arguments: [
            Credential.Schemes.all, .basic, [.basic, .digest],
        ])
    func h10_answersAChallenge(schemes: Credential.Schemes) throws {
        // when
        let id = transport.start(
            try request(server.url("/challenge/basic?size=70")) {
                password(&$0)
                $0.schemes = schemes
            })
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(end.status == 200)
        #expect(try end.bytes().count == 70)
        #expect(server.requests.map { $0.header("Authorization") } == [nil, Self.basic])
        #expect(transport.events(of: id).compactMap(\.head).map(\.response.status) == [200])
        #expect(server.connectionCount == 1)
    }

    @Test(
        "H10: takes the strongest scheme that is offered and allowed",
        arguments: [
            ("basic,digest", Credential.Schemes.all, "Digest"), ("digest,basic", .all, "Digest"),
            ("digest,basic", .basic, "Basic"), ("digest", .digest, "Digest"),
        ])
    func h10_takesTheStrongest(offered: String, allowed: Credential.Schemes, taken: String) throws {
        // when
        let request = try request(server.url("/challenge/\(offered)")) {
            password(&$0)
            $0.schemes = allowed
        }
        #expect(try transport.run(request).status == 200)
        // then
        let sent = server.requests.map { $0.header("Authorization") }
        #expect(sent.count == 2 && sent[0] == nil)
        #expect(sent.last??.hasPrefix(taken + " ") == true)
        #expect(sent.last??.contains("secret") == false)
    }

    @Test("H10: does not answer a scheme that is not allowed") func h10_keepsToTheAllowedSchemes() throws {
        // when
        let end = try transport.run(
            request(server.url("/challenge/basic")) {
                password(&$0)
                $0.schemes = .digest
            })
        // then
        #expect(end.status == 401)
        #expect(server.requests.map { $0.header("Authorization") } == [nil])
    }

    @Test("H11: tries once, and hands out the 401", arguments: ["basic", "digest", "basic,digest"])
    func h11_triesOnce(scheme: String) throws {
        // when
        let id = transport.start(try request(server.url("/challenge/\(scheme)?refuse"), password))
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(end.status == 401)
        #expect(end.response?.fields["WWW-Authenticate"] != nil)
        #expect(try !end.bytes().isEmpty)
        #expect(server.requests.map { $0.header("Authorization") != nil } == [false, true])
        #expect(transport.events(of: id).compactMap(\.head).map(\.response.status) == [401])
    }

    @Test("H12: hands out a 401 to a request without a credential") func h12_handsOutTheChallenge() throws {
        // when
        let end = try transport.run(HTTPRequest(to: server.url("/challenge/basic")))
        // then
        #expect(end.status == 401)
        #expect(server.requests.count == 1)
    }

    @Test("H10: sends a body again with the answer") func h10_sendsTheBodyAgain() throws {
        // given
        let body = String(repeating: "b", count: 100_000)
        // when
        let end = try transport.run(
            request(server.url("/challenge/digest"), method: "POST", body: body, password))
        // then
        #expect(end.status == 200)
        #expect(server.requests.last?.body == Array(body.utf8))
    }

    @Test("H10: sends a bearer token at once") func h10_sendsABearerTokenAtOnce() throws {
        // when: each alternates with a request without credentials
        // when: each beside the same without
        for _ in 0..<2 {
            #expect(
                try transport.run(request(server.url("/challenge/bearer")) { $0.bearerToken = "a.b-c" }).status == 200)
            #expect(try transport.run(HTTPRequest(to: server.url("/ok"))).status == 200)
        }
        // then
        #expect(server.requests.map { $0.header("Authorization") } == ["Bearer a.b-c", nil, "Bearer a.b-c", nil])
    }

    @Test("H14: does not send credentials to another origin, nor after a redirect through one")
    func h14_sendsNothingToAnotherOrigin() throws {
        // given: one origin, another one, and the first one again
        let home = try ScriptedServer()
        let away = try ScriptedServer()
        let back = home.url("/challenge/basic")
        let target = "/redirect?to=" + away.url("/redirect?to=\(back)")
        // when
        let withPassword = try transport.run(request(home.url(target), password))
        let withToken = try transport.run(request(home.url(target)) { $0.bearerToken = "secret" })
        // then
        #expect(withPassword.status == 401 && withToken.status == 401)
        #expect(away.requests.allSatisfy { $0.header("Authorization") == nil })
        #expect(home.requests.map { $0.header("Authorization") } == [nil, nil, "Bearer secret", nil])
        #expect(withToken.metrics.redirects == 2)
    }

    @Test("H14: sends credentials after a redirect to the same origin")
    func h14_sendsCredentialsToTheSameOrigin() throws {
        // when
        let end = try transport.run(request(server.url("/redirect?to=/challenge/basic"), password))
        // then
        #expect(end.status == 200)
        #expect(server.requests.map { $0.header("Authorization") } == [nil, nil, Self.basic])
    }

    @Test func prefersTheCredentialToTheURL() throws {
        // given
        let url = server.url("/challenge/basic").replacing("http://", with: "http://other:wrong@")
        // when
        let end = try transport.run(request(url, password))
        // then
        #expect(server.requests.map { $0.header("Authorization") } == [nil, Self.basic])
        #expect(end.response?.url == server.url("/challenge/basic"))
    }

    @Test func doesNotAffectTheNextRequest() throws {
        // when
        #expect(try transport.run(request(server.url("/challenge/basic"), password)).status == 200)
        #expect(try transport.run(HTTPRequest(to: server.url("/challenge/basic"))).status == 401)
        #expect(try transport.run(request(server.url("/challenge/basic"), password)).status == 200)
        // then: nothing is sent without a credential
        #expect(server.requests.map { $0.header("Authorization") } == [nil, Self.basic, nil, Self.basic])
    }

    @Test("H10: sends at once what the server has accepted, within the folder", arguments: ["GET", "POST"])
    func h10_sendsAnAcceptedPasswordAtOnce(method: String) throws {
        // given
        #expect(try transport.run(request(server.url("/challenge/basic?size=7"), password)).status == 200)
        // when: below the folder, beside it, and after a redirect into it
        for path in ["/challenge/basic?size=8", "/ok?size=9", "/redirect?to=/challenge/basic"] {
            #expect(try transport.run(request(server.url(path), method: method, password)).status == 200)
        }
        // then
        let sent = server.requests.map { $0.header("Authorization") }
        #expect(sent == [nil, Self.basic, Self.basic, nil, nil, Self.basic])
    }

    @Test("H10: an accepted password stays with its user, scheme and origin")
    func h10_keepsAnAcceptedPasswordToItsIdentity() throws {
        // given
        let other = try ScriptedServer()
        #expect(try transport.run(request(server.url("/challenge/basic"), password)).status == 200)
        let before = server.requests.count
        // when
        let others: [(String, String, Credential.Schemes)] = [
            ("another", "secret", .all), ("user", "other", .all), ("user", "secret", .digest),
        ]
        for (username, password, schemes) in others {
            let request = try request(server.url("/challenge/basic?open")) {
                $0.username = username
                $0.password = password
                $0.schemes = schemes
            }
            #expect(try transport.run(request).status == 200)
        }
        _ = try transport.run(HTTPRequest(to: server.url("/challenge/basic?open")))
        _ = try transport.run(request(other.url("/challenge/basic?open"), password))
        // then
        #expect(server.requests.dropFirst(before).allSatisfy { $0.header("Authorization") == nil })
        #expect(server.requests.count == before + 4)
        #expect(other.requests.map { $0.header("Authorization") } == [nil])
    }

    @Test("H10: an accepted password that is refused later is forgotten, and the response is the 401")
    func h11_forgetsARefusedPassword() throws {
        // given
        #expect(try transport.run(request(server.url("/challenge/basic"), password)).status == 200)
        // when
        let id = transport.start(try request(server.url("/challenge/basic?refuse"), password))
        let end = try transport.waitForEnd(of: id)
        #expect(try transport.run(request(server.url("/challenge/basic?open"), password)).status == 200)
        // then
        #expect(end.status == 401)
        #expect(try !end.bytes().isEmpty)
        #expect(transport.events(of: id).compactMap(\.head).map(\.response.status) == [401])
        #expect(server.requests.map { $0.header("Authorization") } == [nil, Self.basic, Self.basic, nil])
    }

    @Test("H10: goes over to the scheme that the server asks for now") func h10_takesAnotherScheme() throws {
        // given
        #expect(try transport.run(request(server.url("/challenge/basic"), password)).status == 200)
        // when
        let body = String(repeating: "b", count: 100_000)
        let end = try transport.run(
            request(server.url("/challenge/digest?nonce=a"), method: "POST", body: body, password))
        // then
        #expect(end.status == 200)
        let sent = server.requests.map { $0.header("Authorization") }
        #expect(sent.prefix(4) == [nil, Self.basic, Self.basic, nil] && sent.count == 5)
        #expect(sent.last??.hasPrefix("Digest ") == true)
        #expect(server.requests.last?.body == Array(body.utf8))
    }

    @Test("H10: uses a nonce again, and counts; takes the nonce of a stale answer")
    func h10_usesANonceAgain() throws {
        // when
        for nonce in ["a", "a", "a", "b", "b"] {
            let end = try transport.run(request(server.url("/challenge/digest?nonce=\(nonce)&size=5"), password))
            #expect(end.status == 200)
            #expect(try end.bytes().count == 5)
        }
        // then: one transfer each, but for the first and for the new nonce
        let sent = server.requests.map { $0.header("Authorization") ?? "" }
        let uses = sent.map { field in
            ["nonce=\"a\"", "nonce=\"b\"", "nc=00000001", "nc=00000002", "nc=00000003", "nc=00000004"]
                .filter { field.contains(", " + $0) }.map { $0.filter { $0 != "\"" } }
        }
        #expect(
            uses == [
                [], ["nonce=a", "nc=00000001"], ["nonce=a", "nc=00000002"], ["nonce=a", "nc=00000003"],
                ["nonce=a", "nc=00000004"], ["nonce=b", "nc=00000001"], ["nonce=b", "nc=00000002"],
            ])
        #expect(sent[3].contains("uri=\"/challenge/digest?nonce=a&size=5\""))
        #expect(!sent.joined().contains("secret"))
        #expect(server.connectionCount == 1)
    }

    @Test("H11: a server cannot ask without end", arguments: ["GET", "POST"])
    func h11_endsStaleChallenges(method: String) throws {
        // when
        let end = try transport.run(
            request(
                server.url("/challenge/digest?stale"), method: method, body: method == "POST" ? "a body" : nil, password
            ))
        // then
        #expect(end.status == 401)
        #expect(end.response?.fields["WWW-Authenticate"] != nil)
        #expect(server.requests.count == 4)
    }

    @Test("H11: a digest that is refused twice ends with the 401") func h11_triesADigestOnce() throws {
        // given
        #expect(try transport.run(request(server.url("/challenge/digest"), password)).status == 200)
        // when
        let end = try transport.run(request(server.url("/challenge/digest?refuse"), password))
        // then
        #expect(end.status == 401)
        #expect(server.requests.count == 4)
    }
}

/// H9: client certificates.
@Suite struct ClientCertificateTests {
    private func transport() throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        return try TransportUnderTest(configuration)
    }

    private func request(_ change: (inout Credential) -> Void = { _ in }) throws -> HTTPRequest {
        let server = try NginxServer.shared
        var credential = Credential()
        credential.clientCertificate = try Certificates.shared.clientCertificateFile
        credential.clientKey = try Certificates.shared.clientKeyFile
        change(&credential)
        // The file is written once, since rewriting would empty it for a moment.
        let name = "client-\(UInt64.random(in: 0...UInt64.max)).bin"
        try server.add(name, [1, 2, 3])
        return try HTTPRequest(to: "https://localhost:\(server.port(.clientCertificate))/\(name)") {
            $0.credential = credential
        }
    }

    @Test("H9: sends its certificate, and does not share connections without one")
    func h9_sendsItsCertificate() throws {
        // given
        let transport = try transport()
        let with = try request()
        let without = try HTTPRequest(to: with.url.text)
        // when: one after the other, and then all at once
        for _ in 0..<3 {
            let end = try transport.run(with)
            #expect(try end.bytes() == [1, 2, 3])
            #expect(end.response?.fields["X-Client"] == "CN=test client")
            #expect(try transport.run(without).status == 400)
        }
        let ids = transport.start((0..<20).map { $0 % 2 == 0 ? with : without })
        // then
        for (index, id) in ids.enumerated() {
            #expect(try transport.waitForEnd(of: id).status == (index % 2 == 0 ? 200 : 400))
        }
    }

    @Test("H9: unlocks its key") func h9_unlocksItsKey() throws {
        // given
        let end = try transport().run(
            request {
                $0.clientKey = try? Certificates.shared.lockedClientKeyFile
                $0.clientKeyPassword = Certificates.clientKeyPassword
            })
        // then
        #expect(try end.bytes() == [1, 2, 3])
    }

    @Test("H9: does not reuse connections of another key or password")
    func h9_doesNotShareConnectionsBetweenKeys() throws {
        // given: the right password, and a connection that is kept open
        let transport = try transport()
        let locked = try Certificates.shared.lockedClientKeyFile
        let right = try request {
            $0.clientKey = locked
            $0.clientKeyPassword = Certificates.clientKeyPassword
        }
        for _ in 0..<3 {
            #expect(try transport.body(of: right) == [1, 2, 3])
            // then
            for password in [nil, "", "wrong"] {
                let wrong = try request {
                    $0.clientKey = locked
                    $0.clientKeyPassword = password
                }
                #expect(try transport.failure(of: wrong).kind == .clientCertificate)
            }
            #expect(try transport.failure(of: request { $0.clientKey = "/no/such.key" }).kind == .clientCertificate)
        }
    }

    @Test(
        "H9: reports that a certificate cannot be used, without a prompt on the terminal",
        arguments: [
            "missing", "no certificate", "missing key", "other key", "locked", "wrong password",
        ])
    func h9_reportsThatACertificateCannotBeUsed(flaw: String) throws {
        // given
        let certificates = try Certificates.shared
        let request = try request {
            switch flaw {
            case "missing": $0.clientCertificate = "/no/such/file.pem"
            case "no certificate": $0.clientCertificate = certificates.clientKeyFile
            case "missing key": $0.clientKey = "/no/such/file.key"
            case "other key": $0.clientKey = certificates.keyFile(.valid)
            case "locked": $0.clientKey = certificates.lockedClientKeyFile
            default:
                $0.clientKey = certificates.lockedClientKeyFile
                $0.clientKeyPassword = "wrong"
            }
        }
        // when
        let failure = try transport().failure(of: request)
        // then
        #expect(failure.kind == .clientCertificate, "\(failure)")
        expectOneSentence(failure.message)
    }
}

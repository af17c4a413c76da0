import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Connections that transfers share, and those that they must not share.
@Suite struct ConnectionTests {
    private func secureTransport() throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        return try TransportUnderTest(configuration)
    }

    @Test func servesManyRequestsOverFewConnections() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when: 50 times 6 at once
        for round in 0..<50 {
            let targets = (0..<6).map { "/ok?size=\(1000 + round)&n=\($0)" }
            let ids = transport.start(try targets.map { try HTTPRequest(to: server.url($0)) })
            for (id, target) in zip(ids, targets) {
                #expect(try transport.waitForEnd(of: id).bytes() == ScriptedServer.body(of: target, size: 1000 + round))
            }
        }
        // then
        #expect(server.connectionCount <= 6)
        #expect(server.statistics.requests == 300)
    }

    @Test func reusesTheConnectionsOfABurst() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        for round in 0..<3 {
            // when
            let request = try HTTPRequest(to: server.url("/hold/\(round)"))
            let ids = transport.start(Array(repeating: request, count: 40))
            #expect(server.wait { $0.active == 40 })
            server.release("\(round)")
            for id in ids { #expect(try transport.waitForEnd(of: id).bytes().count == 64) }
        }
        // then
        #expect(server.connectionCount == 40)
    }

    @Test func retriesIfAReusedConnectionWasClosed() throws {
        // given: a server that closes after each reply without announcing it
        let transport = try TransportUnderTest()
        let first = try ScriptedServer()
        #expect(try transport.body(of: HTTPRequest(to: first.url("/ok"))).count == 64)
        let port = first.port
        first.stop()
        let second = try ScriptedServer(port: port)
        // when
        let body = try transport.body(of: HTTPRequest(to: second.url("/ok?size=9")))
        // then
        #expect(body.count == 9)
    }

    @Test func sharesOneConnectionOfHTTP2() throws {
        // given
        let server = try NginxServer.shared
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try server.add("shared.bin", content)
        let transport = try secureTransport()
        // when
        let request = try HTTPRequest(to: server.secureURL("/shared.bin"))
        let ends = try transport.start(Array(repeating: request, count: 60)).map { try transport.waitForEnd(of: $0) }
        // then
        for end in ends { #expect(try end.bytes() == content) }
        #expect(ends.filter { $0.timings.tls > 0 }.count == 1)
    }

    @Test func decompressesOverHTTP2() throws {
        // given
        let server = try NginxServer.shared
        let content = [UInt8](repeating: 65, count: 100_000)
        try server.add("packed.bin", content)
        let transport = try secureTransport()
        // when
        let id = transport.start(try HTTPRequest(to: server.secureURL("/gzip/packed.bin")))
        // then
        #expect(try transport.waitForEnd(of: id).bytes() == content)
        #expect(transport.events(of: id).first?.head?.summary == [200, -1])
    }

    @Test(arguments: [
        (CertificateKind.expired, TransportError.Kind.certificateExpired), (.notYetValid, .certificateExpired),
        (.wrongHost, .certificateWrongHost), (.selfSigned, .certificateSelfSigned),
    ])
    func verifiesEachRequestThatAsksForIt(kind: CertificateKind, failure: TransportError.Kind) throws {
        // given
        let server = try NginxServer.shared
        let name = "verified-\(kind).bin"
        try server.add(name, [1])
        let transport = try secureTransport()
        let url = server.secureURL("/" + name, kind)
        for _ in 0..<3 {
            // when: a request without verification leaves a connection and a TLS session behind
            let unverified = try transport.run(HTTPRequest(to: url, verifies: false))
            let verified = try transport.run(HTTPRequest(to: url))
            // then
            #expect(try unverified.bytes() == [1])
            let error = try verified.failure()
            #expect(error.kind == failure)
            #expect(error.curlCode == 60)
            #expect(error.message.contains("localhost"))
            expectOneSentence(error.message)
        }
    }

    @Test func verifiedAndUnverifiedTransfersDoNotShareConnections() throws {
        // given
        let server = try NginxServer.shared
        try server.add("apart.bin", [1])
        let transport = try secureTransport()
        let url = server.secureURL("/apart.bin", .selfSigned)
        // when
        let requests = try (0..<20).map { try HTTPRequest(to: url, verifies: $0 % 2 == 0) }
        let ends = try transport.start(requests).map { try transport.waitForEnd(of: $0) }
        // then
        for (index, end) in ends.enumerated() {
            if index % 2 == 0 {
                #expect(try end.failure().kind == .certificateSelfSigned)
            } else {
                #expect(try end.bytes() == [1])
            }
        }
    }

    @Test func trustsOnlyTheGivenFile() throws {
        // given: the test's own certificate file, and then no file
        let server = try NginxServer.shared
        try server.add("trusted.bin", [1])
        let withSystem = try TransportUnderTest()
        var configuration = TransportConfiguration()
        configuration.caFile = "/no/such/file.pem"
        let withoutFile = try TransportUnderTest(configuration)
        let request = try HTTPRequest(to: server.secureURL("/trusted.bin"))
        // when, then
        #expect(try secureTransport().body(of: request) == [1])
        #expect(try withSystem.failure(of: request).kind == .certificateUnknownIssuer)
        #expect(try withoutFile.failure(of: request).kind == .caFile)
    }

    @Test func reportsThatAPortDoesNotSpeakTLS() throws {
        // given
        let server = try NginxServer.shared
        let transport = try TransportUnderTest()
        // when
        let failure = try transport.failure(of: HTTPRequest(to: "https://127.0.0.1:\(server.plainPort)/"))
        // then
        #expect(failure.kind == .tlsHandshake)
        expectOneSentence(failure.message)
    }
}

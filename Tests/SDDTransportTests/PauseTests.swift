import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Pausing and resuming transfers, and changing the priority of running ones.
@Suite struct PauseTests {
    private func request(_ url: String) throws -> HTTPRequest {
        try HTTPRequest(to: url) {
            $0.clocks.firstByte = 5000
            $0.clocks.stall = 5000
        }
    }

    @Test func stopsReadingUntilResumed() throws {
        // given
        let server = try ScriptedServer()
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url("/hold/p?after=10&size=5000")))
        #expect(transport.wait(for: id) { $0.received == 10 } != nil)
        // when
        transport.give([.pause(id), .pause(id)])
        #expect(transport.waitUntilTaken())
        server.release("p")
        #expect(server.wait { $0.active == 0 })
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        // then: its clocks stand still
        #expect(transport.events(of: id).compactMap(\.received) == [10])
        time.advance(milliseconds: 60_000)
        #expect(transport.waitForATurn())
        #expect(transport.events(of: id).compactMap(\.received) == [10])
        // when
        transport.give([.resume(id)])
        // then
        let sent = ScriptedServer.body(of: "/hold/p?after=10&size=5000", size: 5000)
        #expect(try transport.waitForEnd(of: id).bytes() == sent)
    }

    @Test func doesNotConnectWhilePaused() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when
        let id = TransferID(1000)
        transport.give([.start(id, try request(server.url("/ok?size=9")), .normal), .pause(id)])
        #expect(transport.waitForATurn())
        #expect(server.connectionCount == 0)
        transport.give([.resume(id), .resume(id)])
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 9)
    }

    @Test func clocksContinueAfterAPause() throws {
        // given
        let server = try ScriptedServer()
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url("/silence")))
        #expect(server.waitForRequests("/silence"))
        #expect(transport.waitForATurn())
        // when: four of five seconds, a pause, and two more
        time.advance(milliseconds: 4000)
        transport.give([.pause(id)])
        #expect(transport.waitForATurn())
        time.advance(milliseconds: 60_000)
        transport.give([.resume(id)])
        #expect(transport.waitForATurn())
        #expect(transport.events(of: id).isEmpty)
        time.advance(milliseconds: 2000)
        transport.transport.wake(.first)
        // then
        #expect(try transport.waitForEnd(of: id).failure().kind == .firstByteTimeout)
    }

    @Test(arguments: [false, true]) func cancelsAPausedTransfer(isConnected: Bool) throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let id = TransferID(1000)
        transport.give([.start(id, try request(server.url("/hold/c?after=1")), .normal)])
        if isConnected { #expect(transport.wait(for: id) { $0.received == 1 } != nil) }
        // when
        transport.give([.pause(id), .cancel(id), .resume(id), .pause(id), .setPriority(id, .high)])
        // then
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        #expect(!transport.events(of: id).contains { $0.isEnd })
        #expect(server.wait { $0.active == 0 })
    }

    @Test func pausesAChainOfRedirects() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let id = transport.start(try request(server.url("/hold/1?status=302&header=Location:%20/ok?size=9")))
        #expect(server.waitForRequests("/hold/1"))
        #expect(transport.waitForATurn())
        // when
        transport.give([.pause(id)])
        #expect(transport.waitForATurn())
        server.release("1")
        #expect(server.wait { $0.active == 0 })
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok?size=8"))).count == 8)
        #expect(server.count("/ok?size=9") == 0)
        transport.give([.resume(id)])
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 9)
    }

    @Test func decompressesBytesHeldDuringAPause() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when: paused again and again, at any moment
        let ids = transport.start(try (0..<10).map { try HTTPRequest(to: server.url("/gzip?size=\(20_000 + $0)")) })
        for _ in 0..<20 {
            transport.give(ids.map { .pause($0) })
            #expect(transport.waitUntilTaken())
            transport.give(ids.map { .resume($0) })
            #expect(transport.waitUntilTaken())
        }
        // then
        for (index, id) in ids.enumerated() {
            let target = "/gzip?size=\(20_000 + index)"
            #expect(try transport.waitForEnd(of: id).bytes() == ScriptedServer.body(of: target, size: 20_000 + index))
        }
    }

    /// libcurl 7.88 reads once more after a transfer has resumed, even if it is paused again before.
    @Test func decompressesABodyThatArrivesBetweenTwoPauses() throws {
        // given: a reply waits in the socket of a paused transfer
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let target = "/gzip?size=2094&gate=g"
        let id = transport.start(try request(server.url(target)))
        #expect(server.waitForRequests("/gzip"))
        #expect(transport.waitForATurn())
        transport.give([.pause(id)])
        #expect(transport.waitForATurn())
        server.release("g")
        #expect(server.wait { $0.active == 0 })
        // when
        transport.give([.resume(id), .pause(id)])
        #expect(transport.waitForATurn())
        #expect(transport.events(of: id).isEmpty)
        transport.give([.resume(id)])
        // then
        #expect(try transport.waitForEnd(of: id).bytes() == ScriptedServer.body(of: target, size: 2094))
    }

    /// Several transfers share one connection there, and a paused one must not block the others.
    @Test func pausesOneOfManyTransfersOverHTTP2() throws {
        // given
        let server = try NginxServer.shared
        let content = (0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        try server.add("paused.bin", content)
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        let transport = try TransportUnderTest(configuration)
        let request = try HTTPRequest(to: server.secureURL("/paused.bin"))
        let ids = (1000..<1004).map { TransferID($0) }
        // when: paused at the first event, since the whole body may have arrived before this thread runs
        transport.give([.pause(ids[0]), .pause(ids[1])]) { $0.id == ids[0] && ($0.received ?? 0) > 0 }
        transport.give(ids.map { .start($0, request, .normal) })
        for id in ids.suffix(2) { #expect(try transport.waitForEnd(of: id).bytes() == content) }
        // then
        let toldBefore = transport.events.filter { $0.id == ids[0] || $0.id == ids[1] }
        #expect(!toldBefore.contains { $0.isEnd || $0.received == Int64(content.count) })
        transport.give([.resume(ids[0]), .resume(ids[1])])
        for id in ids.prefix(2) { #expect(try transport.waitForEnd(of: id).bytes() == content) }
    }

    @Test func takesEveryPriorityAtAnyTime() throws {
        // given
        let server = try NginxServer.shared
        try server.add("priority.bin", [UInt8](repeating: 3, count: 500_000))
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        let transport = try TransportUnderTest(configuration)
        let request = try HTTPRequest(to: server.secureURL("/priority.bin"))
        // when
        let ids = Priority.allCases.flatMap { transport.start([request], priority: $0) }
        for priority in Priority.allCases { transport.give(ids.map { .setPriority($0, priority) }) }
        transport.give([.setPriority(TransferID(999_999), .high)])
        // then
        for id in ids { #expect(try transport.waitForEnd(of: id).bytes().count == 500_000) }
    }
}

import SDDBase
import SDDTransport
import TestSupport
import Testing

/// The limit of a body and the limit of silence.
@Suite struct LimitTests {
    private static let limit = 100_000

    private func transport(time: any TimeSource = SystemTime(), idle: Int64 = 15_000) throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.maxBodyBytes = Int64(Self.limit)
        configuration.idleTimeoutMilliseconds = idle
        return try TransportUnderTest(configuration, time: time)
    }

    @Test(arguments: [
        "/ok?size=100001", "/announce", "/announce?size=9223372036854775807", "/announce?size=99999999999999999999999",
        "/endless", "/endless-close", "/gzip-bomb", "/gzip?size=100001", "/ok?size=100001&framing=chunked",
        "/ok?size=100001&framing=close", "/redirect?to=/endless",
    ])
    func refusesABodyOverTheLimit(target: String) throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport()
        // when
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        let failure = try transport.waitForEnd(of: id).failure()
        // then
        #expect(failure.kind == .bodyTooLarge)
        #expect(failure.message.contains("100000"))
        #expect(transport.events(of: id).compactMap(\.received).allSatisfy { $0 <= Self.limit })
    }

    @Test(arguments: [
        "/ok?size=100000", "/ok?size=100000&framing=chunked", "/ok?size=100000&framing=close", "/gzip?size=100000",
    ])
    func takesABodyOfJustTheLimit(target: String) throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport()
        // when
        let body = try transport.body(of: HTTPRequest(to: server.url(target)))
        // then
        #expect(body == ScriptedServer.body(of: target, size: Self.limit))
    }

    @Test(arguments: [
        ("/silence", TransportError.Kind.stall, 0), ("/stall", .stall, 32),
        ("/stall?framing=chunked&after=5", .stall, 5),
        ("/announce?size=90000", .stall, 10), ("/redirect?to=/silence", .stall, 0),
    ])
    func endsATransferThatIsSilent(target: String, kind: TransportError.Kind, received: Int64) throws {
        // given: time stands still until all that will come has come
        let server = try ScriptedServer()
        let time = ManualTime(microseconds: 1)
        let transport = try transport(time: time, idle: 10_000)
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        #expect(server.waitForRequests(target.contains("redirect") ? "/silence" : target))
        // a whole transfer later the turn that brought it is over
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        if received > 0 { #expect(transport.wait(for: id) { $0.received == received } != nil) }
        // when
        time.advance(milliseconds: 10_001)
        transport.transport.wake()
        // then
        let failure = try transport.waitForEnd(of: id).failure()
        #expect(failure.kind == kind)
        #expect(failure.curlCode == 28)
        #expect(failure.message.contains("10000 ms"))
        #expect(server.wait { $0.active == 0 })
    }

    @Test func beginsAfreshWithEveryByte() throws {
        // given
        let server = try ScriptedServer()
        let time = ManualTime()
        let transport = try transport(time: time, idle: 10_000)
        let id = transport.start(try HTTPRequest(to: server.url("/steps/s?at=1,2,3&size=4")))
        // when: 9 s of silence, again and again
        for step in 1...3 {
            #expect(transport.wait(for: id) { $0.received == Int64(step) } != nil)
            time.advance(milliseconds: 9000)
            server.release("s.\(step)")
        }
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 4)
    }

    @Test func leavesOthersAloneWhenOneIsSilent() throws {
        // given
        let server = try ScriptedServer()
        let time = ManualTime()
        let transport = try transport(time: time, idle: 10_000)
        let silent = transport.start(try HTTPRequest(to: server.url("/silence")))
        #expect(server.waitForRequests("/silence"))
        time.advance(milliseconds: 6000)
        let later = transport.start(try HTTPRequest(to: server.url("/hold/l")))
        #expect(server.waitForRequests("/hold/l"))
        // when
        time.advance(milliseconds: 6000)
        transport.transport.wake()
        // then
        #expect(try transport.waitForEnd(of: silent).failure().kind == .stall)
        server.release("l")
        #expect(try transport.waitForEnd(of: later).bytes().count == 64)
    }

    @Test func endsAConnectThatIsSilent() throws {
        // given: a server that takes the connection and never says a word of TLS
        let server = try ScriptedServer()
        let transport = try transport(idle: 50)
        // when
        let end = try transport.run(HTTPRequest(to: "https://127.0.0.1:\(server.port)/"))
        // then
        #expect(try end.failure().kind == .connectTimeout)
        #expect(end.status == 0)
    }

    @Test func noticesSilenceWithoutBeingWoken() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(idle: 50)
        // when
        let failure = try transport.failure(of: HTTPRequest(to: server.url("/silence")))
        // then
        #expect(failure.kind == .stall)
    }
}

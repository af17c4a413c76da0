import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Z6: the clocks of a transfer's stages, with time that stands still until the test moves it.
@Suite struct ClockTests {
    private let server: ScriptedServer

    init() throws { server = try ScriptedServer() }

    private func request(
        _ url: String, connect: Int64 = 15_000, firstByte: Int64 = 0, stall: Int64 = 15_000, body: String? = nil
    ) throws -> HTTPRequest {
        try HTTPRequest(to: url, method: body == nil ? "GET" : "POST", body: body) {
            $0.clocks.connect = connect
            $0.clocks.firstByte = firstByte
            $0.clocks.stall = stall
            $0.clocks.slowness = 0
        }
    }

    @Test(arguments: [
        ("/silence", TransportError.Kind.stall, 0), ("/stall", .stall, 32),
        ("/stall?framing=chunked&after=5", .stall, 5),
        ("/announce?size=90000", .stall, 10), ("/redirect?to=/silence", .stall, 0),
    ])
    func endsASilentTransfer(target: String, kind: TransportError.Kind, received: Int64) throws {
        // given: time stands still until everything has arrived
        let time = ManualTime(microseconds: 1)
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url(target), stall: 10_000))
        #expect(server.waitForRequests(target.contains("redirect") ? "/silence" : target))
        // after a whole further transfer, the loop's turn that received it is over
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        if received > 0 { #expect(transport.wait(for: id) { $0.received == received } != nil) }
        // when
        time.advance(milliseconds: 10_001)
        transport.transport.wake(.first)
        // then
        let failure = try transport.waitForEnd(of: id).failure()
        #expect(failure.kind == kind)
        #expect(failure.curlCode == 28)
        #expect(failure.message.contains("10000 ms"))
        #expect(server.wait { $0.active == 0 })
    }

    @Test func everyByteRestartsTheSilenceLimit() throws {
        // given
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url("/steps/s?at=1,2,3&size=4"), stall: 10_000))
        // when: 9 s of silence, again and again
        for step in 1...3 {
            #expect(transport.wait(for: id) { $0.received == Int64(step) } != nil)
            time.advance(milliseconds: 9000)
            server.release("s.\(step)")
        }
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 4)
    }

    @Test func aSilentTransferDoesNotAffectOthers() throws {
        // given
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let silent = transport.start(try request(server.url("/silence"), stall: 10_000))
        #expect(server.waitForRequests("/silence"))
        #expect(transport.waitForATurn())
        time.advance(milliseconds: 6000)
        let later = transport.start(try request(server.url("/hold/l"), stall: 10_000))
        #expect(server.waitForRequests("/hold/l"))
        #expect(transport.waitForATurn())
        // when
        time.advance(milliseconds: 6000)
        transport.transport.wake(.first)
        // then
        #expect(try transport.waitForEnd(of: silent).failure().kind == .stall)
        server.release("l")
        #expect(try transport.waitForEnd(of: later).bytes().count == 64)
    }

    @Test func endsASilentHandshake() throws {
        // given: a server that accepts the connection and never answers the TLS handshake
        let transport = try TransportUnderTest()
        // when
        let end = try transport.run(request("https://127.0.0.1:\(server.port)/", connect: 50))
        // then
        #expect(try end.failure().kind == .connectTimeout)
        #expect(end.status == 0)
    }

    @Test func noticesSilenceWithoutAWakeUp() throws {
        // given
        let transport = try TransportUnderTest()
        // when
        let failure = try transport.failure(of: request(server.url("/silence"), stall: 50))
        // then
        #expect(failure.kind == .stall)
    }

    @Test("Z6: ends a request that is sent and not answered", arguments: [nil, "a body"])
    func z6_endsARequestWithoutAnAnswer(body: String?) throws {
        // given: a limit on the first byte that is shorter than that on silence
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url("/silence"), firstByte: 3000, stall: 10_000, body: body))
        #expect(server.waitForRequests("/silence"))
        #expect(transport.waitForATurn())
        // when
        time.advance(milliseconds: 2000)
        #expect(transport.waitForATurn())
        #expect(transport.events(of: id).isEmpty)
        time.advance(milliseconds: 2000)
        transport.transport.wake(.first)
        // then: that a body has been sent is noticed only at the next look at the clocks
        if body != nil {
            #expect(transport.waitForATurn())
            time.advance(milliseconds: 3000)
            transport.transport.wake(.first)
        }
        let failure = try transport.waitForEnd(of: id).failure()
        #expect(failure.kind == .firstByteTimeout)
        #expect(failure.message.contains("3000 ms"))
        #expect(failure.curlCode == 28)
        expectOneSentence(failure.message)
    }

    @Test("Z6: the limit on the first byte ends with the response")
    func z6_theFirstByteLimitEndsWithTheResponse() throws {
        // given
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url("/hold/f?after=1"), firstByte: 1000, stall: 0))
        #expect(transport.wait(for: id) { $0.received == 1 } != nil)
        // when
        time.advance(milliseconds: 100_000)
        #expect(transport.waitForATurn())
        server.release("f")
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 64)
    }

    @Test("Z6: starts anew with each hop") func z6_startsAnewWithEachHop() throws {
        // given
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let target = "/hold/1?status=302&header=Location:%20/hold/2"
        let id = transport.start(try request(server.url(target), firstByte: 5000, stall: 0))
        #expect(server.waitForRequests("/hold/1"))
        #expect(transport.waitForATurn())
        // when: each hop takes less than the limit, and both together more
        time.advance(milliseconds: 4000)
        #expect(transport.waitForATurn())
        server.release("1")
        #expect(server.waitForRequests("/hold/2"))
        #expect(transport.waitForATurn())
        time.advance(milliseconds: 4000)
        #expect(transport.waitForATurn())
        server.release("2")
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 64)
    }

    @Test("Z6: sets no limits unless asked to") func z6_hasNoLimitsByDefault() throws {
        // given
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let id = transport.start(try request(server.url("/hold/n"), connect: 0, stall: 0))
        #expect(server.waitForRequests("/hold/n"))
        // when: a year passes
        time.advance(milliseconds: 365 * 86_400_000)
        #expect(transport.waitForATurn())
        server.release("n")
        // then
        #expect(try transport.waitForEnd(of: id).bytes().count == 64)
    }

    @Test("Z6: an expired limit is noticed in time", arguments: [30, 90] as [Int64])
    func z6_isPrecise(limit: Int64) throws {
        // given
        let transport = try TransportUnderTest()
        let clock = SystemTime()
        var took = Int64.max
        // when: tried again if it is late, because a busy machine is late now and then, and a loop that waits for the
        // wrong thing is always late
        for _ in 0..<20 where took >= limit * 1000 + 500_000 {
            let began = clock.monotonicMicroseconds()
            let failure = try transport.failure(of: request(server.url("/silence"), firstByte: limit))
            took = clock.monotonicMicroseconds() - began
            // then: never too early
            #expect(failure.kind == .firstByteTimeout)
            #expect(took >= limit * 1000)
        }
        #expect(took < limit * 1000 + 500_000)
    }

    @Test func asksItsDelegateAgainAtItsDeadline() throws {
        // given
        let clock = SystemTime()
        let transport = try TransportUnderTest()
        #expect(transport.waitForATurn())
        let before = transport.timesAsked
        // when: the loop is not woken after this
        transport.ask(again: clock.monotonicMicroseconds() + 30_000)
        #expect(transport.waitForATurn())
        // then
        #expect(transport.waitForATurnWithoutWake(after: before + 1))
        transport.ask(again: .max)
    }
}

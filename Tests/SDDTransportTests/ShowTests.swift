import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Bodies that are shown while they arrive.
@Suite struct ShowTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws {
        server = try ScriptedServer()
        transport = try TransportUnderTest()
    }

    @Test(arguments: [
        "/ok?size=2000003", "/ok?size=300000&framing=chunked", "/ok?size=300000&framing=close", "/gzip?size=300000",
        "/redirect?to=/ok?seed=a%26size=300000&size=5000", "/ok?size=1",
    ])
    func showsMoreAndMoreOfTheBody(target: String) throws {
        // when
        let id = TransferID(1000)
        transport.give([.start(id, try HTTPRequest(to: server.url(target)), .normal), .show(id)])
        let whole = try transport.waitForEnd(of: id).bytes()
        // then
        let events = transport.events(of: id)
        let bodies = events.compactMap(\.body)
        #expect(!bodies.isEmpty)
        #expect(bodies.allSatisfy { whole.starts(with: $0.pointer) })
        #expect(zip(bodies, bodies.dropFirst()).allSatisfy { $0.count < $1.count })
        for (index, event) in events.enumerated() {
            guard let body = event.body else { continue }
            #expect(index > 0 && events[index - 1].received == Int64(body.count))
        }
        #expect(events.last?.isEnd == true)
    }

    @Test func aLateShowShowsTheBytesSoFar() throws {
        // given
        let target = "/steps/late?at=100,200&size=5000"
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        #expect(transport.wait(for: id) { $0.received == 100 } != nil)
        // when
        transport.give([.show(id)])
        // then: the count is not reported again
        let first = try #require(transport.wait(for: id) { $0.body != nil }?.body)
        #expect(first.count == 100)
        transport.give([.show(id)])
        #expect(transport.waitForATurn())
        #expect(transport.events(of: id).compactMap(\.received) == [100])
        #expect(transport.events(of: id).compactMap(\.body?.count) == [100])
        // when
        server.release("late.1")
        #expect(transport.wait(for: id) { $0.body?.count == 200 } != nil)
        server.release("late.2")
        // then: the bytes shown before have not changed
        let sent = ScriptedServer.body(of: target, size: 5000)
        #expect(try transport.waitForEnd(of: id).bytes() == sent)
        for body in transport.events(of: id).compactMap(\.body) {
            #expect(Array(body.pointer) == Array(sent[..<body.count]))
        }
    }

    @Test(
        "Z17: shows all received bytes before it reports the failure",
        arguments: [
            ("/cut?size=300000&after=123457", 123_457, TransportError.Kind.truncatedBody),
            ("/cut-chunked?size=300000&after=123457", 123_457, .truncatedBody),
            ("/reset?size=300000&after=0", 0, .connectionLost),
            ("/stall?size=300000&after=123457", 123_457, .stall), ("/bad-chunk", 5, .notHTTP),
            ("/redirect?to=/cut?after=7%26size=300000", 7, .truncatedBody),
        ])
    func showsAllReceivedBytesBeforeAFailure(target: String, count: Int, kind: TransportError.Kind) throws {
        // given: for the transfer that stalls, time passes once everything has arrived
        let time = ManualTime()
        let transport = try TransportUnderTest(time: time)
        let request = try HTTPRequest(to: server.url(target)) { $0.clocks.stall = 1000 }
        // when
        let id = TransferID(1000)
        transport.give([.start(id, request, .normal), .show(id)])
        if kind == .stall {
            #expect(transport.wait(for: id) { $0.received == Int64(count) } != nil)
            time.advance(milliseconds: 1001)
            transport.transport.wake(.first)
        }
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(try end.failure().kind == kind)
        let events = transport.events(of: id)
        #expect(events.compactMap(\.body).last?.count ?? 0 == count)
        #expect(end.metrics.handedOutBytes == count)
        #expect(events.last?.isEnd == true)
    }

    @Test func showsThePartOfATooLargeBodyThatFits() throws {
        // given: a single turn of the loop may lie between the first byte and the one too many
        var configuration = TransportConfiguration()
        configuration.maxBodyBytes = 50_000
        let transport = try TransportUnderTest(configuration)
        let id = TransferID(1000)
        // when
        transport.give([.start(id, try HTTPRequest(to: server.url("/endless")), .normal), .show(id)])
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(try end.failure().kind == .bodyTooLarge)
        let events = transport.events(of: id)
        #expect(events.first?.head?.summary == [200, -1])
        #expect(Int64(events.compactMap(\.body).last?.count ?? 0) == end.metrics.handedOutBytes)
    }

    @Test func showsBytesReceivedDuringAPauseAtTheEnd() throws {
        // given: paused, and the rest sent meanwhile
        let id = TransferID(1000)
        let request = try HTTPRequest(to: server.url("/steps/cut?at=100&size=5000"))
        transport.give([.start(id, request, .normal), .show(id)])
        #expect(transport.wait(for: id) { $0.body?.count == 100 } != nil)
        transport.give([.pause(id)])
        #expect(transport.waitUntilTaken())
        // when: the connection breaks while the transfer is paused
        server.stop()
        transport.give([.resume(id)])
        // then
        let end = try transport.waitForEnd(of: id)
        #expect(throws: TransportError.self) { try end.result.get() }
        #expect(Int64(transport.events(of: id).compactMap(\.body).last?.count ?? 0) == end.metrics.handedOutBytes)
    }

    @Test func showsNothingUnlessAsked() throws {
        // given
        let id = transport.start(try HTTPRequest(to: server.url("/hold/other?after=100&size=5000")))
        #expect(transport.wait(for: id) { $0.received == 100 } != nil)
        // when: the command is for another transfer, which is over
        transport.give([.show(TransferID(7777))])
        #expect(transport.waitForATurn())
        server.release("other")
        // then
        _ = try transport.waitForEnd(of: id)
        #expect(transport.events.allSatisfy { $0.body == nil })
    }

    @Test func showsNothingDuringAPauseButAfterIt() throws {
        // given
        let id = transport.start(try HTTPRequest(to: server.url("/hold/pause?after=100&size=5000")))
        #expect(transport.wait(for: id) { $0.received == 100 } != nil)
        transport.give([.pause(id)])
        #expect(transport.waitUntilTaken())
        // when
        transport.give([.show(id)])
        #expect(transport.waitForATurn())
        #expect(transport.events(of: id).allSatisfy { $0.body == nil })
        transport.give([.resume(id)])
        // then
        #expect(transport.wait(for: id) { $0.body?.count == 100 } != nil)
        #expect(transport.events(of: id).compactMap(\.received) == [100])
        server.release("pause")
        #expect(try transport.waitForEnd(of: id).bytes().count == 5000)
    }
}

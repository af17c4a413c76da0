import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Bodies that are shown while they come.
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
    func showsEverMoreOfIt(target: String) throws {
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

    @Test func showsWhatIsThereWhenItIsAskedLate() throws {
        // given
        let target = "/steps/late?at=100,200&size=5000"
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        #expect(transport.wait(for: id) { $0.received == 100 } != nil)
        // when
        transport.give([.show(id)])
        // then: without telling the count again
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
        // then: what has been shown stays what it was
        let sent = ScriptedServer.body(of: target, size: 5000)
        #expect(try transport.waitForEnd(of: id).bytes() == sent)
        for body in transport.events(of: id).compactMap(\.body) {
            #expect(Array(body.pointer) == Array(sent[..<body.count]))
        }
    }

    @Test func showsNothingUnlessItIsAsked() throws {
        // given
        let id = transport.start(try HTTPRequest(to: server.url("/hold/other?after=100&size=5000")))
        #expect(transport.wait(for: id) { $0.received == 100 } != nil)
        // when: for another one, which is over
        transport.give([.show(TransferID(7777))])
        #expect(transport.waitForATurn())
        server.release("other")
        // then
        _ = try transport.waitForEnd(of: id)
        #expect(transport.events.allSatisfy { $0.body == nil })
    }

    @Test func showsNothingInAPauseAndWhatHasComeAfterIt() throws {
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

import Glibc
import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Cancelling, stopping, and the end of the thread.
@Suite struct LifeTests {
    @Test func sendsNoEventAfterACancel() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let requests = try ["/endless-close", "/silence", "/hold/c?after=10"].map {
            try HTTPRequest(to: server.url($0))
        }
        let ids = transport.start(requests)
        #expect(transport.wait(for: ids[2]) { $0.received == 10 } != nil)
        #expect(server.wait { $0.active == 3 })
        // when
        transport.cancel(ids)
        #expect(transport.waitUntilTaken())
        // after a whole further transfer, no event can be on its way any more
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        let soFar = transport.events.filter { ids.contains($0.id) }.count
        server.release("c")
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        // then
        #expect(transport.events.filter { ids.contains($0.id) }.count == soFar)
        #expect(!transport.events.contains { ids.contains($0.id) && $0.isEnd })
        #expect(server.wait { $0.active == 0 })
    }

    @Test func startsAndCancelsInOrder() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when: cancelled in the same turn, before a byte was sent; and an id that does not exist
        for _ in 0..<100 {
            let id = transport.start(try HTTPRequest(to: server.url("/silence")))
            transport.cancel([id, TransferID(999_999)])
        }
        // then
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        #expect(server.wait { $0.active == 0 })
        #expect(transport.events.filter(\.isEnd).count == 1)
    }

    @Test func reusesAHandleAfterACancel() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        for round in 0..<20 {
            let id = transport.start(
                try HTTPRequest(to: server.url("/hold/\(round)?after=30"), method: "POST", body: "x"))
            #expect(transport.wait(for: id) { $0.received == 30 } != nil)
            // when
            transport.cancel([id])
            // then
            let target = "/ok?size=\(100 + round)"
            #expect(
                try transport.body(of: HTTPRequest(to: server.url(target)))
                    == ScriptedServer.body(of: target, size: 100 + round))
        }
    }

    @Test func stopsWithTransfersUnderWay() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        let targets = ["/silence", "/stall", "/endless-close", "/hold/s", "/trickle?size=100000"]
        let ids = transport.start(try targets.map { try HTTPRequest(to: server.url($0)) })
        #expect(server.wait { $0.active == 5 })
        // when
        transport.end()
        // then
        let count = transport.events.count
        #expect(!transport.events.contains { $0.isEnd })
        #expect(server.wait { $0.active == 0 && $0.open == 0 })
        #expect(transport.events.count == count)
        _ = ids
    }

    /// Stops at many different moments of the loop's first turns.
    @Test func noticesEveryStop() throws {
        // given
        let ended = Monitor(0)
        let thread = try NativeThread(name: "stops") {
            for round in 0..<2000 {
                guard let transport = try? TransportUnderTest() else { return }
                if round % 2 == 0 { transport.transport.wake(.first) }
                // when
                transport.end()
                ended.withLock { $0 += 1 }
                ended.broadcast()
            }
        }
        // then: each stops in time; all of them together may take long
        let areAllHeard = (1...2000).allSatisfy { count in
            ended.wait(milliseconds: 30_000) { $0 >= count ? true : nil } ?? false
        }
        #expect(areAllHeard)
        if areAllHeard { thread.join() } else { thread.detach() }
    }

    @Test func allowsEveryCallAfterTheEnd() throws {
        // given
        let transport = try TransportUnderTest()
        transport.end()
        // when
        transport.transport.wake(.first)
        transport.transport.stop()
        transport.transport.join()
        transport.start(try HTTPRequest(to: "http://127.0.0.1:1/"))
        // then
        #expect(transport.events.isEmpty)
    }

    @Test func allowsCallsBeforeTheStart() {
        // given
        let transport = CurlTransport(configuration: TransportConfiguration())
        // when, then: nothing happens
        transport.wake(.first)
        transport.stop()
        transport.join()
    }

    @Test func endsDuringANameLookup() throws {
        // given
        let transport = try TransportUnderTest()
        // when
        transport.start(try (0..<20).map { try HTTPRequest(to: "http://host-\($0).invalid/") })
        #expect(transport.waitUntilTaken())
        transport.end()
        // then
        #expect(transport.batches.count <= 20)
    }

    /// Many threads start, cancel and wake while transfers run; each transfer that was not cancelled ends once.
    @Test func survivesManyThreads() throws {
        // given
        let server = try ScriptedServer(keepsRequests: false)
        let transport = try TransportUnderTest()
        let request = try HTTPRequest(to: server.url("/ok?size=3000"))
        let kept = Recorder<TransferID>()
        let dropped = Recorder<TransferID>()
        // when
        let threads = try (0..<8).map { number in
            try NativeThread(name: "caller-\(number)") {
                for round in 0..<50 {
                    let id = transport.start(request)
                    if round % 3 == 0 {
                        transport.cancel([id])
                        dropped.record(id)
                    } else {
                        kept.record(id)
                    }
                    transport.transport.wake(.first)
                }
            }
        }
        for thread in threads { thread.join() }
        // then
        for id in kept.all { #expect(try transport.waitForEnd(of: id).bytes().count == 3000) }
        let ends = transport.events.filter(\.isEnd).map(\.id)
        #expect(Set(ends).count == ends.count)
        #expect(Set(ends).isSuperset(of: kept.all))
    }
}

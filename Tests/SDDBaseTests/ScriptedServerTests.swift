import Glibc
import SDDBase
import TestSupport
import Testing

/// Checks through a bare socket that the test server does what its README says.
@Suite struct ScriptedServerTests {
    private let server: ScriptedServer

    init() throws { server = try ScriptedServer() }

    @Test func sendsTheBytesItPromises() throws {
        // when
        let reply = try exchange(with: server, "/ok?size=70000&close")
        // then
        #expect(reply.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(reply.text.contains("Content-Length: 70000\r\n"))
        #expect(reply.bytes.suffix(70_000) == ScriptedServer.body(of: "/ok?size=70000&close", size: 70_000)[...])
    }

    @Test func sendsThePatternOfItsREADME() {
        // given
        let target = "/ok?size=1000"
        let seed = target.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        // when
        let body = ScriptedServer.body(of: target, size: 1000)
        // then
        let expected = (0..<1000).map { index -> UInt8 in
            let part = Int(seed >> UInt32(8 * (index & 3)))
            return UInt8(truncatingIfNeeded: part + index * 31 + (index >> 8) * 17)
        }
        #expect(body == expected)
    }

    @Test func failsAsOftenAsRequested() throws {
        // given
        let target = "/recover?fails=2&by=429&failing-header=Retry-After:%207&text=good&close"
        // when
        let replies = try (0..<3).map { _ in try exchange(with: server, target).text }
        // then
        #expect(
            replies.map { $0.split(separator: "\r\n").first } == [
                "HTTP/1.1 429 Too Many Requests", "HTTP/1.1 429 Too Many Requests", "HTTP/1.1 200 OK",
            ])
        #expect(replies.map { $0.contains("Retry-After: 7\r\n") } == [true, true, false])
        #expect(replies.last?.hasSuffix("good") == true)
        #expect(try exchange(with: server, "/recover?by=reset&close").bytes.isEmpty)
    }

    @Test func reusesAConnectionAndRecordsInOrder() throws {
        // given
        let first = "GET /ok?size=1 HTTP/1.1\r\nX-Test: a\r\n\r\n"
        let second = "POST /echo?close HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
        // when
        let reply = try exchange(with: server, raw: first + second)
        // then
        #expect(reply.text.hasSuffix("abc"))
        #expect(server.requests.map(\.target) == ["/ok?size=1", "/echo?close"])
        #expect(server.requests.map(\.connection) == [1, 1])
        #expect(server.requests[0].header("x-test") == "a")
        #expect(server.requests[1].body == Array("abc".utf8))
        #expect(server.count("/ok") == 1)
        #expect(server.count("/ok?size=1") == 1)
        #expect(server.connectionCount == 1)
    }

    @Test func holdsARequestUntilItIsReleased() throws {
        // given
        let replies = Recorder<String>()
        let client = try NativeThread(name: "client") {
            replies.record((try? exchange(with: server, "/hold/a?text=held&close"))?.text ?? "")
        }
        #expect(server.waitForRequests("/hold/a"))
        #expect(replies.all.isEmpty)
        // when
        server.release("a")
        client.join()
        // then
        #expect(replies.all.first?.hasSuffix("held") == true)
        #expect(server.peakConcurrent == 1)
    }

    @Test func remembersAReleaseBeforeTheRequest() throws {
        // when
        server.release("*")
        // then
        #expect(try exchange(with: server, "/hold/any?text=x&close").text.hasSuffix("x"))
        #expect(try exchange(with: server, "/steps/any?at=1&text=xy&close").text.hasSuffix("xy"))
    }

    @Test func noticesThatAHeldClientDisconnects() throws {
        // given
        let client = try connectToLoopback(port: server.port)
        let request = Array("GET /silence HTTP/1.1\r\n\r\n".utf8)
        #expect(send(client, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
        #expect(server.wait { $0.active == 1 })
        // when
        close(client)
        // then
        #expect(server.wait { $0.active == 0 && $0.open == 0 })
    }

    @Test(arguments: ["/silence", "/hold/x", "/endless", "/stall", "/header-flood", "/trickle?every=100000"])
    func stopsDuringAnyReply(target: String) throws {
        // given
        let client = try connectToLoopback(port: server.port)
        defer { close(client) }
        let request = Array("GET \(target) HTTP/1.1\r\n\r\n".utf8)
        #expect(send(client, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
        #expect(server.wait { $0.active == 1 })
        // when: it returns, although the client reads nothing
        server.stop()
        // then
        #expect(server.statistics.open == 0)
        #expect(throws: SystemError.self) { try connectToLoopback(port: server.port) }
    }

    @Test func refusesURLsThatItDoesNotUnderstand() throws {
        // when, then
        #expect(try exchange(with: server, "/ok?size=many&close").text.hasPrefix("HTTP/1.1 400 "))
        #expect(try exchange(with: server, "/unheard-of?close").text.hasPrefix("HTTP/1.1 404 "))
        #expect(try exchange(with: server, raw: "nonsense\r\n\r\n").bytes.isEmpty)
    }

    @Test func servesManyConnectionsAtOnce() throws {
        // given
        let replies = Recorder<Bool>()
        // when
        let clients = try (0..<200).map { number in
            try NativeThread(name: "client-\(number)") {
                let reply = try? exchange(with: server, "/hold/all?text=end\(number)&close")
                replies.record(reply?.text.hasSuffix("end\(number)") == true)
            }
        }
        #expect(server.wait { $0.active == 200 })
        server.release("all")
        for client in clients { client.join() }
        // then
        #expect(replies.all == Array(repeating: true, count: 200))
        #expect(server.peakConcurrent == 200)
        #expect(server.connectionCount == 200)
    }
}

private struct Reply {
    let bytes: [UInt8]
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

private func exchange(with server: ScriptedServer, _ target: String) throws -> Reply {
    try exchange(with: server, raw: "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// Sends the text and reads until the server closes.
private func exchange(with server: ScriptedServer, raw: String) throws -> Reply {
    let client = try connectToLoopback(port: server.port)
    defer { close(client) }
    let request = Array(raw.utf8)
    #expect(send(client, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = recv(client, &buffer, buffer.count, 0)
        guard count > 0 else { return Reply(bytes: received) }
        received += buffer[..<count]
    }
}

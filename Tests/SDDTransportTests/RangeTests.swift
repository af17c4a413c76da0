import SDDBase
import SDDTransport
import TestSupport
import Testing

/// RFC 9110 §15.3.7: responses to requests for a range, over a real connection.
@Suite struct RangeTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws { (server, transport) = (try ScriptedServer(), try TransportUnderTest()) }

    private func end(_ asked: String, _ fields: [String], body: String, method: String = "GET") throws -> TransferEnd {
        server.script("r", ScriptedReply(206, fields, body: Array(body.utf8)))
        let request = try HTTPRequest(
            to: server.url("/script/r"), method: method, headers: [("Range", "bytes=" + asked)])
        return try transport.run(request)
    }

    @Test(
        arguments: [
            ("0-9", "0-9/100", 10), ("0-9", "0-4/100", 5), ("0-9", "0-9/*", 10), ("90-", "90-99/100", 10),
            ("-5", "95-99/100", 5), ("-5", "0-3/4", 4), ("0-99", "0-3/4", 4), ("-5", "2-6/*", 5),
        ])
    func takesThePart(asked: String, range: String, count: Int) throws {
        let body = String(repeating: "x", count: count)
        let end = try end(asked, ["Content-Range: bytes " + range], body: body)
        #expect(try end.bytes() == Array(body.utf8) && end.status == 206)
        #expect(end.metrics.resumedBytes == 0)
    }

    @Test(
        arguments: [
            ["Content-Range: bytes 50-59/100"], ["Content-Range: bytes 1-10/100"], ["Content-Range: bytes 0-10/100"],
            [],
            ["Content-Range: bytes 0-9/100", "Content-Range: bytes 0-9/100"], ["Content-Range: bytes 0/100"],
            ["Content-Range: bytes 0-9/100", "Content-Type: multipart/byteranges; boundary=x"],
        ])
    func refusesAnotherPart(fields: [String]) throws {
        #expect(try end("0-9", fields, body: "0123456789").failure().kind == .notHTTP)
        #expect(try end("-10", ["Content-Range: bytes 80-89/100"], body: "0123456789").failure().kind == .notHTTP)
    }

    @Test func refusesABodyOfAnotherSize() throws {
        let fields = ["Content-Range: bytes 0-9/100"]
        #expect(try end("0-9", fields, body: "01234").failure().kind == .truncatedBody)
        #expect(try end("0-9", fields, body: "0123456789a").failure().kind == .notHTTP)
    }

    @Test func leavesSeveralRangesAlone() throws {
        let fields = ["Content-Type: multipart/byteranges; boundary=x"]
        #expect(try end("0-1,5-6", fields, body: "--x\r\n").status == 206)
        #expect(try end("0-1,5-6", ["Content-Range: bytes 0-6/10"], body: "0123456").status == 206)
    }
}

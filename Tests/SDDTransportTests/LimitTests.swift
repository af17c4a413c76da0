import SDDBase
import SDDTransport
import TestSupport
import Testing

/// The limits of bodies and headers.
@Suite struct LimitTests {
    private static let limit = 100_000

    private func transport() throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.maxBodyBytes = Int64(Self.limit)
        return try TransportUnderTest(configuration)
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
    func takesABodyOfExactlyTheLimit(target: String) throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport()
        // when
        let body = try transport.body(of: HTTPRequest(to: server.url(target)))
        // then
        #expect(body == ScriptedServer.body(of: target, size: Self.limit))
    }

    @Test(
        "Z10: refuses headers over the limit, all responses of a transfer together",
        arguments: [
            ("/header-flood?count=30&length=1000&size=9", 40_000, 1000, true),
            ("/header-flood?count=30&length=1000&size=9", 20_000, 1000, false),
            ("/header-flood?count=30&length=10&size=9", 20_000, 40, true),
            ("/header-flood?count=30&length=10&size=9", 20_000, 20, false),
            ("/interim?count=20&size=9", 20_000, 50, true), ("/interim?count=20&size=9", 20_000, 30, false),
            ("/redirect-chain/9?size=9", 20_000, 50, true), ("/redirect-chain/9?size=9", 20_000, 20, false),
            ("/redirect-chain/9?size=9", 700, 1000, false),
        ])
    func refusesHeadersOverTheLimit(target: String, bytes: Int64, lines: Int, isTaken: Bool) throws {
        // given
        let server = try ScriptedServer()
        var configuration = TransportConfiguration()
        configuration.maxHeaderBytes = bytes
        configuration.maxHeaderCount = lines
        let transport = try TransportUnderTest(configuration)
        // when
        let end = try transport.run(HTTPRequest(to: server.url(target)))
        // then
        if isTaken {
            #expect(try end.bytes().count == 9)
        } else {
            let failure = try end.failure()
            #expect(failure.kind == .headersTooLarge)
            expectOneSentence(failure.message)
        }
    }

    @Test func refusesAnAnnouncedLengthBeforeTheFirstByte() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport()
        // when: nothing follows the header
        let failure = try transport.failure(of: HTTPRequest(to: server.url("/announce?size=100001&after=0")))
        // then
        #expect(failure.kind == .bodyTooLarge)
    }
}

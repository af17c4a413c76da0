import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Successful transfers: bytes arrive as they were sent, and requests as they were given.
@Suite struct TransferTests {
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws { (server, transport) = (try ScriptedServer(), try TransportUnderTest()) }

    @Test(arguments: [
        "/ok?size=1", "/ok?size=1000003", "/ok?size=300000&framing=chunked", "/ok?size=300000&framing=close",
        "/gzip?size=300000", "/gzip?size=300000&framing=chunked",
        "/gzip?size=300000&framing=close", "/gzip?size=1", "/trickle?size=20&every=1",
        "/interim?count=3&size=100",
        "/header-flood?count=100&size=70000", "/ok?size=50&header=Content-Encoding:%20identity",
    ])
    func deliversTheBodyIntact(target: String) throws {
        // given
        let size = target.split(separator: "=").compactMap { Int($0.prefix { $0.isNumber }) }.max() ?? 0
        // when
        let end = try transport.run(HTTPRequest(to: server.url(target)))
        // then
        #expect(end.status == 200)
        let sent = ScriptedServer.body(of: target, size: target.contains("trickle") ? 20 : size)
        #expect(try end.bytes() == sent)
    }

    @Test func reportsResponseGrowingCountsAndEnd() throws {
        // when: each step is sent after the event of the one before
        let id = transport.start(try HTTPRequest(to: server.url("/steps/a?at=10,20&size=30")))
        #expect(transport.wait(for: id) { $0.received == 10 } != nil)
        server.release("a.1")
        #expect(transport.wait(for: id) { $0.received == 20 } != nil)
        server.release("a.2")
        _ = try transport.waitForEnd(of: id)
        // then
        let events = transport.events(of: id)
        #expect(events.first?.head?.summary == [200, 30])
        #expect(events.compactMap(\.received) == [10, 20, 30])
        #expect(events.filter { $0.head != nil }.count == 1)
        #expect(events.last?.isEnd == true)
    }

    @Test func reportsAtMostOneCountPerTurn() throws {
        // when
        let id = transport.start(try HTTPRequest(to: server.url("/ok?size=20000000")))
        _ = try transport.waitForEnd(of: id)
        // then
        #expect(transport.batches.allSatisfy { $0.compactMap(\.received).count <= 1 })
        #expect(transport.events.compactMap(\.received).last == 20_000_000)
    }

    @Test(arguments: [
        ("/ok?size=7", 7), ("/ok?size=7&framing=chunked", -1), ("/ok?size=7&framing=close", -1),
        ("/gzip?size=700", -1), ("/empty", 0), ("/status/204", 0), ("/status/304", 0), ("/redirect?to=/ok?size=9", 9),
        ("/empty?framing=chunked", -1),
    ])
    func reportsTheLengthOfTheDecodedBody(target: String, length: Int64) throws {
        // when
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        _ = try transport.waitForEnd(of: id)
        // then
        #expect(transport.events(of: id).compactMap(\.head).map(\.expectedBytes) == [length])
    }

    @Test(arguments: [200, 204, 304, 404, 410, 500, 503])
    func handsOutAnyStatus(status: Int32) throws {
        // when
        let id = transport.start(try HTTPRequest(to: server.url("/status/\(status)")))
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(end.status == status)
        #expect(transport.events(of: id).compactMap(\.head).map(\.response.status) == [status])
        #expect(try end.bytes().isEmpty == [204, 304].contains(status))
    }

    @Test func measuresOnlyStagesThatHappened() throws {
        // given
        let request = try HTTPRequest(to: server.url("/ok?delay=5"))
        // when
        let first = try transport.run(request).timings
        let second = try transport.run(request).timings
        // then
        #expect(first.connect > 0)
        #expect(first.tls == 0)
        #expect(first.firstByte > 0)
        #expect(first.total >= max(5000, first.firstByte))
        #expect(second.nameLookup == 0 && second.connect == 0)
        #expect(second.firstByte > 0)
        #expect(second.total >= max(5000, second.firstByte))
    }

    @Test func readsFilesWhereAllowed() throws {
        // given
        let folder = try TemporaryFolder()
        let content = [UInt8](repeating: 9, count: 300_000)
        let path = try folder.write("a b.bin", content)
        try folder.write("empty", "")
        var configuration = TransportConfiguration()
        configuration.allowsFiles = true
        let transport = try TransportUnderTest(configuration)
        let url = "file://" + path.replacing(" ", with: "%20")
        // when
        let id = transport.start(try HTTPRequest(to: url))
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(end.status == 0)
        #expect(try end.bytes() == content)
        #expect(transport.events(of: id).first?.head?.summary == [0, 300_000])
        #expect(try transport.body(of: HTTPRequest(to: "file://localhost" + folder.path("empty"))).isEmpty)
        // and the handle does not keep the permission
        let redirect = try HTTPRequest(to: server.url("/redirect?to=\(url)"))
        #expect(try transport.failure(of: redirect).kind == .redirectScheme)
    }

    @Test func reportsItsLibrary() {
        // when
        let version = CurlTransport.curlVersion()
        // then
        #expect(version.split(separator: ".").count >= 2)
        #expect(version.first?.isNumber == true)
    }
}

import SDDBase
import SDDTransport
import TestSupport
import Testing

/// The times of a request and its response, for the age of the response (RFC 9111 §4.2.3).
@Suite struct ArrivalTimeTests {
    private static let start: Int64 = 1_700_000_000_000_000

    private let server: ScriptedServer
    private let time = ManualTime(microseconds: 1_000_000, wallMicroseconds: start)
    private let transport: TransportUnderTest

    init() throws {
        server = try ScriptedServer()
        transport = try TransportUnderTest(time: time)
    }

    /// Returns request time and response time in seconds since the start.
    private func times(of id: TransferID) -> [Int64] {
        let heads = transport.events(of: id).compactMap(\.head)
        return heads.flatMap { [$0.requestTime - Self.start, $0.responseTime - Self.start] }
    }

    @Test func includesTheWaitForTheHeader() throws {
        // given
        let id = transport.start(try HTTPRequest(to: server.url("/hold/a?size=10")))
        #expect(server.waitForRequests("/hold/a"))
        // when
        time.advance(milliseconds: 700)
        server.release("a")
        // then
        _ = try transport.waitForEnd(of: id)
        #expect(times(of: id) == [0, 700_000])
    }

    @Test func excludesTheBody() throws {
        // given
        let id = transport.start(try HTTPRequest(to: server.url("/hold/b?size=100&after=10")))
        #expect(transport.wait(for: id) { $0.received == 10 } != nil)
        // when
        time.advance(milliseconds: 700)
        server.release("b")
        // then
        _ = try transport.waitForEnd(of: id)
        #expect(times(of: id) == [0, 0])
    }

    @Test func startsAnewWithARedirect() throws {
        // given
        let target = "/hold/first?status=302&header=Location:%20/hold/second"
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        #expect(server.waitForRequests("/hold/first"))
        time.advance(milliseconds: 300)
        server.release("first")
        #expect(server.waitForRequests("/hold/second"))
        // when
        time.advance(milliseconds: 500)
        server.release("second")
        // then
        _ = try transport.waitForEnd(of: id)
        #expect(times(of: id) == [300_000, 800_000])
    }

    @Test func followsAClockThatIsSetBack() throws {
        // given
        let id = transport.start(try HTTPRequest(to: server.url("/hold/c?size=10")))
        #expect(server.waitForRequests("/hold/c"))
        // when
        time.setWall(microseconds: Self.start - 5_000_000)
        server.release("c")
        // then
        _ = try transport.waitForEnd(of: id)
        #expect(times(of: id) == [0, -5_000_000])
    }
}

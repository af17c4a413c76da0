import SDDBase
import Synchronization
import TestSupport
import Testing

@testable import SDDTransport

/// HTTP/3 with nginx, where libcurl and nginx have it.
@Suite struct HTTP3Tests {
    private static let isThere = CurlFeatures.hasHTTP3 && NginxServer.hasHTTP3

    private func transport(_ change: (inout TransportConfiguration) -> Void = { _ in }) throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.httpVersion = .http3
        configuration.caFile = try Certificates.shared.authorityFile
        change(&configuration)
        return try TransportUnderTest(configuration)
    }

    private func url(_ special: NginxServer.Special) throws -> String {
        "https://localhost:\(try NginxServer.shared.port(special))/fixtures/\(Self.name)"
    }

    private static let name = "jpeg/baseline-420.jpg"

    /// Fetches the URL once after the other, and returns the versions of HTTP.
    private func versions(_ count: Int, of url: String, with transport: TransportUnderTest) throws -> [Int32] {
        try (0..<count).map { _ in
            let end = try transport.waitForEnd(of: transport.start(HTTPRequest(to: url)))
            #expect(try end.bytes() == Fixtures.array(Self.name))
            return try #require(end.response).httpVersion
        }
    }

    @Test func isRefusedWhereLibcurlHasNone() throws {
        if CurlFeatures.hasHTTP3 {
            _ = try transport()
        } else {
            #expect(throws: TransportError.self) { try transport() }
        }
    }

    @Test(.enabled(if: isThere)) func followsAnOffer() throws {
        #expect(try versions(4, of: url(.http3), with: transport()) == [20, 30, 30, 30])
    }

    @Test(.enabled(if: isThere)) func staysWithTCPWhereHTTP3DoesNotAnswer() throws {
        #expect(try versions(3, of: url(.noHTTP3), with: transport()) == [20, 20, 20])
    }

    @Test(.enabled(if: isThere)) func isNotUsedUnlessAskedFor() throws {
        let transport = try transport { $0.httpVersion = .standard }
        #expect(try versions(3, of: url(.http3), with: transport) == [20, 20, 20])
    }

    @Test(.enabled(if: isThere)) func checksItsAddressesToo() throws {
        // given: only the first connection is allowed, which is by TCP
        let asked = Atomic(0)
        let transport = try transport { configuration in
            configuration.ipVersion = .v4
            configuration.addressFilter = { _, _ in asked.add(1, ordering: .relaxed).oldValue == 0 }
        }
        #expect(try versions(1, of: url(.http3), with: transport) == [20])
        // when
        let end = try transport.run(HTTPRequest(to: url(.http3)))
        // then
        #expect(try end.failure().kind == .addressRefused)
    }
}

import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Z17: resuming with nginx, over HTTP/1.1 and HTTP/2.
@Suite struct ResumeAtNginxTests {
    private let server: NginxServer
    private let transport: TransportUnderTest

    init() throws {
        server = try NginxServer.shared
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        transport = try TransportUnderTest(configuration)
    }

    private func content(_ factor: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0 &* factor) }
    }

    /// Makes a request for the rest of that response's body.
    private func request(_ url: String, part: ArraySlice<UInt8>, of response: Response?) throws -> HTTPRequest {
        let validator = try #require(response?.resumeValidator)
        let bytes = try #require(Array(part).withUnsafeBytes { Bytes(copying: $0) })
        var request = try HTTPRequest(to: url)
        request.resume = ResumePoint(bytes: bytes, validator: validator)
        return request
    }

    @Test(arguments: [false, true])
    func joinsTheRest(isSecure: Bool) throws {
        // given
        let name = "resumed-\(isSecure).bin"
        let whole = content(7, 300_000)
        try server.add(name, whole)
        let url = isSecure ? server.secureURL("/" + name) : server.url("/" + name)
        let first = try transport.run(HTTPRequest(to: url))
        #expect(first.response?.httpVersion == (isSecure ? 20 : 11))
        // when
        let end = try transport.run(request(url, part: whole[..<123_456], of: first.response))
        // then
        #expect(try end.bytes() == whole)
        #expect(end.metrics.resumedBytes == 123_456)
        #expect(end.metrics.bodyBytes == 300_000 - 123_456)
        #expect(end.status == 200)
        #expect(end.response?.fields["ETag"] == first.response?.fields["ETag"])
        #expect(end.response?.fields["Content-Length"] == "300000")
    }

    @Test(arguments: [false, true])
    func takesTheWholeBodyIfItHasChanged(isSecure: Bool) throws {
        // given: nginx derives the entity tag from the size
        let name = "changed-\(isSecure).bin"
        try server.add(name, content(7, 300_000))
        let url = isSecure ? server.secureURL("/" + name) : server.url("/" + name)
        let first = try transport.run(HTTPRequest(to: url))
        let changed = content(3, 300_001)
        try server.add(name, changed)
        // when
        let end = try transport.run(request(url, part: content(7, 300_000)[..<123_456], of: first.response))
        // then
        #expect(try end.bytes() == changed)
        #expect(end.metrics.resumedBytes == 0)
    }

    @Test func startsOverIfThePartIsLongerThanTheBody() throws {
        // given
        let name = "shorter.bin"
        let whole = content(5, 1000)
        try server.add(name, whole)
        let url = server.url("/" + name)
        let first = try transport.run(HTTPRequest(to: url))
        // when: nginx answers 416
        let end = try transport.run(request(url, part: (whole + whole)[...], of: first.response))
        // then
        #expect(try end.bytes() == whole)
        #expect(end.status == 200)
    }
}

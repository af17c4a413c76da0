import Glibc
import TestSupport
import Testing

/// Checks through openssl that nginx and the certificates are what the tests of the transport rely on.
@Suite struct NginxServerTests {
    @Test func speaksHTTP2AndEachCertificateHasItsFlaw() throws {
        // given
        let server = try NginxServer.shared
        let expected: [CertificateKind: String] = [
            .valid: "Verify return code: 0 (ok)", .expired: "certificate has expired",
            .notYetValid: "certificate is not yet valid", .wrongHost: "ostname mismatch", .selfSigned: "self-signed",
        ]
        for (kind, text) in expected {
            // when
            let result = try run(
                [
                    "openssl", "s_client", "-connect", "127.0.0.1:\(server.tlsPort(kind))", "-alpn", "h2",
                    "-CAfile", Certificates.shared.authorityFile, "-verify_hostname", "localhost",
                ], mergesErrors: true)
            // then
            #expect(result.text.contains(text), "\(kind): \(result.text)")
            #expect(result.text.contains("ALPN protocol: h2"))
        }
    }

    @Test func endsTheProgramItStarted() throws {
        // given
        let server = try NginxServer()
        try connectAndClose(server.plainPort)
        // when
        server.stop()
        // then
        #expect(throws: (any Error).self) { try connectAndClose(server.plainPort) }
    }
}

private func connectAndClose(_ port: UInt16) throws {
    close(try connectToLoopback(port: port))
}

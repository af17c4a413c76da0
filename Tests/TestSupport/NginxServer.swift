import Glibc
import SDDBase

/// An nginx on ports of 127.0.0.1, for HTTP/2 and TLS, which the scripted server does not speak. Callable from any
/// thread.
///
/// Every port serves the same:
/// - `/NAME` a file of `root`; `/fixtures/NAME` one of Tests/Fixtures; text/plain packed with gzip when asked for
/// - `/gzip/NAME` the same file, packed whatever its type
/// - `/redirect/NAME` 302 to `/NAME`; `/to-http/NAME` and `/to-https/NAME` 302 to the other scheme
/// - `/status/404` (403, 410, 429, 500, 502, 503)
///
/// There are ports for plain HTTP/1.1 (and a Unix socket), for each kind of certificate, and for each case of
/// `Special`.
///
/// Each reply says in X-Protocol which HTTP it was ("HTTP/2.0"), and in X-Connection which connection.
package final class NginxServer: Sendable {
    private static let started = Result { () throws(TestSupportFailure) in
        let server = try NginxServer()
        // The shell that guards the process ends nginx in any case; here it ends before its folder is removed.
        atexit { NginxServer.stopShared() }
        return server
    }

    /// The server that all tests of the process share.
    package static var shared: NginxServer {
        get throws(TestSupportFailure) { try started.get() }
    }

    private static func stopShared() { try? started.get().stop() }

    /// Servers with a particular configuration.
    package enum Special: CaseIterable, Sendable {
        /// HTTPS for clients with a certificate of the test CA, whose subject is sent in X-Client. Others get status
        /// 400.
        case clientCertificate
        /// HTTPS with TLS 1.2 at most.
        case oldTLS
        /// HTTP/2 without TLS.
        case cleartextHTTP2
        /// HTTPS that offers HTTP/3 by Alt-Svc, and has it if nginx has (`hasHTTP3`).
        case http3
        /// HTTPS that offers HTTP/3, and has none.
        case noHTTP3
    }

    /// The port for plain HTTP/1.1.
    package let plainPort: UInt16
    private let tlsPorts: [CertificateKind: UInt16]
    private let specialPorts: [Special: UInt16]
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Returns the port for HTTPS with HTTP/2 with the given certificate.
    package func tlsPort(_ kind: CertificateKind = .valid) -> UInt16 { tlsPorts[kind] ?? 0 }

    package func port(_ special: Special) -> UInt16 { specialPorts[special] ?? 0 }

    /// The Unix socket on which the plain server listens, too.
    package var unixSocketPath: String { folder.path("socket") }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(plainPort)\(path)" }

    package func secureURL(_ path: String, _ kind: CertificateKind = .valid) -> String {
        "https://localhost:\(tlsPort(kind))\(path)"
    }

    /// Creates a file that is served as `/NAME`.
    package func add(_ name: String, _ content: some Sequence<UInt8>) throws(TestSupportFailure) {
        try folder.write("root/\(name)", content)
    }

    package init() throws(TestSupportFailure) {
        let certificates = try Certificates.shared
        folder = try TemporaryFolder()
        guard mkdir(folder.path("root"), 0o700) == 0 else { throw TestSupportFailure("mkdir: error \(errno)") }
        symlink(Fixtures.directory, folder.path("root/fixtures"))
        let kinds = CertificateKind.allCases
        for _ in 0..<10 {
            let ports = try freePorts(1 + kinds.count + Special.allCases.count)
            let tlsPorts = Dictionary(uniqueKeysWithValues: zip(kinds, ports.dropFirst()))
            let specialPorts = Dictionary(
                uniqueKeysWithValues: zip(Special.allCases, ports.dropFirst(1 + kinds.count)))
            let configuration = NginxConfiguration(
                folder: folder.path, certificates: certificates, plainPort: ports[0], tlsPorts: tlsPorts,
                specialPorts: specialPorts)
            // Remove the socket of a previous attempt.
            unlink(folder.path("socket"))
            let file = try folder.write("nginx.conf", configuration.text)
            let process = try ChildProcess([Self.program, "-c", file, "-p", folder.path, "-e", "stderr"])
            if Self.accepts(process, ports: ports), Self.answers(process, at: folder.path("socket")) {
                self.process = process
                self.tlsPorts = tlsPorts
                self.specialPorts = specialPorts
                plainPort = ports[0]
                return
            }
            // Usually another process took one of the ports in between, so try again.
        }
        throw TestSupportFailure("nginx does not start; is it installed?")
    }

    package func stop() { process.stop() }

    /// Whether nginx was built with HTTP/3, as since Debian 13.
    package static let hasHTTP3 =
        (try? run([program, "-V"], mergesErrors: true))?.text.contains("with-http_v3_module") ?? false

    /// The path of nginx, which Debian installs where only root's PATH leads.
    private static var program: String { access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "nginx" }

    /// Waits until every port accepts connections. Returns false if nginx exited.
    private static func accepts(_ process: ChildProcess, ports: [UInt16]) -> Bool {
        let end = SystemTime().monotonicMicroseconds() + 30_000_000
        for port in ports {
            while !canConnect(port) {
                // The pipe reaches its end when nginx exits; anything it writes before is a warning, and more may
                // follow.
                let hasEnded = process.waitForOutput(milliseconds: 20) && process.readOutput().isEmpty
                if hasEnded || SystemTime().monotonicMicroseconds() > end { return false }
            }
        }
        // Without this check, another server that took one of the ports would be mistaken for nginx.
        return !(process.waitForOutput(milliseconds: 0) && process.readOutput().isEmpty)
    }

    /// Returns whether nginx answers. While it retries a port that is taken, it listens at the others already, but
    /// answers on none of them.
    private static func answers(_ process: ChildProcess, at socketPath: String) -> Bool {
        guard let descriptor = try? connectToUnixSocket(socketPath) else { return false }
        defer { close(descriptor) }
        let request = Array("GET / HTTP/1.0\r\n\r\n".utf8)
        guard write(descriptor, request, request.count) == request.count else { return false }
        let end = SystemTime().monotonicMicroseconds() + 30_000_000
        while SystemTime().monotonicMicroseconds() < end {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, 20) > 0 {
                var byte: UInt8 = 0
                return read(descriptor, &byte, 1) == 1
            }
            if process.waitForOutput(milliseconds: 0) && process.readOutput().isEmpty { return false }
        }
        return false
    }
}

private func canConnect(_ port: UInt16) -> Bool {
    guard let descriptor = try? connectToLoopback(port: port) else { return false }
    close(descriptor)
    return true
}

/// Returns ports that were free a moment ago, all bound at once so that they differ.
private func freePorts(_ count: Int) throws(TestSupportFailure) -> [UInt16] {
    var ports: [UInt16] = []
    var held: [Int32] = []
    defer { for descriptor in held { close(descriptor) } }
    for _ in 0..<count {
        guard let bound = try? bindLoopback(port: 0) else { throw TestSupportFailure("no free port") }
        held.append(bound.descriptor)
        ports.append(bound.port)
    }
    return ports
}

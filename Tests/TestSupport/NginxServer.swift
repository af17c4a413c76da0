import Glibc
import SDDBase

/// nginx on ports of 127.0.0.1: what the scripted server cannot do, HTTP/2 and TLS. Any thread.
///
/// Every port serves the same:
/// - `/NAME` a file of `root`; `/fixtures/NAME` one of Tests/Fixtures; text/plain packed with gzip when asked for
/// - `/gzip/NAME` the same file, packed whatever its type
/// - `/redirect/NAME` 302 to `/NAME`; `/to-http/NAME` and `/to-https/NAME` 302 to the other scheme
/// - `/status/404` (403, 410, 429, 500, 502, 503)
///
/// There are ports for plain HTTP/1.1 (and a Unix socket), for each kind of certificate, and for what is `Special`.
///
/// Each reply says in X-Protocol which HTTP it was ("HTTP/2.0"), and in X-Connection which connection.
package final class NginxServer: Sendable {
    private static let started = Result { () throws(TestSupportFailure) in
        let server = try NginxServer()
        // The guardian of the process ends nginx in any case; here it ends before its folder is removed.
        atexit { NginxServer.stopShared() }
        return server
    }

    /// One for the whole process.
    package static var shared: NginxServer {
        get throws(TestSupportFailure) { try started.get() }
    }

    private static func stopShared() { try? started.get().stop() }

    /// Servers that want something of their own.
    package enum Special: CaseIterable, Sendable {
        /// HTTPS for clients with a certificate of the test CA; says in X-Client whose. Others get status 400.
        case clientCertificate
        /// HTTPS with TLS 1.2 and nothing later.
        case oldTLS
        /// HTTP/2 without TLS.
        case cleartextHTTP2
    }

    /// Of plain HTTP/1.1.
    package let plainPort: UInt16
    private let tlsPorts: [CertificateKind: UInt16]
    private let specialPorts: [Special: UInt16]
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// HTTPS with HTTP/2, with a certificate of that kind.
    package func tlsPort(_ kind: CertificateKind = .valid) -> UInt16 { tlsPorts[kind] ?? 0 }

    package func port(_ special: Special) -> UInt16 { specialPorts[special] ?? 0 }

    /// Where the plain server listens, too.
    package var unixSocketPath: String { folder.path("socket") }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(plainPort)\(path)" }

    package func secureURL(_ path: String, _ kind: CertificateKind = .valid) -> String {
        "https://localhost:\(tlsPort(kind))\(path)"
    }

    /// Makes a file that is served as `/NAME`.
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
            // Of an attempt before.
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
            // Another process took one of the ports in between, as a rule: once more.
        }
        throw TestSupportFailure("nginx does not start; is it installed?")
    }

    package func stop() { process.stop() }

    /// Debian puts it where only root's PATH leads.
    private static var program: String { access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "nginx" }

    /// Waits until every port takes connections; false when nginx ended.
    private static func accepts(_ process: ChildProcess, ports: [UInt16]) -> Bool {
        let end = SystemTime().monotonicMicroseconds() + 30_000_000
        for port in ports {
            while !canConnect(port) {
                // Its output ends with it; what it writes before is a complaint, and more may follow.
                let hasEnded = process.waitForOutput(milliseconds: 20) && process.readOutput().isEmpty
                if hasEnded || SystemTime().monotonicMicroseconds() > end { return false }
            }
        }
        // Without this a foreign server that took a port would pass for nginx.
        return !(process.waitForOutput(milliseconds: 0) && process.readOutput().isEmpty)
    }

    /// nginx listens at some ports while it tries for seconds to have another, and answers nowhere before it has all.
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

/// Ports that were free a moment ago: all bound at once, so that they differ.
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

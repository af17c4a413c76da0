import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDTransport

/// Proxies, addresses, HTTP and TLS versions, and connections.
@Suite(.serialized) struct WayTests {
    private func transport(_ change: (inout TransportConfiguration) throws -> Void) throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.caFile = try Certificates.shared.authorityFile
        try change(&configuration)
        return try TransportUnderTest(configuration)
    }

    // MARK: Proxies

    @Test func usesTheProxy() throws {
        // given
        let proxy = try ScriptedServer()
        let transport = try transport {
            $0.proxy = .url("http://user:secret@127.0.0.1:\(proxy.port)", except: "localhost,.intern.test")
        }
        // when
        let end = try transport.run(HTTPRequest(to: "http://somewhere.test/ok?size=9"))
        // then
        #expect(try end.bytes().count == 9)
        #expect(proxy.requests.map(\.target) == ["http://somewhere.test/ok?size=9"])
        #expect(proxy.requests[0].header("Proxy-Authorization") == "Basic dXNlcjpzZWNyZXQ=")
        #expect(proxy.requests[0].header("Authorization") == nil)
        // and other hosts bypass it
        #expect(try transport.failure(of: HTTPRequest(to: "http://x.intern.test/")).kind == .resolve)
        #expect(proxy.requests.count == 1)
    }

    @Test func reportsThatTheProxyRefused() throws {
        // given: a proxy that does not support CONNECT
        let proxy = try ScriptedServer()
        let transport = try transport { $0.proxy = .url("127.0.0.1:\(proxy.port)", except: nil) }
        // when
        let failure = try transport.failure(of: HTTPRequest(to: "https://somewhere.test/"))
        // then
        #expect(failure.kind == .proxy)
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        expectOneSentence(failure.message)
    }

    @Test func reportsThatTheProxyIsUnreachable() throws {
        let none = try transport { $0.proxy = .url("http://127.0.0.1:1", except: nil) }
        let unknown = try transport { $0.proxy = .url("socks5h://no-such-proxy.invalid", except: nil) }
        #expect(try none.failure(of: HTTPRequest(to: "http://somewhere.test/")).kind == .connect)
        #expect(try unknown.failure(of: HTTPRequest(to: "http://somewhere.test/")).kind == .resolve)
    }

    /// The rules are those of libcurl's page on CURLOPT_PROXY. That they are used is tested by Tests/C/test_proxies.c,
    /// since a program with threads must not change its environment.
    @Test(
        arguments: [
            ([:], "", "", ""), (["http_proxy": "a"], "a", "", ""), (["HTTP_PROXY": "a"], "", "", ""),
            (["https_proxy": "a", "HTTPS_PROXY": "b"], "", "a", ""), (["HTTPS_PROXY": "b"], "", "b", ""),
            (["all_proxy": "a", "ALL_PROXY": "b"], "a", "a", ""),
            (["ALL_PROXY": "b", "http_proxy": "c"], "c", "b", ""),
            (["http_proxy": "", "all_proxy": "", "ALL_PROXY": "b"], "b", "b", ""),
            (["no_proxy": "a", "NO_PROXY": "b"], "", "", "a"), (["NO_PROXY": "b"], "", "", "b"),
        ] as [([String: String], String, String, String)])
    func readsTheEnvironment(variables: [String: String], http: String, https: String, exceptions: String) {
        let proxies = EnvironmentProxies { variables[$0] }
        #expect(proxies[.http] == http && proxies[.https] == https && proxies.exceptions == exceptions)
    }

    // MARK: Addresses

    @Test func usesTheGivenAddresses() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport {
            $0.resolve = ["a.test:\(server.port):127.0.0.1", "+b.test:\(server.port):127.0.0.2,127.0.0.1"]
        }
        // then: also on a handle that was reset in between
        for host in ["a.test", "b.test", "a.test"] {
            let url = "http://\(host):\(server.port)/ok"
            #expect(try transport.run(HTTPRequest(to: url, method: "POST", body: "x")).status == 200)
            #expect(try transport.run(HTTPRequest(to: url)).status == 200)
        }
        #expect(server.requests[0].header("Host") == "a.test:\(server.port)")
    }

    @Test func usesOnlyTheGivenIPVersion() throws {
        // given
        let server = try ScriptedServer()
        let entry = "a.test:\(server.port):127.0.0.1"
        let v4 = try transport {
            $0.ipVersion = .v4
            $0.resolve = [entry]
        }
        let v6 = try transport { $0.ipVersion = .v6 }
        // then
        #expect(try v4.run(HTTPRequest(to: "http://a.test:\(server.port)/ok")).status == 200)
        #expect(try v6.failure(of: HTTPRequest(to: server.url("/ok"))).kind == .connect)
        #expect(server.connectionCount == 1)
    }

    @Test func connectsFromTheGivenInterface() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport { $0.networkInterface = "host!127.0.0.3" }
        let missing = try self.transport { $0.networkInterface = "no-such-if0" }
        // when
        #expect(try transport.run(HTTPRequest(to: server.url("/ok"))).status == 200)
        // then
        let socket = try #require(socketOfThisProcess(to: server.port))
        #expect(localAddress(of: socket) == 0x7f00_0003)
        #expect(try missing.failure(of: HTTPRequest(to: server.url("/ok"))).kind == .connect)
    }

    @Test func connectsToAUnixSocket() throws {
        // given
        let server = try NginxServer.shared
        try server.add("unix.bin", [4, 5])
        let transport = try transport { $0.unixSocketPath = server.unixSocketPath }
        let guarded = try self.transport {
            $0.unixSocketPath = server.unixSocketPath
            $0.addressPolicy = .publicOnly
        }
        let missing = try self.transport { $0.unixSocketPath = "/no/such/socket" }
        let request = try HTTPRequest(to: "http://anywhere.test/unix.bin")
        // then
        #expect(try transport.body(of: request) == [4, 5])
        #expect(try guarded.failure(of: request).kind == .addressRefused)
        let failure = try missing.failure(of: request)
        #expect(failure.kind == .connect)
        #expect(failure.message.contains("the Unix socket /no/such/socket, on the way to anywhere.test"))
    }

    // MARK: Versions

    @Test(
        arguments: [
            (TransportConfiguration.HTTPVersion.standard, 20, 11), (.http1_0, 10, 10), (.http1_1, 11, 11),
            (.http2, 20, 20), (.http2PriorKnowledge, 20, 20),
        ] as [(TransportConfiguration.HTTPVersion, Int32, Int32)])
    func usesTheRequestedHTTPVersion(version: TransportConfiguration.HTTPVersion, secure: Int32, plain: Int32) throws {
        // given
        let server = try NginxServer.shared
        try server.add("version.bin", [1])
        let transport = try transport { $0.httpVersion = version }
        // when: nginx speaks HTTP/2 without TLS only with prior knowledge
        let port = version == .http2PriorKnowledge ? server.port(.cleartextHTTP2) : server.plainPort
        let overTLS = try transport.run(HTTPRequest(to: server.secureURL("/version.bin")))
        let without = try transport.run(HTTPRequest(to: "http://127.0.0.1:\(port)/version.bin"))
        // then: nginx does not support Upgrade, and answers 1.0 with 1.1
        let answered = [overTLS, without].map { $0.response?.fields["X-Protocol"] }
        let names: [Int32: String] = [10: "HTTP/1.0", 11: "HTTP/1.1", 20: "HTTP/2.0"]
        #expect(answered == [names[secure], version == .http2 ? "HTTP/1.1" : names[plain]])
        #expect(overTLS.response?.httpVersion == (secure == 10 ? 11 : secure))
    }

    @Test func respectsTheLowestTLSVersion() throws {
        // given
        let server = try NginxServer.shared
        try server.add("tls.bin", [1])
        let request = try HTTPRequest(to: "https://localhost:\(server.port(.oldTLS))/tls.bin")
        // then
        #expect(try transport { _ in }.body(of: request) == [1])
        #expect(try transport { $0.minTLSVersion = .tls1_0 }.body(of: request) == [1])
        #expect(try transport { $0.minTLSVersion = .tls1_3 }.failure(of: request).kind == .tlsHandshake)
    }

    // MARK: Connections

    @Test(arguments: [60, 7, -1] as [Int32]) func keepsConnectionsAlive(seconds: Int32) throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport { $0.keepAliveSeconds = seconds }
        // when
        #expect(try transport.run(HTTPRequest(to: server.url("/ok"))).status == 200)
        // then
        let socket = try #require(socketOfThisProcess(to: server.port))
        #expect(option(SO_KEEPALIVE, at: SOL_SOCKET, of: socket) == (seconds > 0 ? 1 : 0))
        if seconds > 0 {
            #expect(option(TCP_KEEPIDLE, at: Int32(IPPROTO_TCP), of: socket) == seconds)
            #expect(option(TCP_KEEPINTVL, at: Int32(IPPROTO_TCP), of: socket) == seconds)
        }
    }

    @Test(arguments: [(2, 0), (0, 2)] as [(Int32, Int32)])
    func respectsTheConnectionLimits(inAll: Int32, perHost: Int32) throws {
        // given
        let server = try ScriptedServer()
        let time = ManualTime()
        var configuration = TransportConfiguration()
        configuration.maxConnections = inAll
        configuration.maxConnectionsPerHost = perHost
        let transport = try TransportUnderTest(configuration, time: time)
        let requests = try (0..<6).map { try HTTPRequest(to: server.url("/hold/\($0)")) }
        // when
        let ids = transport.start(requests)
        #expect(server.wait { $0.active == 2 })
        #expect(transport.waitForATurn())
        #expect(server.connectionCount == 2)
        // then: transfers that wait for a connection do not time out, and those that have one do
        time.advance(milliseconds: 20_000)
        #expect(transport.waitForATurn())
        server.release("*")
        let ends = try ids.map { try transport.waitForEnd(of: $0) }
        #expect(ends.compactMap { try? $0.failure().kind } == [.stall, .stall])
        #expect(ends.filter { (try? $0.bytes().count) == 64 }.count == 4)
    }

    @Test func limitsIdleConnections() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport { $0.maxIdleConnections = 2 }
        // when: eight at once
        let ids = transport.start(try (0..<8).map { try HTTPRequest(to: server.url("/hold/\($0)")) })
        #expect(server.wait { $0.active == 8 })
        server.release("*")
        for id in ids { _ = try transport.waitForEnd(of: id) }
        // then
        #expect(server.wait { $0.open <= 2 })
    }

    // MARK: Invalid configurations

    @Test(arguments: [
        "ftp://127.0.0.1", "http://", "unheard-of://x", "http://[::1", "http://a b", "",
    ])
    func refusesAnInvalidProxy(url: String) { expectBadStart { $0.proxy = .url(url, except: nil) } }

    @Test(arguments: [
        "", "a.test", "a.test:80", "a.test:80:", "a.test:x:127.0.0.1", "a.test:0:127.0.0.1", "a.test:70000:127.0.0.1",
        "a.test:80:b.test", "a.test:80:127.0.0.1,", ":80:127.0.0.1", "a.test:80:[::1", "a.test:80:127.0.0.1;::1",
    ])
    func refusesAnInvalidAddress(entry: String) { expectBadStart { $0.resolve = [entry] } }

    @Test func refusesAnInvalidPath() {
        expectBadStart { $0.unixSocketPath = "/" + String(repeating: "x", count: 200) }
    }

    @Test func reportsFeaturesThatLibcurlLacks() throws {
        // given: Debian's libcurl is built without c-ares
        var configuration = TransportConfiguration()
        configuration.dnsServers = "192.0.2.53"
        // then
        let error = #expect(throws: TransportError.self) { try TransportUnderTest(configuration) }
        #expect(error?.kind == .unsupported)
        expectOneSentence(error?.message ?? "")
    }

    private func expectBadStart(_ change: (inout TransportConfiguration) -> Void) {
        var configuration = TransportConfiguration()
        change(&configuration)
        let error = #expect(throws: TransportError.self) { try TransportUnderTest(configuration) }
        #expect(error?.kind == .badConfiguration)
        expectOneSentence(error?.message ?? "")
    }
}

// MARK: - Sockets of the transport, which runs in this process

private typealias Ask = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

private func address(of socket: Int32, _ ask: Ask) -> sockaddr_in? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(socket, $0, &size) }
    }
    return code == 0 && Int32(address.sin_family) == AF_INET ? address : nil
}

private func socketOfThisProcess(to port: UInt16) -> Int32? {
    (3..<1024).first { address(of: $0, getpeername)?.sin_port == port.bigEndian }
}

private func localAddress(of socket: Int32) -> UInt32? {
    address(of: socket, getsockname).map { UInt32(bigEndian: $0.sin_addr.s_addr) }
}

private func option(_ name: Int32, at level: Int32, of socket: Int32) -> Int32 {
    var value: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket, level, name, &value, &size)
    return value
}

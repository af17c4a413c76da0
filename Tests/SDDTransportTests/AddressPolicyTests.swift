import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Z18: the addresses that connections may go to, checked when they are opened.
@Suite struct AddressPolicyTests {
    private func transport(_ change: (inout TransportConfiguration) -> Void) throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        change(&configuration)
        return try TransportUnderTest(configuration)
    }

    @Test(
        "Z18: refuses addresses that are not public",
        arguments: [
            "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "0.0.0.0",
            "2130706433",
            "0x7f.1", "[64:ff9b::7f00:1]",
        ])
    func z18_publicOnly(host: String) throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport { $0.addressPolicy = .publicOnly }
        // when
        let end = try transport.run(HTTPRequest(to: "http://\(host):\(server.port)/ok"))
        // then
        let failure = try end.failure()
        #expect(failure.kind == .addressRefused, "\(failure)")
        #expect(end.metrics.connectionsOpened == 0)
        #expect(server.connectionCount == 0)
        expectOneSentence(failure.message)
    }

    @Test("Z18: checks the address, whatever the name") func z18_rebinding() throws {
        // given: a name that resolves to this machine
        let server = try ScriptedServer()
        let transport = try transport {
            $0.addressPolicy = .publicOnly
            $0.resolve = ["public.test:\(server.port):127.0.0.1,::1"]
        }
        // then
        let failure = try transport.failure(of: HTTPRequest(to: "http://public.test:\(server.port)/ok"))
        #expect(failure.kind == .addressRefused)
        #expect(server.connectionCount == 0)
    }

    @Test("Z18: checks every hop of a redirect") func z18_redirect() throws {
        // given
        let (first, second) = (try ScriptedServer(), try ScriptedServer())
        let asked = Recorder<String>()
        let allowed = first.port
        let transport = try transport {
            $0.addressFilter = { address, port in
                asked.record("\(address):\(port)")
                return port == Int32(allowed)
            }
        }
        // when
        let end = try transport.run(HTTPRequest(to: first.url("/redirect?to=\(second.url("/ok"))")))
        // then
        #expect(try end.failure().kind == .addressRefused)
        #expect(end.status == 302)
        #expect(second.connectionCount == 0)
        #expect(asked.all == ["127.0.0.1:\(first.port)", "127.0.0.1:\(second.port)"])
    }

    @Test("Z18: continues with an address that is allowed") func z18_anotherAddress() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport {
            $0.resolve = ["a.test:\(server.port):127.0.0.9,127.0.0.1"]
            $0.addressFilter = { address, _ in address != "127.0.0.9" }
        }
        // then
        let end = try transport.run(HTTPRequest(to: "http://a.test:\(server.port)/ok"))
        #expect(try end.bytes().count == 64)
        #expect(end.metrics.remoteAddress == "127.0.0.1")
    }

    @Test("Z18: asks the filter only about addresses that the policy allows") func z18_policyFirst() throws {
        // given
        let asked = Recorder<String>()
        let transport = try transport {
            $0.addressPolicy = .publicOnly
            $0.addressFilter = { address, _ in
                asked.record(address)
                return true
            }
        }
        // then
        #expect(try transport.failure(of: HTTPRequest(to: "http://127.0.0.1:1/")).kind == .addressRefused)
        #expect(asked.all.isEmpty)
    }
}

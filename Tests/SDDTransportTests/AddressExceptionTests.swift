import Testing

@testable import SDDTransport

@Suite struct AddressExceptionTests {
    @Test(
        "addresses that an exception allows",
        arguments: [
            ("10.1.0.0/16", "10.1.255.9", 80, "x", true), ("10.1.0.0/16", "10.2.0.0", 80, "x", false),
            ("10.1.0.0/16", "::ffff:10.1.2.3", 80, "x", true), ("0.0.0.0/0", "192.168.3.4", 1, "x", true),
            ("0.0.0.0/0", "fd00::1", 1, "x", false), ("10.1.2.3/32", "10.1.2.3", 1, "x", true),
            ("10.1.2.3/32", "10.1.2.2", 1, "x", false), ("128.0.0.0/1", "192.168.0.1", 1, "x", true),
            ("fd00::/8", "fd12:3456::1", 443, "x", true), ("fd00::/8", "fe80::1", 443, "x", false),
            ("fd00:0:0:1::/64", "fd00:0:0:1:ffff::", 1, "x", true), ("fd00:0:0:1::/64", "fd00::", 1, "x", false),
            ("fd00::8000:0:0:0/65", "fd00::8000:0:0:1", 1, "x", true),
            ("fd00::8000:0:0:0/65", "fd00::1", 1, "x", false), ("::/0", "::1", 1, "x", true),
            ("::/0", "::ffff:10.0.0.1", 1, "x", false), ("::1", "::1", 1, "x", true), ("::1", "::2", 1, "x", false),
            ("127.0.0.1", "127.0.0.1", 9, "x", true), ("127.0.0.1:9", "127.0.0.1", 9, "x", true),
            ("127.0.0.1:9", "127.0.0.1", 10, "x", false), ("[::1]:9", "::1", 9, "x", true),
            ("[::1]:9", "::1", 10, "x", false), ("[::1]", "::1", 10, "x", true),
            ("intranet", "10.0.0.1", 80, "intranet", true), ("Intranet.", "10.0.0.1", 80, "intranet", true),
            ("intranet", "10.0.0.1", 80, "a.intranet", false), ("intranet:81", "10.0.0.1", 80, "intranet", false),
            ("intranet:80", "10.0.0.1", 80, "intranet", true), ("a_b-c.d", "10.0.0.1", 80, "a_b-c.d", true),
        ])
    func allows(text: String, address: String, port: Int32, host: String, expected: Bool) throws {
        let exception = try #require(AddressException(text))
        let address = try #require(IPAddress(address))
        #expect(exception.allows(address, port: port, host: host) == expected)
    }

    @Test(
        "malformed exceptions",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8",
            "fd00::1/8", "fd00::/129", "[fd00::]/8", "10.0.0.0/8:80", "host/8", "host:", "host:0", "host:65536",
            "host:x",
            "ho st", "*.test", "http://host", "user@host", ":80", "10.0.0", "1", "10.0.0.256", "[::1", "::1]", "[::1]x",
            "[]", "::g", ".host", "host:80:80", "ä",
        ])
    func refusesMalformedExceptions(text: String) {
        #expect(AddressException(text) == nil)
    }

    @Test("host names are compared without case and final dot")
    func plainHosts() {
        #expect(AddressException.plain("A.B.") == "a.b" && AddressException.plain("[::1]") == "[::1]")
    }
}

import SDDBase
import Testing

@testable import SDDTransport

/// Challenges, digests and protection spaces, without a network.
@Suite struct AuthorizationTests {
    private func challenges(_ values: String...) throws -> [AuthChallenge] {
        AuthChallenge.all(in: try #require(ResponseFields(values.map { ("WWW-Authenticate", $0) })))
    }

    // MARK: - Challenges

    @Test func readsChallengesInOneFieldAndInSeveral() throws {
        // given: RFC 9110 §11.6.1, and a token68
        let found = try challenges(
            "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
            "Negotiate abc==, Bearer")
        // then
        #expect(found.map(\.scheme).prefix(2) == ["basic", "newauth"])
        #expect(found[0].parameters == ["realm": "simple"])
        #expect(found[1].parameters == ["realm": "apps", "type": "1", "title": "Login to \"apps\""])
        #expect(found.last?.scheme == "bearer")
    }

    @Test(
        "takes any bytes",
        arguments: [
            "", "=", ",", "\"", "a=\"", "Digest", "Digest =", "Digest realm", "Digest realm=\"x", "Digest realm=\"x\\",
            "Digest realm = \"x\" nonce=y", "\u{1}\u{ff}=,", "a b c d=e f=\"g\"h",
        ])
    func takesAnyBytes(value: String) throws { _ = try challenges(value).map { DigestChallenge($0) } }

    // MARK: - Digests

    private func digest(_ parameters: String) throws -> DigestChallenge? {
        DigestChallenge(try #require(try challenges("Digest " + parameters).first))
    }

    private static let realm = "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
    private static let nonce = "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
    private static let opaque = "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""

    @Test(
        "RFC 7616 3.9.1",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func answersTheExample(algorithm: String, response: String) throws {
        // when
        let challenge = try #require(try digest(Self.realm + Self.nonce + "algorithm=\(algorithm), " + Self.opaque))
        let field = challenge.answer(
            "Mufasa", "Circle of Life", method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        // then
        #expect(field.contains("response=\"\(response)\""))
        #expect(field.contains("nc=00000001, qop=auth") && field.contains("algorithm=\(algorithm)"))
        #expect(field.hasPrefix("Digest username=\"Mufasa\", realm=\"http-auth@example.org\", nonce=\"7ypf"))
        #expect(field.contains("uri=\"/dir/index.html\"") && field.contains(Self.opaque))
    }

    @Test("RFC 2617 3.5, without a quality as in RFC 2069") func answersWithoutAQuality() throws {
        let challenge = try #require(
            try digest("realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""))
        let field = challenge.answer(
            "Mufasa", "CircleOfLife", method: "GET", target: "/dir/index.html", count: 1, clientNonce: "x")
        #expect(field.contains("response=\"1949323746fe6a43ef61f9606e7febea\""), "\(field)")
        #expect(!field.contains("nc=") && !field.contains("qop"))
    }

    @Test(
        "leaves what it does not support to libcurl",
        arguments: [
            "nonce=\"a\"", "realm=\"a\"", "realm=a, nonce=b, algorithm=SHA-512-256", "realm=a, nonce=b, qop=auth-int",
            "realm=a, nonce=b, userhash=true", "realm=\"a\\\"b\", nonce=b", "realm=a, nonce=\"b\\\\c\"",
            "realm=\"\u{fffd}\", nonce=b",
        ])
    func doesNotAnswer(parameters: String) throws { #expect(try digest(parameters) == nil) }

    // MARK: - Protection spaces

    private func key(_ host: String = "h", user: String = "u", password: String = "p", port: String = "80")
        -> ProtectionSpaces.Key
    {
        ProtectionSpaces.Key(
            origin: URLParts.Origin(scheme: "http", host: host, port: port), username: user, password: password,
            schemes: .all)
    }

    private func field(_ spaces: inout ProtectionSpaces, _ key: ProtectionSpaces.Key, _ path: String) -> String? {
        spaces.authorization(key, method: "GET", path: path, target: path, clientNonce: "c")?.field
    }

    @Test func sendsBasicAtAndBelowTheFolder() {
        // given
        var spaces = ProtectionSpaces()
        spaces.acceptedBasic(key(), path: "/a/b/c.jpg", realm: "r")
        // then
        for path in ["/a/b/", "/a/b/d.jpg", "/a/b/e/f"] {
            #expect(field(&spaces, key(), path) == "Basic dTpw", "\(path)")
        }
        for path in ["/", "/a/b", "/a/x", "/a/bc/d", ""] { #expect(field(&spaces, key(), path) == nil, "\(path)") }
        for other in [key("i"), key(user: "v"), key(password: "q"), key(port: "81")] {
            #expect(field(&spaces, other, "/a/b/") == nil)
        }
    }

    @Test("RFC 4648 10", arguments: [("", "Og=="), ("o", "Om8="), ("of", "Om9m"), ("oofb", "Om9vZmI=")])
    func encodes(password: String, text: String) {
        #expect(Authorization.basic("", password, realm: "").field == "Basic " + text)
    }

    @Test func countsTheUsesOfANonce() throws {
        // given
        var spaces = ProtectionSpaces()
        spaces.acceptedDigest(key(), try #require(try digest("realm=r, nonce=n, qop=auth")))
        // then
        #expect(field(&spaces, key(), "/x")?.contains("nc=00000002") == true)
        #expect(field(&spaces, key(), "/y/z")?.contains("nc=00000003") == true)
        spaces.changeNonce(key(), path: "/y", to: "m")
        #expect(field(&spaces, key(), "/y")?.contains("nonce=\"m\", uri=\"/y\", cnonce=\"c\", nc=00000001") == true)
        spaces.forget(key(), path: "/y")
        #expect(field(&spaces, key(), "/y") == nil)
    }

    @Test func keepsToTheDomainOfADigest() throws {
        var spaces = ProtectionSpaces()
        let domain = "realm=r, nonce=n, domain=\"/a/ http://other/b //other/c\""
        spaces.acceptedDigest(key(), try #require(try digest(domain)))
        #expect(field(&spaces, key(), "/a/b") != nil)
        #expect(field(&spaces, key(), "/b") == nil && field(&spaces, key("other"), "/b") == nil)
    }

    @Test func forgetsTheOldest() {
        var spaces = ProtectionSpaces()
        for number in 0...ProtectionSpaces.most { spaces.acceptedBasic(key("h\(number)"), path: "/", realm: "") }
        #expect(field(&spaces, key("h0"), "/") == nil)
        #expect(field(&spaces, key("h1"), "/") != nil)
        #expect(field(&spaces, key("h\(ProtectionSpaces.most)"), "/") != nil)
    }
}

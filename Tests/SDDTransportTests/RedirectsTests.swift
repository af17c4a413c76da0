import SDDBase
import Testing

@testable import SDDTransport

/// D29, H14: the rules alone, without a network.
@Suite struct RedirectsTests {
    private func follow(
        _ location: String, status: Int32 = 302, from request: HTTPRequest, allowsDowngrade: Bool = false
    ) throws(TransportError) -> HTTPRequest {
        var redirects = Redirects(limit: 10, allowsDowngrade: allowsDowngrade)
        return try redirects.follow(location, status: status, from: request)
    }

    private func kind(_ location: String, from url: String) throws -> TransportError.Kind? {
        let request = try HTTPRequest(to: url)
        do throws(TransportError) {
            _ = try follow(location, from: request)
            return nil
        } catch {
            expectOneSentence(error.message)
            return error.kind
        }
    }

    @Test(
        "a message shows no part of a target that may be secret",
        arguments: [
            ("http://user:pw@b.test/x?token=1#part", "http://b.test/x"), ("?token=1", "http://a.test/y"),
            ("#part", "http://a.test/y"), ("http://b.test?token=1", "http://b.test/"),
            ("http://exa mple/", "a URL that is malformed"),
        ])
    func showsNoSecrets(location: String, text: String) {
        #expect(Redirects.shown(location, from: "http://a.test/y?key=1#top") == text)
    }

    @Test("RFC 9111 §4.3.1: conditions go to the URL alone that the stored response came from")
    func conditionsGoToTheirURLAlone() throws {
        // given
        var fields = HTTPFields()
        fields.set("If-None-Match", to: "\"a\"")
        var request = try HTTPRequest(to: "http://u:p@a.test/x")
        // when: the response came from b.test
        request.conditions = HTTPRequest.Conditions(url: "http://b.test/y", fields: fields)
        let next = try follow("http://b.test/y", from: request)
        let last = try follow("/z", from: next)
        // then
        let sent = [request, next, last].map { $0.headers["If-None-Match"] }
        #expect(sent == [nil, "\"a\"", nil])
        // when: it came from a.test
        request.conditions = HTTPRequest.Conditions(url: "http://a.test/x", fields: fields)
        // then
        #expect(request.headers["If-None-Match"] == "\"a\"")
        #expect(try follow("http://b.test/x", from: request).headers["If-None-Match"] == nil)
    }

    @Test(
        "D29: resolves the Location against the URL before it",
        arguments: [
            ("http://a.test/x/y?q#f", "z", "http://a.test/x/z#f"), ("http://a.test/x/y", "../z", "http://a.test/z"),
            ("http://a.test/x/y", "/z?a=b", "http://a.test/z?a=b"), ("http://a.test/x?q", "?r", "http://a.test/x?r"),
            ("http://a.test/x", "//b.test/z", "http://b.test/z"),
            ("https://a.test/x", "//b.test/z", "https://b.test/z"),
            ("http://a.test/x#f", "https://b.test/z#g", "https://b.test/z#g"),
            ("http://a.test/x#f", "https://b.test/z", "https://b.test/z#f"),
            ("http://a.test/x", "HTTPS://B.test/z", "https://B.test/z"),
            ("http://a.test/x", "/a b", "http://a.test/a%20b"), ("http://a.test/x", "/é", "http://a.test/%c3%a9"),
            ("http://a.test/x", "y:z/../w", ""),
            ("http://[::1]:80/x", "/y", "http://[::1]:80/y"), ("http://a.test:8080/x", "y", "http://a.test:8080/y"),
            ("http://a.test/x", "//bücher.test/y", "http://xn--bcher-kva.test/y"),
        ])
    func d29_resolves(from: String, location: String, to: String) throws {
        // given
        let request = try HTTPRequest(to: from)
        // when
        let next = try? follow(location, from: request)
        // then
        #expect(next?.url.text.lowercased() ?? "" == to.lowercased())
    }

    @Test(
        "D29: follows only to http and https",
        arguments: [
            ("file:///etc/passwd", TransportError.Kind.redirectScheme), ("file:/etc/passwd", .redirectScheme),
            ("FILE:///etc/passwd", .redirectScheme), ("ftp://a.test/", .redirectScheme),
            ("data:image/png;base64,AAAA", .redirectScheme), ("javascript:alert(1)", .redirectScheme),
            ("unheard-of+x.y://a.test/", .redirectScheme), ("gopher:x", .redirectScheme),
            ("http://", .redirectMalformed), ("http://a.test:99999/", .redirectMalformed),
            ("http:///", .redirectMalformed),
            ("//", .redirectMalformed), ("http://[::1/", .redirectMalformed),
            ("http://a.test/\u{1}", .redirectMalformed),
            ("http://a℀b.test/", .redirectMalformed),
        ])
    func d29_refusesInvalidTargets(location: String, kind: TransportError.Kind) throws {
        #expect(try self.kind(location, from: "http://a.test/") == kind)
    }

    @Test func d29_refusesTooLongURLs() throws {
        let long = "/" + String(repeating: "a", count: 70_000)
        #expect(try kind(long, from: "http://a.test/") == .redirectMalformed)
    }

    @Test("D29: follows from https to http only where allowed") func d29_downgrade() throws {
        // given
        let request = try HTTPRequest(to: "https://a.test/x", headers: [("Referer", "https://a.test/secret")])
        // then
        #expect(try kind("http://a.test/y", from: "https://a.test/x") == .redirectDowngrade)
        let next = try follow("http://a.test/y", from: request, allowsDowngrade: true)
        #expect(next.url.text == "http://a.test/y")
        #expect(next.headers["Referer"] == nil)
        // the same holds at any hop
        let up = try follow("https://b.test/", from: HTTPRequest(to: "http://a.test/"))
        #expect(throws: TransportError.self) { try follow("http://b.test/", from: up) }
    }

    @Test("D29: follows as many hops as allowed", arguments: [0, 1, 10] as [Int32]) func d29_limit(limit: Int32) throws
    {
        // given
        var redirects = Redirects(limit: limit, allowsDowngrade: false)
        var request = try HTTPRequest(to: "http://a.test/")
        // when
        for hop in 0..<limit { request = try redirects.follow("/\(hop)", status: 301, from: request) }
        // then
        #expect(redirects.count == limit)
        #expect {
            _ = try redirects.follow("/more", status: 301, from: request)
        } throws: {
            ($0 as? TransportError)?.kind == .tooManyRedirects
        }
    }

    @Test(
        "D29: keeps or changes method and body as HTTP requires",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"),
            (303, "GET", "GET"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (302, "HEAD", "HEAD"),
            (307, "POST", "POST"), (308, "POST", "POST"), (307, "PUT", "PUT"), (308, "HEAD", "HEAD"),
        ] as [(Int32, String, String)])
    func d29_method(status: Int32, method: String, then: String) throws {
        // given
        let body = method == "GET" || method == "HEAD" ? nil : "abc"
        let request = try HTTPRequest(
            to: "http://a.test/", method: method,
            headers: [("content-type", "a/b"), ("Content-Language", "en"), ("X-A", "1")], body: body)
        // when
        let next = try follow("/y", status: status, from: request)
        // then
        #expect(next.method == then)
        let isKept = method == then
        #expect((next.body != nil) == (isKept && body != nil))
        #expect((next.headers["Content-Type"] != nil) == isKept)
        #expect((next.headers["Content-Language"] != nil) == isKept)
        #expect(next.headers["X-A"] == "1")
    }

    @Test func d29_recognizesRedirectStatuses() {
        #expect((100..<600).filter { Redirects.isRedirect($0) } == [301, 302, 303, 307, 308])
    }

    private static func secret(_ url: String) throws -> HTTPRequest {
        try HTTPRequest(
            to: url,
            headers: [
                ("Authorization", "Basic s"), ("cookie", "s"), ("PROXY-AUTHORIZATION", "s"), ("Host", "inner"),
                ("X-Other", "stays"),
            ]
        ) {
            var credential = Credential()
            credential.username = "u"
            credential.password = "p"
            credential.clientCertificate = "/c.pem"
            $0.credential = credential
            $0.usesCookies = true
        }
    }

    @Test(
        "H14: drops secrets permanently at another host, port or scheme",
        arguments: [
            ("http://u:p@a.test/", "http://b.test/"), ("http://u:p@a.test/", "http://a.test:8080/"),
            ("http://u:p@a.test/", "https://a.test/"), ("https://u:p@a.test/", "https://a.test:80/"),
            ("https://u:p@a.test:8443/", "https://a.test/"), ("http://u:p@a.test/", "//b.test/"),
            ("http://u:p@a.test/", "http://a.test.evil.test/"), ("http://u:p@a.test/", "http://sub.a.test/"),
            ("http://u:p@a.test/", "http://x:y@b.test/"), ("http://u:p@a.test/", "http://a.test@b.test/"),
            ("http://u:p@a.test/", "http://a.test./"),
        ])
    func h14_dropsSecretsElsewhere(from: String, location: String) throws {
        // when: to another origin, and back again
        let next = try follow(location, from: Self.secret(from))
        let back = try follow(next.url.scheme == .https ? "https://a.test/" : "http://a.test/", from: next)
        // then
        for request in [next, back] {
            #expect(request.options.values.credential == nil)
            #expect(request.options.values.usesCookies)
            #expect(request.headers.fields.map(\.name) == ["X-Other"])
            #expect(!URLText.hasCredentials(request.url.text))
        }
    }

    @Test(
        "H14: keeps secrets at the same origin",
        arguments: [
            ("http://u:p@a.test/", "/y"), ("http://u:p@a.test/", "http://a.test:80/y"),
            ("http://u:p@a.test:80/", "http://a.test/y"), ("https://u:p@a.test/", "https://A.TEST:443/y"),
            ("http://u:p@a.test/", "http://u:p@a.test/y"), ("http://u:p@[::1]/", "http://[::1]:80/"),
        ])
    func h14_keepsSecretsAtTheSameOrigin(from: String, location: String) throws {
        // when
        let next = try follow(location, from: Self.secret(from))
        // then
        #expect(next.options.values.credential?.username == "u")
        #expect(next.headers.fields.count == 5)
        #expect(next.url.text.contains("u:p@"))
    }
}

import SDDBase
import Testing

@testable import SDDTransport

@Suite struct RequestIdentityTests {
    private static func request(
        _ url: String = "http://a.test/x", _ fields: [(String, String)] = [], cookies: [String]? = nil,
        _ change: (inout TransferOptions.Values) -> Void = { _ in }
    ) throws -> HTTPRequest {
        let url = try Array(url.utf8).withUnsafeBufferPointer { try ImageURL(checking: $0, allowsFiles: false) }
        var values = TransferOptions.Values()
        values.usesCookies = cookies != nil
        change(&values)
        var request = HTTPRequest(url: url, options: TransferOptions(values))
        for (name, value) in fields { request.headers.set(name, to: value) }
        request.cookies = cookies
        return request
    }

    private static func credential(_ change: (inout Credential) -> Void) -> (inout TransferOptions.Values) -> Void {
        var credential = Credential()
        change(&credential)
        return { [credential] in $0.credential = credential }
    }

    @Test("each kind of credential gives another identity, and none is anonymous")
    func eachCredentialGivesAnotherIdentity() throws {
        let requests = try [
            Self.request("http://a.test/x", [("Authorization", "x")]),
            Self.request("http://a.test/x", [("cookie", "x")]),
            Self.request("http://a.test/x", [("Host", "x")]), Self.request("http://a.test/x", [("Host", "y")]),
            Self.request("http://a.test/x", [("PROXY-AUTHORIZATION", "x")]), Self.request("http://x@a.test/x"),
            Self.request(cookies: ["x=y"]), Self.request(cookies: ["x=", "y="]),
            Self.request { $0.proxyUserinfo = "x" },
            Self.request { $0.verifiesCertificate = false },
            Self.request { $0.caFile = "x" }, Self.request { $0.caFile = "y" },
            Self.request { $0.staysPacked = true },
            Self.request { $0.redirects = .handOut }, Self.request { $0.redirects = .refuse },
            Self.request(
                "http://a.test/x", [], cookies: nil, Self.credential { ($0.username, $0.password) = ("x", "y") }),
            Self.request(
                "http://a.test/x", [], cookies: nil, Self.credential { ($0.username, $0.password) = ("x", "z") }),
            Self.request("http://a.test/x", [], cookies: nil, Self.credential { $0.bearerToken = "x" }),
            Self.request("http://a.test/x", [], cookies: nil, Self.credential { $0.clientCertificate = "x" }),
        ]
        let callers = requests.map { RequestIdentity(of: $0) }
        #expect(Set(callers).count == callers.count && !callers.contains { $0.isAnonymous })
        for request in requests { #expect(RequestIdentity(of: request) == RequestIdentity(of: request)) }
    }

    @Test("texts that are canonically equal, but of other bytes, give different identities")
    func bytesMakeTheIdentity() throws {
        let changes: [(String) -> (inout TransferOptions.Values) -> Void] = [
            { text in { $0.proxyUserinfo = text } }, { text in { $0.caFile = text } },
            { text in Self.credential { $0.username = text } }, { text in Self.credential { $0.password = text } },
            { text in Self.credential { $0.bearerToken = text } },
            { text in Self.credential { $0.clientCertificate = text } },
            { text in Self.credential { $0.clientKey = text } },
            { text in Self.credential { $0.clientKeyPassword = text } },
        ]
        // The Kelvin sign is the letter K, but for its bytes.
        for change in changes {
            let one = try Self.request("http://a.test/x", [], cookies: nil, change("K"))
            let other = try Self.request("http://a.test/x", [], cookies: nil, change("\u{212a}"))
            #expect(one.options != other.options && one.options.hashKey != other.options.hashKey)
        }
        let fields = [("Authorization", "K"), ("Authorization", "\u{212a}")]
        let callers = try fields.map { RequestIdentity(of: try Self.request("http://a.test/x", [$0])) }
        #expect(callers[0] != callers[1])
    }

    @Test("a request without credentials is anonymous")
    func requestsWithoutCredentialsAreAnonymous() throws {
        #expect(RequestIdentity(of: try Self.request()).isAnonymous)
        #expect(RequestIdentity(of: try Self.request { ($0.maxRedirects, $0.maxBodyBytes) = (1, 1) }).isAnonymous)
        #expect(
            RequestIdentity(
                of: try Self.request("http://a.test/a@b", [("Accept", "x"), ("X-Trace", "1")], cookies: [])
            ).isAnonymous
        )
    }

    @Test(
        "a proxy's user and password",
        arguments: [
            ("http://u:p@host:1", "u:p"), ("u:p@host", "u:p"), ("http://a@b@host/", "a@b"), ("http://host:1", nil),
            ("host", nil), ("socks5h://host/@", nil),
        ])
    func proxies(url: String, expected: String?) {
        #expect(TransportConfiguration.Proxy.url(url, except: nil).userinfo == expected)
        #expect(TransportConfiguration.Proxy.environment.userinfo == nil)
    }

    // MARK: Cookies

    private func areKnown(_ known: [String], _ pieces: [String], own: String? = nil) throws -> Bool {
        var request = try Self.request(cookies: known)
        if let own { request.headers.set("Cookie", to: own) }
        var sent = try #require(SentCookies(request))
        for piece in pieces { Array(piece.utf8).withUnsafeBytes { sent.sent($0) } }
        return sent.areKnown
    }

    @Test("detects cookies that the request did not know of")
    func sentCookies() throws {
        let head = "GET / HTTP/1.1\r\nHost: a\r\n"
        #expect(try areKnown([], [head + "\r\n"]))
        #expect(try areKnown(["a=1", "b= x "], [head + "Cookie: b= x; a=1\r\n\r\n"]))
        #expect(try areKnown(["a=1"], [head, "cookie:", " a=1\r\n\r", "\n"]))
        #expect(try areKnown([], [head + "Cookie: own=1\r\n\r\n"], own: "own=1"))
        #expect(try !areKnown(["a=1"], [head + "Cookie: a=2\r\n\r\n"]))
        #expect(try !areKnown(["a=1"], [head + "Cookie: a=1; b=1\r\n\r\n"]))
        #expect(try !areKnown(["a=1"], [head + "Cookie: a=2\r\n\r\n", head + "\r\n"]))
        // The request has not been seen, or only a part of it.
        #expect(try !areKnown([], []))
        #expect(try !areKnown([], [head]))
        #expect(SentCookies(try Self.request()) == nil)
    }

    // MARK: Set-Cookie

    @Test(
        "attributes that libcurl ignores",
        arguments: [
            ("a=b; Secure=x", "a", true, false), (" a = b ;secure = ; x", "a", true, false),
            ("a=b;HTTPONLY=1", "a", false, true), ("a=b=c;Secure=;HttpOnly=0", "a", true, true),
        ])
    func attributesWithValues(line: String, name: String, isSecure: Bool, isHTTPOnly: Bool) throws {
        let made = try #require(Array(line.utf8).withUnsafeBytes { SetCookieLine($0) })
        #expect(made.name == name && made.isSecure == isSecure && made.isHTTPOnly == isHTTPOnly && !made.isOver)
    }

    @Test(
        "where the cookie of a line belongs",
        arguments: [
            ("", nil, nil), ("; Domain=; Path=", nil, nil), ("; domain= .A.Example ; path= /x ", "a.example", "/x"),
            ("; Path=/x; Path=/y; Domain=b; Domain=c", "c", "/y"),
        ])
    func placesOfLines(attributes: String, domain: String?, path: String?) throws {
        let line = "a=b; Secure=1" + attributes
        let made = try #require(Array(line.utf8).withUnsafeBytes { SetCookieLine($0) })
        #expect(made.domain == domain && made.path == path)
    }

    @Test(
        "the year 70 is 1970",
        arguments: [
            ("Thu, 01-Jan-70 00:00:01 GMT", true), ("Thu, 01 Jan 70 00:00:01 GMT", true), ("01 Jan 70", true),
            ("Thu, 01-Jan-1970 00:00:01 GMT", false), ("Thu, 01-Jan-71 00:00:01 GMT", false),
            ("Thu, 01-Jan-69 00:00:70 GMT", false), ("Thu, 01-Jan-70 00:00:01 GMT; Max-Age=9", false),
            ("Thu, 01-Jan-70 00:00:01 GMT; Expires=Thu, 01-Jan-71 00:00:01 GMT", false),
        ])
    func yearsOfLines(date: String, isOver: Bool) {
        let line = "a=b; Expires=" + date
        let made = Array(line.utf8).withUnsafeBytes { SetCookieLine($0) }
        #expect(made?.isOver ?? false == isOver)
    }

    @Test(
        "lines that libcurl parses as intended",
        arguments: [
            "", ";", "a", "a=b", "a=b;Secure", "a=b; HttpOnly; Path=/", "Secure=x", "Secure=x; Path=/", "a;Secure=x",
            "a=b; Secured=x", "a=b; x=Secure",
        ])
    func attributesWithout(line: String) {
        #expect(Array(line.utf8).withUnsafeBytes { SetCookieLine($0) } == nil)
    }
}

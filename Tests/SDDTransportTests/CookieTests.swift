import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDTransport

/// H8: cookies over the network.
@Suite struct CookieTests {
    /// Makes a transport that resolves names of its own to 127.0.0.1.
    private func transport(_ server: ScriptedServer, file: String? = nil) throws -> TransportUnderTest {
        var configuration = TransportConfiguration()
        configuration.resolve = ["a.example", "sub.a.example", "other.example"].map {
            "\($0):\(server.port):127.0.0.1"
        }
        configuration.cookieFile = file
        return try TransportUnderTest(configuration)
    }

    private func request(
        _ server: ScriptedServer, _ target: String, host: String = "a.example", usesCookies: Bool = true
    ) throws -> HTTPRequest {
        try HTTPRequest(to: "http://\(host):\(server.port)\(target)") { $0.usesCookies = usesCookies }
    }

    private func setting(_ cookies: String..., then: String = "/ok") -> String {
        then + (then.contains("?") ? "&" : "?")
            + cookies.map { "header=Set-Cookie:%20" + $0.replacing(" ", with: "%20") }.joined(separator: "&")
    }

    @Test("H8: keeps and sends cookies only for requests that ask for it") func h8_onRequest() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        // when: in turns, on one handle
        for usesCookies in [false, false, true, true, false, true] {
            _ = try transport.run(request(server, setting("a=1"), usesCookies: usesCookies))
        }
        // then: the third request sets it
        #expect(server.requests.map { $0.header("Cookie") } == [nil, nil, nil, "a=1", nil, "a=1"])
        #expect(transport.transport.cookies?.all().map(\.name) == ["a"])
    }

    @Test("H8: a transport does not see another's cookies") func h8_eachTransportHasItsOwn() throws {
        // given
        let server = try ScriptedServer()
        let (first, second) = (try transport(server), try transport(server))
        // when
        _ = try first.run(request(server, setting("a=1")))
        _ = try second.run(request(server, "/ok"))
        // then
        #expect(server.requests.map { $0.header("Cookie") } == [nil, nil])
        #expect(second.transport.cookies?.all() == [])
    }

    @Test("H8: sends a cookie only where it belongs") func h8_scope() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        _ = try transport.run(
            request(
                server,
                setting(
                    "host=1", "domain=1; Domain=a.example", "path=1; Path=/ok/x", "secure=1; Secure",
                    "foreign=1; Domain=other.example", "suffix=1; Domain=example", "old=1; Max-Age=0"),
                host: "sub.a.example"))
        server.reset()
        // when
        for (host, target) in [
            ("sub.a.example", "/ok"), ("sub.a.example", "/ok/x/y"), ("a.example", "/ok"), ("other.example", "/ok"),
        ] {
            _ = try transport.run(request(server, target, host: host))
        }
        // then
        let sent = server.requests.map { Set(($0.header("Cookie") ?? "").split(separator: "; ").map(String.init)) }
        #expect(sent == [["host=1", "domain=1"], ["host=1", "domain=1", "path=1"], ["domain=1"], []])
    }

    @Test("H8: a host changes no cookie of another") func h8_othersCookies() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        _ = try transport.run(request(server, setting("sid=1", "sid=2; Path=/x")))
        let jar = try #require(transport.transport.cookies)
        let before = Set(jar.all().map(\.line))
        // when
        for line in [
            "sid=3; Secure=1; Path=/nowhere", "sid=3; HttpOnly=1", "sid=3; Expires=Thu, 01-Jan-70 00:00:01 GMT",
        ] {
            _ = try transport.run(request(server, setting(line), host: "sub.a.example"))
        }
        // then
        #expect(Set(jar.all().filter { $0.domain == "a.example" }.map(\.line)) == before)
        #expect(jar.all().filter { $0.domain == "sub.a.example" }.isEmpty)
    }

    @Test("H8: a cookie that ended in 1970 is deleted") func h8_endOf1970() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        _ = try transport.run(request(server, setting("a=1", "b=1; Domain=a.example; Path=/x")))
        // when
        let ends = setting(
            "a=; Expires=Thu, 01-Jan-70 00:00:01 GMT",
            "b=; Domain=a.example; Path=/x; Expires=Thu, 01-Jan-70 00:00:01 GMT")
        _ = try transport.run(request(server, ends))
        // then
        #expect(try #require(transport.transport.cookies).all() == [])
    }

    @Test("H8: knows the cookies of a host however its name is written") func h8_writtenHosts() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        let jar = try #require(transport.transport.cookies)
        // when
        _ = try transport.run(request(server, setting("a=1; HttpOnly=1"), host: "127.1"))
        #expect(jar.set(Cookie(name: "b", value: "2", domain: "::1")))
        // then
        func cookies(_ host: String) throws -> [String] {
            try jar.cookies(for: HTTPRequest(to: "http://\(host)/") { _ in }.url)
        }
        for host in ["127.1", "127.0.0.1", "2130706433"] { #expect(try cookies(host) == ["a=1"]) }
        #expect(try cookies("[::1]") == ["b=2"] && cookies("other.example") == [])
        #expect(jar.all().first { $0.name == "a" }?.httpOnly == true)
    }

    @Test("H8: keeps and sends cookies at each hop of a redirect") func h8_redirects() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        // when
        let target = setting("a=1", then: "/redirect?to=http://other.example:\(server.port)/redirect?to=/ok")
        _ = try transport.run(request(server, target))
        _ = try transport.run(request(server, setting("b=1", then: "/redirect?to=/ok")))
        // then
        let sent = server.requests.map { $0.header("Cookie")?.split(separator: "; ").sorted() }
        #expect(sent == [nil, nil, nil, ["a=1"], ["a=1", "b=1"]])
    }

    @Test("H8: sends cookies that the application sets") func h8_appSets() throws {
        // given
        let server = try ScriptedServer()
        let transport = try transport(server)
        let jar = try #require(transport.transport.cookies)
        var cookie = Cookie(name: "a", value: "1", domain: "a.example")
        // when
        #expect(jar.set(cookie))
        _ = try transport.run(request(server, "/ok"))
        _ = try transport.run(request(server, "/ok", host: "sub.a.example"))
        (cookie.name, cookie.includeSubdomains, cookie.httpOnly) = ("b", true, true)
        #expect(jar.set(cookie))
        _ = try transport.run(request(server, "/ok", host: "sub.a.example"))
        jar.clear(domain: "a.example")
        (cookie.name, cookie.secure) = ("over-https", true)
        #expect(jar.set(cookie))
        _ = try transport.run(request(server, "/ok"))
        // then
        #expect(server.requests.map { $0.header("Cookie") } == ["a=1", nil, "b=1", nil])
        #expect(jar.all().map(\.name) == ["over-https"])
    }

    @Test("H8: cookies that are not UTF-8 are kept as they are, and tell callers apart")
    func h8_cookiesThatAreNoUTF8() throws {
        // given: the same name, with another byte as its value
        let server = try ScriptedServer()
        let folder = try TemporaryFolder()
        let files = try [0xe8, 0xe9].map { (byte: UInt8) in
            let line = "a.example\tFALSE\t/\tFALSE\t4000000000\tsid\t"
            return try folder.write("\(byte)", Array(line.utf8) + [byte, 0x0a])
        }
        var callers: Set<RequestIdentity> = []
        for (file, byte) in zip(files, [0xe8, 0xe9] as [UInt8]) {
            let transport = try transport(server, file: file)
            let jar = try #require(transport.transport.cookies)
            var request = try request(server, "/ok")
            request.cookies = jar.cookies(for: request.url)
            callers.insert(RequestIdentity(of: request))
            // when
            let end = try transport.run(request)
            transport.end()
            // then
            #expect(end.status == 200 && end.response?.isOfUnknownCaller == false)
            let text = try TestSupport.run(["od", "-An", "-tx1", "-w9999", file]).text
            #expect(text.hasSuffix("73 69 64 09 \(String(byte, radix: 16)) 0a\n"), "\(text)")
            jar.clear(domain: "a.example")
            #expect(jar.all().isEmpty)
        }
        #expect(callers.count == 2)
    }

    @Test("H8: a file keeps cookies beyond the transport, except session cookies") func h8_file() throws {
        // given
        let server = try ScriptedServer()
        let folder = try TemporaryFolder()
        let file = folder.path("cookies.txt")
        let first = try transport(server, file: file)
        let target = setting("a=1; Max-Age=1000; HttpOnly", "s=1", "b=; Domain=a.example; Max-Age=1000; Path=/x")
        _ = try first.run(request(server, target))
        let before = try #require(first.transport.cookies).all()
        // when
        first.end()
        let second = try transport(server, file: file)
        // then
        #expect(before.count == 3)
        let after = try #require(second.transport.cookies).all()
        #expect(Set(after.map(\.line)) == Set(before.filter { $0.name != "s" }.map(\.line)))
        #expect(after.contains { $0.httpOnly && $0.name == "a" })
        var status = stat()
        stat(file, &status)
        #expect(status.st_mode & 0o777 == 0o600)
        // and it is written only once, with no other file beside it
        #expect(try TestSupport.run(["ls", folder.path]).text == "cookies.txt\n")
    }

    @Test(
        "H8: a cookie file that is not a regular file prevents the start",
        arguments: ["folder", "pipe", "folder/x/y", "huge"])
    func h8_badFile(name: String) throws {
        // given
        let folder = try TemporaryFolder()
        mkdir(folder.path("folder"), 0o700)
        mkfifo(folder.path("pipe"), 0o600)
        try folder.write("folder/x", "")
        try folder.write("huge", "")
        truncate(folder.path("huge"), 1 << 30)
        var configuration = TransportConfiguration()
        configuration.cookieFile = folder.path(name)
        // then
        do {
            _ = try TransportUnderTest(configuration)
            Issue.record("the transport started")
        } catch {
            #expect(error.kind == .badConfiguration)
            expectOneSentence(error.message)
        }
    }

    @Test("H8: reports that the file cannot be written") func h8_unwritable() throws {
        // given: its folder is removed meanwhile
        let folder = try TemporaryFolder()
        mkdir(folder.path("gone"), 0o700)
        var configuration = TransportConfiguration()
        configuration.cookieFile = folder.path("gone/cookies.txt")
        configuration.logs = { .error }
        let transport = try TransportUnderTest(configuration)
        #expect(transport.waitForATurn())
        // when
        rmdir(folder.path("gone"))
        transport.end()
        // then
        let messages = transport.events.compactMap(\.message)
        #expect(messages.map(\.0) == [.error])
        #expect(transport.events.first?.id == TransferID(0))
        expectOneSentence(messages.first?.1 ?? "")
    }

    @Test func keepsNoMoreThanTheLimit() throws {
        // given: a server that sets more and more cookies
        let server = try ScriptedServer()
        let transport = try transport(server)
        // when
        for round in 0..<4 {
            let cookies = (0..<20).map { "header=Set-Cookie:%20c\(round)-\($0)=1;%20Max-Age=\(1000 + round * 20 + $0)" }
            _ = try transport.run(request(server, "/ok?" + cookies.joined(separator: "&")))
        }
        // then: those that expire last are kept
        let names = try #require(transport.transport.cookies).all().map(\.name)
        #expect(Set(names) == Set((30..<80).map { "c\($0 / 20)-\($0 % 20)" }))
    }

    @Test func survivesManyThreads() throws {
        // given
        let server = try ScriptedServer(keepsRequests: false)
        let transport = try transport(server)
        let jar = try #require(transport.transport.cookies)
        // when
        let threads = try (0..<4).map { number in
            try NativeThread(name: "jar-\(number)") {
                for round in 0..<100 {
                    _ = jar.set(Cookie(name: "n\(number)-\(round % 10)", value: "1", domain: "a.example"))
                    _ = jar.all()
                    if round % 25 == 24 { jar.clear(domain: number % 2 == 0 ? nil : "a.example") }
                }
            }
        }
        for round in 0..<100 {
            #expect(try transport.run(request(server, setting("s\(round)=1"))).status == 200)
        }
        for thread in threads { thread.join() }
        // then
        #expect(jar.all().count <= 50)
    }
}

/// The cookie jar without a transport.
@Suite struct CookieJarTests {
    @Test func replacesTheCookieInItsPlace() throws {
        // given
        let jar = try CookieJar(file: nil)
        var cookie = Cookie(name: "a", value: "1", domain: "a.example")
        // when
        #expect(jar.set(cookie))
        cookie.value = "2"
        #expect(jar.set(cookie))
        cookie.path = "/x"
        #expect(jar.set(cookie))
        // then
        #expect(jar.all().map { "\($0.path)=\($0.value)" }.sorted() == ["/=2", "/x=2"])
    }

    @Test func keepsEveryAttribute() throws {
        // given
        let jar = try CookieJar(file: nil)
        var cookie = Cookie(name: "a-b", value: "x \"y\", z=1", domain: "a.example")
        cookie.path = "/some/path"
        cookie.expires = 4_000_000_000
        cookie.includeSubdomains = true
        cookie.secure = true
        cookie.httpOnly = true
        // when
        #expect(jar.set(cookie))
        // then
        #expect(jar.all() == [cookie])
    }

    @Test func ignoresADotBeforeADomain() throws {
        let jar = try CookieJar(file: nil)
        #expect(jar.set(Cookie(name: "a", value: "", domain: ".a.example")))
        #expect(jar.all().map(\.domain) == ["a.example"])
    }

    @Test func refusesInvalidCookies() throws {
        // given
        let jar = try CookieJar(file: nil)
        let long = String(repeating: "x", count: 4097)
        var cookies = [
            Cookie(name: "", value: "1", domain: "a.example"), Cookie(name: "a", value: "1", domain: ""),
            Cookie(name: "a", value: "1", domain: "."), Cookie(name: "a=b", value: "1", domain: "a.example"),
            Cookie(name: "a", value: long, domain: "a.example"), Cookie(name: long, value: "", domain: "a.example"),
            Cookie(name: "a", value: "1", domain: long), Cookie(name: "a", value: "1", domain: "#a.example"),
            Cookie(name: "a", value: "1", domain: "a .example"),
            Cookie(name: "a", value: "1", domain: "bücher.example"),
            Cookie(name: "__Secure-a", value: "1", domain: "a.example"),
        ]
        for bad in ["\t", "\r", "\n", "\0", "\u{7f}", ";"] {
            cookies.append(Cookie(name: "a\(bad)b", value: "1", domain: "a.example"))
            cookies.append(Cookie(name: "a", value: "1\(bad)", domain: "a.example"))
            cookies.append(Cookie(name: "a", value: "1", domain: "a\(bad).example"))
            var cookie = Cookie(name: "a", value: "1", domain: "a.example")
            cookie.path = "/\(bad)"
            cookies.append(cookie)
        }
        var relative = Cookie(name: "a", value: "1", domain: "a.example")
        relative.path = "x"
        var negative = relative
        negative.path = "/"
        negative.expires = -1
        // when, then
        for cookie in cookies + [relative, negative] { #expect(!jar.set(cookie), "\(cookie)") }
        #expect(jar.all() == [])
        #expect(jar.set(Cookie(name: "a", value: String(long.dropLast(101)), domain: "a.example")))
    }

    @Test("H8: refuses a cookie for a public suffix", arguments: ["com", "co.uk", "CO.UK", "github.io", "example"])
    func h8_publicSuffix(domain: String) throws {
        // given
        let jar = try CookieJar(file: nil)
        var cookie = Cookie(name: "a", value: "1", domain: domain)
        cookie.includeSubdomains = true
        // when, then
        #expect(!jar.set(cookie))
        #expect(jar.all() == [])
        cookie.domain = "a." + domain
        #expect(jar.set(cookie))
    }

    @Test func removesADomainAndItsSubdomains() throws {
        // given
        let jar = try CookieJar(file: nil)
        for domain in ["a.example", "b.a.example", "ba.example", "example.org"] {
            var cookie = Cookie(name: "n", value: "1", domain: domain)
            cookie.secure = true
            #expect(jar.set(cookie))
        }
        // when
        jar.clear(domain: "A.example")
        // then
        #expect(Set(jar.all().map(\.domain)) == ["ba.example", "example.org"])
        jar.clear(domain: nil)
        #expect(jar.all() == [])
        jar.clear(domain: nil)
    }

    @Test func anExpiryInThePastDeletes() throws {
        // given
        let jar = try CookieJar(file: nil)
        var cookie = Cookie(name: "a", value: "1", domain: "a.example")
        #expect(jar.set(cookie))
        // when
        cookie.expires = 1000
        #expect(jar.set(cookie))
        // then
        #expect(jar.all() == [])
    }

    @Test func readsCookieFilesOfOtherPrograms() throws {
        // given: comments, a blank value, the old domain form, invalid lines
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "cookies.txt",
            """
            # Netscape HTTP Cookie File
            .a.example\tTRUE\t/\tFALSE\t4000000000\ta\t1\r
            #HttpOnly_b.example\tFALSE\t/x\tTRUE\t4000000000\tb\t

            over.example\tFALSE\t/\tFALSE\t1000\to\t1
            bad line
            c.example\tFALSE\t/\tFALSE\tx\tc\t1
            Set-Cookie: d=1; Domain=d.example
            com\tTRUE\t/\tFALSE\t4000000000\te\t1
            f.example\tFALSE\t/\tFALSE\t4000000000\tf
            g.example\tFALSE\t/\tFALSE\t4000000000\tg\t1\t2
            """)
        // when
        let jar = try CookieJar(file: file)
        // then
        #expect(
            Set(jar.all().map { "\($0.domain)|\($0.name)=\($0.value)" }) == [
                "a.example|a=1", "b.example|b=", "f.example|f=",
            ])
        try jar.save()
        #expect(try Set(CookieJar(file: file).all().map(\.line)) == Set(jar.all().map(\.line)))
    }

    @Test func writesTheFileBehindALink() throws {
        // given: the file is a link to another
        let folder = try TemporaryFolder()
        let other = try folder.write("other", "# a jar\n")
        symlink(other, folder.path("cookies.txt"))
        let jar = try CookieJar(file: folder.path("cookies.txt"))
        var cookie = Cookie(name: "a", value: "1", domain: "a.example")
        cookie.expires = 4_000_000_000
        #expect(jar.set(cookie))
        // when
        try jar.save()
        // then
        #expect(try CookieJar(file: other).all() == [cookie])
        var status = stat()
        #expect(lstat(folder.path("cookies.txt"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test func refusesAFileOfSomethingElse() throws {
        let folder = try TemporaryFolder()
        let other = try folder.write("other", "precious")
        #expect(throws: TransportError.self) { try CookieJar(file: other) }
    }

    @Test func choosesTheSurplus() {
        // given: 55 cookies of one domain, 2990 of others
        func cookie(_ name: String, _ domain: String, _ expires: Int64) -> Cookie {
            var cookie = Cookie(name: name, value: "", domain: domain)
            cookie.expires = expires
            return cookie
        }
        let one = (0..<55).map { (number: Int) -> Cookie in
            cookie("\(number)", "one.example", number % 11 == 0 ? 0 : Int64(1000 + number))
        }
        let others = (0..<2990).map { cookie("o\($0)", "\($0 / 20).example", 5000) }
        // when
        let surplus = CookieJar.surplus(of: one + others)
        // then: five of the one domain, then forty of all, those that expire soonest; cookies without an expiry come
        // last
        #expect(surplus.count == 45)
        #expect(Set(surplus.prefix(5).map(\.name)) == ["1", "2", "3", "4", "5"])
        #expect(!surplus.contains { $0.expires == 0 })
        #expect(CookieJar.surplus(of: Array(one.prefix(50))).isEmpty)
    }
}

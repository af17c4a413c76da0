import SDDBase
import SDDCaches
import Testing

@Suite struct CacheRulesStoringTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: [String]
        let request: CacheableRequest
        let status: Int32
        let isStored: Bool

        init(
            _ rule: String, _ fields: [String] = [], ask: [String] = [], status: Int32 = 200, method: String = "GET",
            _ isStored: Bool
        ) {
            testDescription = rule
            self.fields = fields
            request = SDDCachesTests.request(ask, method: method)
            self.status = status
            self.isStored = isStored
        }
    }

    static let cases: [Case] = [
        .init("9111 §3: 200 without directives", [], true),
        .init("9111 §3: POST", ["Cache-Control: max-age=60"], method: "POST", false),
        .init("9111 §3: HEAD", ["Cache-Control: max-age=60"], method: "HEAD", false),
        .init("9111 §3: an interim response", ["Cache-Control: max-age=60"], status: 103, false),
        .init("9111 §3: no status at all", ["Cache-Control: max-age=60"], status: 0, false),
        .init("9110 §15: a status over 599", ["Cache-Control: max-age=60"], status: 600, false),
        .init("9111 §3.3: 206", ["Cache-Control: max-age=60", "Content-Range: bytes 0-9/10"], status: 206, false),
        .init("9111 §4.3.3: 304", ["Cache-Control: max-age=60"], status: 304, false),
        .init("9110 §15.5.13: 412", ["Cache-Control: max-age=60"], status: 412, false),
        .init("9110 §15.5.17: 416", ["Cache-Control: max-age=60"], status: 416, false),
        .init("9110 §15.5.2: 401", ["Cache-Control: max-age=60"], status: 401, false),
        .init("9110 §15.5.8: 407", ["Cache-Control: max-age=60"], status: 407, false),
        .init("6585 §3: 428", ["Cache-Control: max-age=60"], status: 428, false),
        .init("6585 §4: 429", ["Cache-Control: max-age=60"], status: 429, false),
        .init("6585 §5: 431", ["Cache-Control: max-age=60"], status: 431, false),
        .init("6585 §6: 511", ["Cache-Control: max-age=60"], status: 511, false),
        .init("9111 §5.2.2.5: no-store", ["Cache-Control: no-store"], false),
        .init("9111 §5.2.2.5: no-store in another case", ["Cache-Control: nO-StOrE"], false),
        .init(
            "9111 §5.2.2.5: no-store beside other directives",
            ["Cache-Control: max-age=60, no-store", "Expires: \(Moment.hourAfter)"], false),
        .init(
            "9111 §5.2.2.5: no-store in a second line", ["Cache-Control: max-age=60", "Cache-Control: no-store"], false),
        .init("9111 §5.2.2.5: no-store with an undefined argument", ["Cache-Control: no-store=a"], false),
        .init("9111 §5.2.2.5: no-store after garbage", ["Cache-Control: =\"a, no-store"], false),
        .init("9111 §5.2.2.5: no-store in quotes is ignored", ["Cache-Control: a=\"no-store\""], true),
        .init(
            "9111 §5.2.1.5: the request's no-store", ["Cache-Control: max-age=60"], ask: ["Cache-Control: no-store"],
            false),
        .init("9111 §5.2.2.3: must-understand before no-store", ["Cache-Control: no-store, must-understand"], true),
        .init(
            "9111 §5.2.2.3: 599 is not understood", ["Cache-Control: must-understand, max-age=60"], status: 599, false),
        .init(
            "9111 §5.2.2.3: 206 is not understood", ["Cache-Control: must-understand, max-age=60"], status: 206, false),
        .init("9111 §5.2.2.4: no-cache is stored", ["Cache-Control: no-cache"], true),
        .init("9111 §5.2.2.7: private", ["Cache-Control: private"], true),
        .init("9111 §3: private, of any status", ["Cache-Control: private"], status: 403, true),
        .init("9111 §3: public, of any status", ["Cache-Control: public"], status: 599, true),
        .init("9111 §3: max-age, of any status", ["Cache-Control: max-age=60"], status: 503, true),
        .init("9111 §3: Expires, of any status", ["Expires: 0"], status: 403, true),
        .init("9111 §3: s-maxage is for shared caches only", ["Cache-Control: s-maxage=60"], status: 403, false),
        .init("9111 §3: 403 without directives", [], status: 403, false),
        .init("9111 §3: 302 without directives", [], status: 302, false),
        .init("9111 §3: 500 without directives", [], status: 500, false),
        .init("9110 §15.1: 203", [], status: 203, true),
        .init("9110 §15.1: 301", [], status: 301, true),
        .init("9110 §15.1: 404", [], status: 404, true),
        .init("9110 §15.1: 410", [], status: 410, true),
        .init("9110 §15.1: 501", [], status: 501, true),
        .init("9111 §3.5: Authorization, in a private cache", [], ask: ["Authorization: Basic YTpi"], true),
        .init("9111 §7.3: Set-Cookie", ["Set-Cookie: a=b"], true),
        .init("9111 §4.1: Vary", ["Vary: Accept"], true),
        .init("9111 §4.1: Vary: * could never be used", ["Vary: *", "Cache-Control: max-age=60"], false),
        .init("9110 §14.2: a 200 to a Range is whole", ["Cache-Control: max-age=60"], ask: ["Range: bytes=0-"], true),
        .init(
            "9110 §14.2: another status to a Range", ["Cache-Control: max-age=60"],
            ask: ["Range: bytes=0-"], status: 404, false),
        .init(
            "9110 §14.2: a 200 to several ranges", ["Cache-Control: max-age=60"], ask: ["Range: bytes=0-1,3-4"], false),
        .init(
            "9110 §13: the response to the request's own precondition", ["Cache-Control: max-age=60"],
            ask: ["If-None-Match: \"a\""], false),
    ]

    @Test(arguments: cases) func stores(_ test: Case) {
        let fields = responseFields(test.fields)
        #expect(
            CacheRules.stores(test.request, status: test.status, fields: fields, isComplete: true) == test.isStored)
        #expect(!CacheRules.stores(test.request, status: test.status, fields: fields, isComplete: false))
    }

    @Test(
        arguments: [
            ("9111 §3.1: unknown fields are kept", ["X: 1", "X: 2"], ["X: 1", "X: 2"]),
            (
                "9111 §3.1, 9110 §7.6.1: fields of the connection",
                [
                    "Connection: close, A", "Connection: b", "A: 1", "B: 2", "C: 3", "Keep-Alive: x", "TE: x",
                    "Upgrade: x",
                ],
                ["C: 3"]
            ),
            (
                "9110 §7.6.1: Connection does not remove fields that the cache needs",
                ["Connection: Cache-Control", "Cache-Control: no-cache"],
                ["Cache-Control: no-cache"]
            ),
            (
                "9111 §3.1: fields for the proxy",
                [
                    "Proxy-Authenticate: a", "Proxy-Authentication-Info: a", "Proxy-Authorization: a",
                    "Proxy-Connection: a",
                ], []
            ),
            ("9112 §6.1: fields of the transfer", ["Transfer-Encoding: chunked", "Trailer: A"], []),
            (
                "9111 §5.2.2.4: fields that no-cache names",
                ["Cache-Control: no-cache=\"A, b\"", "A: 1", "B: 2", "C: 3"],
                ["Cache-Control: no-cache=\"A, b\"", "C: 3"]
            ),
            (
                "9111 §5.2.2.7: fields that private names are kept", ["Cache-Control: private=\"A\"", "A: 1"],
                ["Cache-Control: private=\"A\"", "A: 1"]
            ),
            ("9111 §7.3: cookies are set only once", ["Set-Cookie: a=b", "set-cookie2: c=d", "A: 1"], ["A: 1"]),
            (
                "9111 §3.1: Content-Length and the like", ["Content-Length: 5", "Content-Type: a/b"],
                ["Content-Length: 5", "Content-Type: a/b"]
            ),
        ] as [(String, [String], [String])])
    func keeps(rule: String, came: [String], kept: [String]) {
        #expect(lines(response(came)?.fields) == kept, "\(rule)")
    }

    @Test("9111 §5.1: a served response has its own Age and no other")
    func servedFields() throws {
        let stored = try #require(response(["Age: 5", "A: 1", "age: 6", "Date: \(Moment.start)"]))
        #expect(lines(CacheRules.servedFields(stored, age: 7)) == ["A: 1", "Date: \(Moment.start)", "Age: 7"])
        #expect(lines(CacheRules.servedFields(stored, age: .max)).last == "Age: 2147483648")
        #expect(lines(CacheRules.servedFields(stored, age: -1)).last == "Age: 0")
    }

    @Test("9111 §4.1: requests that select the same variant have the same key")
    func variantKeys() throws {
        let stored = try #require(response(["Vary: B, a", "Vary: A"]))
        let mark = { (name: String, value: String) in SecretKey.process.mark(of: "vary\n\(name)\n\(value)") }
        #expect(CacheRules.variantKey(varyOf: stored, request(["A: 1, 2"])) == "a:" + mark("a", "1,2") + "\nb")
        #expect(
            CacheRules.variantKey(varyOf: stored, request(["b: ", "A: 1,2"]))
                == "a:" + mark("a", "1,2") + "\nb:" + mark("b", ""))
        #expect(CacheRules.variantKey(varyOf: try #require(response([])), request()) == nil)
        #expect(CacheRules.variantKey(varyOf: try #require(response(["Vary: *"])), request()) == nil)
    }
}

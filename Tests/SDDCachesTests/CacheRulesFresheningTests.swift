import SDDBase
import SDDCaches
import Testing

@Suite struct CacheRulesFresheningTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: [String]
        let notModified: [String]
        /// nil if the 304 is about another response.
        let gives: [String]?

        init(_ rule: String, _ stored: [String], by notModified: [String], gives: [String]?) {
            testDescription = rule
            self.stored = stored
            self.notModified = notModified
            self.gives = gives
        }
    }

    static let cases: [Case] = [
        .init("9111 §4.3.4: the same strong tag", ["ETag: \"a\""], by: ["ETag: \"a\""], gives: ["ETag: \"a\""]),
        .init("9111 §4.3.4: another strong tag", ["ETag: \"a\""], by: ["ETag: \"b\""], gives: nil),
        .init(
            "9111 §4.3.4: a strong tag where there was a weak one", ["ETag: W/\"a\""], by: ["ETag: \"a\""], gives: nil),
        .init("9111 §4.3.4: a strong tag where there was none", ["A: 1"], by: ["ETag: \"a\""], gives: nil),
        .init("9111 §4.3.4: the same weak tag", ["ETag: W/\"a\""], by: ["ETag: W/\"a\""], gives: ["ETag: W/\"a\""]),
        .init(
            "9110 §8.8.3.2: a weak tag matches a strong one weakly", ["ETag: \"a\""], by: ["ETag: W/\"a\""],
            gives: ["ETag: W/\"a\""]),
        .init("9111 §4.3.4: another weak tag", ["ETag: W/\"a\""], by: ["ETag: W/\"b\""], gives: nil),
        .init("9110 §8.8.3.2: tags are compared with case", ["ETag: \"a\""], by: ["ETag: \"A\""], gives: nil),
        .init(
            "9111 §4.3.4: the tag takes precedence over the date",
            ["ETag: \"a\"", "Last-Modified: \(Moment.hourBefore)"],
            by: ["ETag: \"a\"", "Last-Modified: \(Moment.start)"],
            gives: ["ETag: \"a\"", "Last-Modified: \(Moment.start)"]),
        .init(
            "9111 §4.3.4: the same date", ["Last-Modified: \(Moment.hourBefore)"],
            by: ["Last-Modified: \(Moment.hourBefore)"], gives: ["Last-Modified: \(Moment.hourBefore)"]),
        .init(
            "9111 §4.3.4: the same date in another form", ["Last-Modified: \(Moment.hourBefore)"],
            by: ["Last-Modified: Sunday, 09-Sep-01 00:46:40 GMT"],
            gives: ["Last-Modified: Sunday, 09-Sep-01 00:46:40 GMT"]),
        .init(
            "9111 §4.3.4: another date", ["Last-Modified: \(Moment.hourBefore)"],
            by: ["Last-Modified: \(Moment.start)"],
            gives: nil),
        .init(
            "9111 §4.3.4: a date where there was none", ["ETag: \"a\""], by: ["Last-Modified: \(Moment.start)"],
            gives: nil),
        .init("9111 §4.3.4: neither response has a validator", ["A: 1"], by: ["A: 2"], gives: ["A: 2"]),
        .init(
            "9111 §4.3.3: no validator, but only one response was asked about", ["ETag: \"a\""], by: ["A: 2"],
            gives: ["ETag: \"a\"", "A: 2"]),
        .init(
            "9111 §3.2: fields of the 304 replace stored ones, others stay", ["A: 1", "B: 1"], by: ["b: 2", "C: 2"],
            gives: ["A: 1", "b: 2", "C: 2"]),
        .init(
            "9111 §3.2: all lines of a name are replaced", ["A: 1", "A: 2", "B: 1"], by: ["A: 3", "A: 4"],
            gives: ["B: 1", "A: 3", "A: 4"]),
        .init(
            "9111 §3.2: the lifetime is replaced", ["Cache-Control: max-age=1", "Expires: 0"],
            by: ["Cache-Control: max-age=9"],
            gives: ["Expires: 0", "Cache-Control: max-age=9"]),
        .init(
            "9111 §3.2: Content-Length is not replaced", ["Content-Length: 36"], by: ["Content-Length: 0"],
            gives: ["Content-Length: 36"]),
        .init(
            "9111 §3.2: fields that describe the body are not replaced",
            ["Content-Type: image/png", "Content-Encoding: gzip"],
            by: ["Content-Type: text/plain", "Content-Encoding: br", "Content-Range: bytes 0-1/2"],
            gives: ["Content-Type: image/png", "Content-Encoding: gzip"]),
        .init(
            "9530 §2: the digest is not replaced by that of an empty body", ["A: 1"],
            by: ["Content-Digest: x", "Content-MD5: x"],
            gives: ["A: 1"]),
        .init(
            "9111 §3.2: fields that must not be stored are left out", ["A: 1"],
            by: ["Connection: B", "B: 1", "Keep-Alive: x", "Set-Cookie: a=b"], gives: ["A: 1"]),
        .init("9111 §4.2.3: the old Age is removed", ["Age: 500", "A: 1"], by: ["A: 2"], gives: ["A: 2"]),
        .init("9111 §4.2.3: the new Age counts", ["Age: 500"], by: ["Age: 3"], gives: ["Age: 3"]),
        .init("9110 §6.6.1: the old Date is removed", ["Date: \(Moment.hundredBefore)"], by: ["A: 1"], gives: ["A: 1"]),
        .init(
            "9111 §5.2.2.4: no-cache names another field", ["A: 1", "B: 1"], by: ["Cache-Control: no-cache=\"A\""],
            gives: ["B: 1", "Cache-Control: no-cache=\"A\""]),
    ]

    private func freshen(_ stored: StoredResponse, by lines: [String], ask: [String] = []) -> StoredResponse? {
        CacheRules.freshened(
            stored, by: responseFields(lines), for: request(ask), requestTime: HTTPCacheCase.start + 500,
            responseTime: HTTPCacheCase.start + 501)
    }

    @Test(arguments: cases) func freshens(_ test: Case) throws {
        let fresh = freshen(try #require(response(test.stored)), by: test.notModified)
        #expect((fresh == nil) == (test.gives == nil))
        if let gives = test.gives { #expect(lines(fresh?.fields) == gives) }
    }

    @Test("9111 §4.3.4, §4.2.3: its age starts anew")
    func times() throws {
        // given
        let old = try #require(response(["Cache-Control: max-age=60", "Age: 50", "ETag: \"a\""]))
        // when
        let fresh = try #require(freshen(old, by: ["ETag: \"a\""]))
        // then
        #expect(CacheRules.answer(to: request(), stored: fresh, now: HTTPCacheCase.start + 503) == .fresh(age: 3))
        #expect(fresh.status == 200 && fresh.family == old.family && fresh.url == old.url)
    }

    @Test("9111 §4.1: a 304 that adds a field to Vary")
    func newVary() throws {
        let old = try #require(response(["Cache-Control: max-age=60", "ETag: \"a\""]))
        let fresh = try #require(freshen(old, by: ["ETag: \"a\"", "Vary: A"], ask: ["A: 1"]))
        #expect(CacheRules.selects(fresh, request(["A: 1"])) && !CacheRules.selects(fresh, request(["A: 2"])))
    }

    @Test("9111 §5.2.2.5, §4.1: a 304 that forbids storing")
    func noLongerKept() throws {
        let old = try #require(response(["ETag: \"a\""]))
        #expect(CacheRules.mayBeKept(old))
        #expect(!CacheRules.mayBeKept(try #require(freshen(old, by: ["Cache-Control: no-store"]))))
        #expect(!CacheRules.mayBeKept(try #require(freshen(old, by: ["Vary: *"]))))
    }
}

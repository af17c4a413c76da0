import SDDBase
import SDDCaches
import Testing

@Suite struct CacheRulesStaleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: [String]
        let request: CacheableRequest
        let after: Int64
        let failure: CacheRules.Failure
        let isServed: Bool

        init(
            _ rule: String, _ control: String, ask: [String] = [], after: Int64 = 65,
            failure: CacheRules.Failure = .network, isOffline: Bool = false, _ isServed: Bool
        ) {
            testDescription = rule
            stored = ["Cache-Control: " + control]
            request = SDDCachesTests.request(ask, isOffline: isOffline)
            self.after = after
            self.failure = failure
            self.isServed = isServed
        }
    }

    static let cases: [Case] = [
        .init("9111 §4.2.4: not allowed by any directive", "max-age=60", false),
        .init("9111 §4.2.4: not allowed for 503 either", "max-age=60", failure: .status(503), false),
        .init("5861 §4: a network failure", "max-age=60, stale-if-error=10", true),
        .init("5861 §4: 500", "max-age=60, stale-if-error=10", failure: .status(500), true),
        .init("5861 §4: 502", "max-age=60, stale-if-error=10", failure: .status(502), true),
        .init("5861 §4: 503", "max-age=60, stale-if-error=10", failure: .status(503), true),
        .init("5861 §4: 504", "max-age=60, stale-if-error=10", failure: .status(504), true),
        .init("5861 §4: not 501", "max-age=60, stale-if-error=10", failure: .status(501), false),
        .init("5861 §4: not 404", "max-age=60, stale-if-error=10", failure: .status(404), false),
        .init("5861 §4: not 429", "max-age=60, stale-if-error=10", failure: .status(429), false),
        .init("5861 §4: at the end of the window", "max-age=60, stale-if-error=10", after: 69, true),
        .init("5861 §4: not after the window", "max-age=60, stale-if-error=10", after: 70, false),
        .init("5861 §4: a window of 0", "max-age=60, stale-if-error=0", after: 60, false),
        .init("5861 §4: a window that is not a number", "max-age=60, stale-if-error=x", false),
        .init("5861 §4: stale-if-error of the request", "max-age=60", ask: ["Cache-Control: stale-if-error=10"], true),
        .init(
            "5861 §4: stale-if-error of the request, after the window", "max-age=60",
            ask: ["Cache-Control: stale-if-error=10"], after: 70,
            false),
        .init(
            "5861 §4: the longer window counts", "max-age=60, stale-if-error=1",
            ask: ["Cache-Control: stale-if-error=10"],
            true),
        .init("9111 §5.2.2.2: must-revalidate", "max-age=60, stale-if-error=10, must-revalidate", false),
        .init("9111 §5.2.2.4: no-cache", "no-cache, stale-if-error=10", after: 5, false),
        .init(
            "9111 §5.2.2.8: proxy-revalidate is for shared caches only",
            "max-age=60, stale-if-error=10, proxy-revalidate", true),
        .init("9111 §5.2.2.5: no-store", "max-age=60, stale-if-error=10, no-store", false),
        .init(
            "9111 §5.2.1.4: the request's no-cache", "max-age=60, stale-if-error=10", ask: ["Cache-Control: no-cache"],
            false),
        .init(
            "9111 §5.2.1.1: the request's max-age", "max-age=60, stale-if-error=10", ask: ["Cache-Control: max-age=9"],
            false),
        .init(
            "9111 §5.2.1.3: the request's min-fresh", "max-age=60, stale-if-error=10",
            ask: ["Cache-Control: min-fresh=9"], false),
        .init(
            "9111 §5.2.1.1: fresh, but not for the request", "max-age=60", ask: ["Cache-Control: max-age=9"], after: 10,
            false),
        .init("9111 §4.2.4: offline", "max-age=60, must-revalidate", after: 9999, isOffline: true, true),
        .init("9111 §5.2.2.5: offline, but no-store", "no-store", isOffline: true, false),
    ]

    @Test(arguments: cases) func serves(_ test: Case) throws {
        let stored = try #require(response(test.stored))
        let now = HTTPCacheCase.start + test.after
        #expect(
            CacheRules.mayServeStale(stored, test.request, now: now, failure: test.failure) == test.isServed)
    }

    @Test("9111 §4.1: not another variant")
    func variants() throws {
        let stored = try #require(response(["Cache-Control: stale-if-error=10", "Vary: A"], asked: ["A: 1"]))
        let now = HTTPCacheCase.start
        #expect(CacheRules.mayServeStale(stored, request(["A: 1"]), now: now, failure: .network))
        #expect(!CacheRules.mayServeStale(stored, request(["A: 2"]), now: now, failure: .network))
    }

    @Test(
        "9111 §4.4: methods and statuses that invalidate",
        arguments: [
            ("POST", 200, true), ("PUT", 204, true), ("DELETE", 302, true), ("PATCH", 399, true), ("NOBODY", 200, true),
            ("get", 200, true), ("POST", 400, false), ("POST", 500, false), ("POST", 199, false), ("GET", 200, false),
            ("HEAD", 200, false), ("OPTIONS", 200, false), ("TRACE", 200, false),
        ] as [(String, Int32, Bool)])
    func invalidates(method: String, status: Int32, isInvalidating: Bool) {
        #expect(CacheRules.invalidates(method: method, status: status) == isInvalidating)
    }

    @Test("9111 §4.4: Location and Content-Location are invalidated too, if of the same origin")
    func alsoInvalidated() {
        let fields = responseFields(["Content-Location: /b", "Location: /a", "Location: http://b.test/"])
        let urls = CacheRules.alsoInvalidated(by: fields) { reference in
            reference.hasPrefix("/") ? "http://a.test" + reference : nil
        }
        #expect(urls == ["http://a.test/a", "http://a.test/b"])
        #expect(CacheRules.alsoInvalidated(by: ResponseFields()) { $0 } == [])
    }
}

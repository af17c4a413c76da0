import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

/// RFC 9111 §4, RFC 9110 §15.4: the response behind a redirect is stored under the requested URL, and revalidated each
/// time, since the redirect itself may have changed.
@Suite struct HTTPCacheRedirectTests {
    @Test(arguments: cases) func revalidatesRedirectsEachTime(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "If-None-Match: \"a\""
    private static func redirect(to path: String, _ fields: String...) -> HTTPStep {
        var step = HTTPStep.answered(status: 302).status(200)
        step.replies[0].reply.fields = ["Location: /script/s\(path)"] + fields
        return step
    }
    private static func asking(_ step: HTTPStep) -> HTTPStep {
        var step = step
        (step.conditions, step.conditionsPath) = ([tag], "/b")
        return step
    }
    private static let first = redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=3600", "ETag: \"a\"")
    private static let still = asking(redirect(to: "/b").then(304, at: "/b")).from(.httpRevalidated).body(of: 0)

    private static func varying(for person: String) -> HTTPStep {
        redirect(to: "/b", "Vary: X-Person").then(at: "/b", "Cache-Control: max-age=3600", "ETag: \"a\"")
            .asking("X-Person: \(person)")
    }

    static let cases: [HTTPSequence] = [
        .init(
            "9111 §4.1: what selects the redirect selects what is behind it", varying(for: "anna"),
            HTTPStep.notCached.offline.asking("X-Person: bob"), varying(for: "bob"),
            HTTPStep.fresh.offline.asking("X-Person: anna"),
            HTTPStep.fresh.offline.asking("X-Person: bob").body(of: 2)),
        .init("9111 §4: revalidated, though it is fresh", first, still, still),
        .init(
            "9110 §15.4.2: also if the redirect is cacheable",
            redirect(to: "/b", "Cache-Control: max-age=3600").then(
                at: "/b", "Cache-Control: max-age=3600", "ETag: \"a\""), still),
        .init(
            "9111 §4: without a validator it is fetched again",
            redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=3600"), redirect(to: "/b").then(at: "/b")),
        .init("9111 §4.3.1: another URL is not asked", first, redirect(to: "/c").then(at: "/c")),
        .init(
            "9111 §4.3.4: a 304 of another URL is about another picture", first,
            redirect(to: "/c").then(304, at: "/c").then(302, "Location: /script/s/c").then(at: "/c")),
        .init(
            "9111 §4: the redirect is gone", first, .answered("Cache-Control: max-age=3600"),
            .fresh.body(of: 1)),
        .init("9111 §4: the target is not stored under its own URL", first, HTTPStep.answered().at("/b")),
        .init(
            "9111 §5.2.1.7: only-if-cached is not answered", first,
            .notCached.asking("Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.2: max-stale is not answered either",
            redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=60", "ETag: \"a\""),
            still.after(100).asking("Cache-Control: max-stale")),
        .init("9111 §4.2.4: offline it is served", first, .fresh.offline),
        .init(
            "5861 §3: it is not served stale",
            redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""),
            still.after(100)),
        .init(
            "9111 §4.4: a POST to its URL removes it", first, .answered().by("POST"), redirect(to: "/b").then(at: "/b")),
    ]

    @Test("a URL that differs only in what the keys leave out is no redirect")
    func ignoredParametersAreNoRedirect() throws {
        // given
        let world = try HTTPCacheWorld(ignoring: KeyFilter(dropping: ["token"]))
        world.server.script(
            "s", ScriptedReply(200, ["Cache-Control: max-age=60", "ETag: \"a\""], body: Array("picture".utf8)),
            ScriptedReply(304))
        _ = try world.run(world.request("/script/s?token=1"))
        #expect(world.flush())
        // when
        let fresh = try world.run(world.request("/script/s?token=2"))
        world.time.pass(seconds: 100)
        let stale = try world.run(world.request("/script/s?token=3"))
        // then
        #expect(fresh.origin == .httpFresh && fresh.text == "picture")
        #expect(stale.origin == .httpRevalidated && stale.text == "picture" && world.server.requests.count == 2)
    }
}

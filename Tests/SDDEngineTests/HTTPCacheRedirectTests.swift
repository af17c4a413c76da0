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
        step.conditions = [tag]
        return step
    }
    private static let first = redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=3600", "ETag: \"a\"")
    private static let still = asking(redirect(to: "/b").then(304, at: "/b")).from(.httpRevalidated).body(of: 0)

    static let cases: [HTTPSequence] = [
        .init("9111 §4: asked about, though it is fresh", first, still, still),
        .init(
            "9110 §15.4.2: also if the redirect could have been kept",
            redirect(to: "/b", "Cache-Control: max-age=3600").then(
                at: "/b", "Cache-Control: max-age=3600", "ETag: \"a\""), still),
        .init(
            "9111 §4: without a validator it is fetched again",
            redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=3600"), redirect(to: "/b").then(at: "/b")),
        .init("9111 §4: to another place", first, asking(redirect(to: "/c")).then(at: "/c")),
        .init(
            "9111 §4.3.4: a 304 of another place speaks of another picture", first,
            asking(redirect(to: "/c").then(304, at: "/c")).then(302, "Location: /script/s/c").then(at: "/c")),
        .init(
            "9111 §4: the redirect has gone", first, .replaced(by: tag, says: ["Cache-Control: max-age=3600"]),
            .fresh.body(of: 1)),
        .init("9111 §4: what lies behind is not stored for its own URL", first, HTTPStep.answered().at("/b")),
        .init(
            "9111 §5.2.1.7: only-if-cached finds nothing that would do", first,
            .notCached.asking("Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.2: nor does max-stale make it so",
            redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=60", "ETag: \"a\""),
            still.after(100).asking("Cache-Control: max-stale")),
        .init("9111 §4.2.4: offline it is what there is", first, .fresh.offline),
        .init(
            "5861 §3: nor is it served stale meanwhile",
            redirect(to: "/b").then(at: "/b", "Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""),
            still.after(100)),
        .init(
            "9111 §4.4: a POST to its URL forgets it", first, .answered().by("POST"), redirect(to: "/b").then(at: "/b")),
    ]
}

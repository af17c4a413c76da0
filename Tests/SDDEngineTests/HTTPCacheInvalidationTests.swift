import TestSupport
import Testing

@testable import SDDEngine

/// RFC 9111 §4.4: unsafe requests invalidate stored responses.
@Suite struct HTTPCacheInvalidationTests {
    @Test(arguments: cases) func invalidatesChangedResponses(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let stored = HTTPStep.answered("Cache-Control: max-age=3600")
    private static let other = stored.at("/other")
    private static let inGerman = HTTPStep.answered("Vary: Accept-Language", "Cache-Control: max-age=3600").asking(
        "Accept-Language: de")
    private static let inFrench = HTTPStep.answered("Vary: Accept-Language", "Cache-Control: max-age=3600").asking(
        "Accept-Language: fr")

    /// A POST whose redirect keeps the method.
    private static func redirected(_ fields: String..., to path: String = "/other") -> HTTPStep {
        var step = HTTPStep.answered(status: 307).by("POST").status(200)
        step.replies[0].reply.fields = ["Location: /script/s\(path)"]
        step.replies.append((path, ScriptedReply(200, fields)))
        return step
    }

    static let cases: [HTTPSequence] = [
        .init("9111 §4.4: POST", stored, .answered().by("POST"), .answered()),
        .init(
            "9111 §4.4: not by a GET that bypasses the cache", stored, .answered().asking("Cache-Control: no-store"),
            .fresh),
        .init("9111 §4.4: not by an error of the client", stored, .answered(status: 400).by("POST"), .fresh),
        .init(
            "9111 §4.4: the URL of Location", stored, other,
            .answered("Location: /script/s/other", status: 201).by("POST"), HTTPStep.answered().at("/other")),
        .init(
            "9111 §4.4: the URL of Content-Location", stored, other,
            .answered("Content-Location: /script/s/other").by("POST"), HTTPStep.answered().at("/other")),
        .init(
            "9111 §4.4: a relative Location", stored, other, .answered("Location: s/other", status: 201).by("POST"),
            HTTPStep.answered().at("/other")),
        .init(
            "9111 §4.4: no other URL", stored, other, .answered().by("POST"), HTTPStep.fresh.at("/other").body(of: 1)),
        .init(
            "9111 §4.4: no URL of another origin", stored, other,
            .answered("Location: http://other.test/script/s/other", status: 201).by("POST"),
            HTTPStep.fresh.at("/other").body(of: 1)),
        .init(
            "9111 §4.4: not by the Location of an error", stored, other,
            .answered("Location: /script/s/other", status: 404).by("POST"), HTTPStep.fresh.at("/other").body(of: 1)),
        .init(
            "9111 §4.4: behind a redirect, the URL that has answered", stored, other, redirected("Vary: X"),
            .answered(),
            HTTPStep.answered().at("/other")),
        .init(
            "9111 §4.4: behind a redirect, places are those of the URL that has answered", stored.at("/b/c"),
            redirected("Location: b/c", to: "/b/other"), HTTPStep.answered("Cache-Control: max-age=3600").at("/b/b/c"),
            HTTPStep.fresh.at("/b/c").body(of: 0)),
        .init(
            "9110 §8.7: what answered for another URL is not stored",
            redirected("Content-Location: /script/s", "Cache-Control: max-age=3600"), .answered()),
        .init("9111 §4.4: every variant", inGerman, inFrench, .answered().by("POST"), inFrench, inGerman),
        .init(
            "9111 §4.4: also by a request with Authorization", stored,
            .answered().by("POST").asking("Authorization: Bearer one"), .answered()),
        .init(
            "9111 §4.4: also the entry of that user", stored.asking("Authorization: Bearer one"),
            .answered().by("POST").asking("Authorization: Bearer one"), .answered().asking("Authorization: Bearer one")),
        .init(
            "9111 §4: the response to a POST is not stored", .answered("Cache-Control: max-age=3600").by("POST"),
            .answered()),
        .init(
            "9110 §9.3.3: unless it names its URL and its lifetime",
            .answered("Cache-Control: max-age=3600", "Content-Location: s").by("POST"), .fresh),
        .init(
            "9110 §9.3.3: no lifetime", .answered("Content-Location: s", "Last-Modified: {-36000}").by("POST"),
            .answered()),
        .init(
            "9110 §9.3.3: another URL", .answered("Cache-Control: max-age=3600", "Content-Location: t").by("POST"),
            .answered()),
        .init(
            "9110 §9.3.3: another status",
            .answered("Cache-Control: max-age=3600", "Content-Location: s", status: 201).by("POST"), .answered()),
        .init(
            "9110 §9.3.3: another method",
            .answered("Cache-Control: max-age=3600", "Content-Location: s").by("PUT"), .answered()),
        .init(
            "9110 §9.3.3: it is not answered itself", stored, .answered().by("POST"), .answered().by("POST")),
        .init(
            "9111 §4.4: and every variant is gone", inGerman, inFrench,
            .answered("Cache-Control: max-age=3600", "Content-Location: s").by("POST"), .fresh.body(of: 2),
            HTTPStep.fresh.body(of: 2).asking("Accept-Language: fr")),
    ]
}

import Testing

@testable import SDDEngine

/// RFC 9111 §4.1: which of several responses to a URL answers a request.
@Suite struct HTTPCacheVaryTests {
    @Test(arguments: cases)
    func selectsTheVariantAsTheServerWould(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static func german(_ step: HTTPStep) -> HTTPStep { step.asking("Accept-Language: de") }
    private static func french(_ step: HTTPStep) -> HTTPStep { step.asking("Accept-Language: fr") }
    private static func danish(_ step: HTTPStep) -> HTTPStep { step.asking("Accept-Language: da") }
    private static let byLanguage = HTTPStep.answered("Vary: Accept-Language", "Cache-Control: max-age=3600")

    static let cases: [HTTPSequence] = [
        .init("9111 §4.1: the same fields", german(byLanguage), german(.fresh)),
        .init("9111 §4.1: other fields", german(byLanguage), french(byLanguage)),
        .init(
            "9111 §4.1: three variants, each of them kept", german(byLanguage), french(byLanguage), danish(byLanguage),
            german(.fresh), french(.fresh).body(of: 1), danish(.fresh).body(of: 2)),
        .init(
            "9111 §4.1: a variant is revalidated with its own tag",
            german(.answered("Vary: Accept-Language", "ETag: \"de\"")),
            french(.answered("Vary: Accept-Language", "ETag: \"fr\"")),
            german(.validated(by: "If-None-Match: \"de\"")), french(.validated(by: "If-None-Match: \"fr\"")).body(of: 1)
        ),
        .init(
            "9111 §4.1: replacing the first variant removes the others",
            german(.answered("Vary: Accept-Language", "ETag: \"de\"")), french(byLanguage),
            german(
                .replaced(by: "If-None-Match: \"de\"", says: ["Vary: Accept-Language", "Cache-Control: max-age=3600"])),
            french(byLanguage), german(.fresh).body(of: 2)),
        .init(
            "9111 §4.1: replacing the second variant does, too",
            german(byLanguage), french(.answered("Vary: Accept-Language", "ETag: \"fr\"")),
            french(
                .replaced(by: "If-None-Match: \"fr\"", says: ["Vary: Accept-Language", "Cache-Control: max-age=3600"])),
            german(.fresh), french(.fresh).body(of: 2)),
        .init("9111 §4.1: * never matches", .answered("Vary: *", "Cache-Control: max-age=3600"), .answered()),
        .init(
            "9111 §4.1: the Vary of the newest response counts", german(byLanguage),
            french(.answered("Vary: Accept-Language, X-A", "Cache-Control: max-age=3600")), french(.fresh).body(of: 1)),
        .init(
            "9111 §4.1: a response without Vary replaces all", german(byLanguage),
            french(.answered("Cache-Control: max-age=3600")), german(.fresh).body(of: 1)),
        .init(
            "9111 §4.1: offline another variant is not served", german(byLanguage), french(.notCached).offline,
            german(.fresh).offline),
        // Cookies of the jar are compared, too (Tests/C/test_callers.c); here the jar is empty.
        .init(
            "9111 §4.1: the jar has no cookie, as when it was stored",
            HTTPStep.answered("Vary: Cookie", "Cache-Control: max-age=3600").withCookies,
            HTTPStep.fresh.withCookies),
        .init(
            "9111 §4.1: the jar has no cookie, and it was stored without a jar",
            .answered("Vary: Cookie", "Cache-Control: max-age=3600"),
            HTTPStep.fresh.withCookies),
        .init(
            "9111 §4.1: a Cookie of the request",
            HTTPStep.answered("Vary: Cookie", "Cache-Control: max-age=3600").asking("Cookie: a=1"),
            .fresh.asking("Cookie: a=1")),
        .init(
            "9111 §4.1: another Cookie",
            HTTPStep.answered("Vary: Cookie", "Cache-Control: max-age=3600").asking("Cookie: a=1"),
            .answered().asking("Cookie: a=2")),
    ]
}

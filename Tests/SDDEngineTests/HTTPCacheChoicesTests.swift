import Testing

@testable import SDDEngine

/// What RFC 9111 allows a cache and this one does not do. docs/guides/caching.md lists it, and says why.
@Suite struct HTTPCacheChoicesTests {
    @Test(arguments: cases) func doesLess(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let stored = HTTPStep.answered("Cache-Control: max-age=60", "ETag: \"a\"")

    static let cases: [HTTPSequence] = [
        .init(
            "9111 §7.3: Set-Cookie is not stored, the rest is",
            .answered("Cache-Control: max-age=60", "Set-Cookie: a=b", "Set-Cookie2: a=b", "A: 1"),
            .fresh.showing("Set-Cookie", "Set-Cookie2", "A: 1")),
        .init("9112 §6.1: a coding that was not asked for", .answered("Transfer-Encoding: junk").fails(.protocol)),
        .init(
            "9111 §4.1: a Cookie has entries of its own", stored, .answered().asking("Cookie: a=b"),
            .fresh),
        .init(
            "9111 §4.1: not by the language of the response",
            HTTPStep.answered("Cache-Control: max-age=60", "Vary: Accept-Language", "Content-Language: de").asking(
                "Accept-Language: en, de"),
            .answered().asking("Accept-Language: fr;q=0.5, de;q=1.0")),
        .init(
            "5861 §4: nothing stale in place of an error, unless that is allowed", stored,
            .replaced(by: "If-None-Match: \"a\"", status: 503).after(61)),
        .init(
            "9111 §3.4: the rest of parts without a strong tag is not asked for",
            HTTPStep.answered("Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", status: 206)
                .asking("Range: bytes=0-4").sending("01234"),
            .answered("Cache-Control: max-age=60").asking("Range: bytes=5-"), .fresh.body(of: 1)),
    ]
}

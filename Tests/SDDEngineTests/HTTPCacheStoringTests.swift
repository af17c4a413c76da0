import Testing

@testable import SDDEngine

/// RFC 9111 §3: which responses are stored, and which of their fields.
@Suite struct HTTPCacheStoringTests {
    @Test(arguments: cases) func storesWhatMayBeStored(_ sequence: HTTPSequence) throws { try sequence.run() }

    static let cases: [HTTPSequence] = [
        .init("9111 §5.2.2.5: no-store", .answered("Cache-Control: no-store, max-age=3600"), .answered()),
        .init(
            "9111 §5.2.1.5: the request's no-store",
            .answered("Cache-Control: max-age=3600").asking("Cache-Control: no-store"), .answered()),

        // Statuses
        .init(
            "9111 §3: 204, which has no body", .answered("Cache-Control: max-age=3600", status: 204), .fresh.status(204)
        ),
        .init("9111 §3: 404", .answered("Cache-Control: max-age=3600", status: 404), .fresh.status(404)),
        .init(
            "9111 §3.3, 9110 §15.3.7: an unrequested 206 is an error, and not stored",
            .answered("Cache-Control: max-age=3600", "Content-Range: bytes 0-5/6", status: 206).fails(.protocol),
            .answered()),
        .init(
            "9110 §15.5.5: a 404 that the request refuses is not read, and not stored",
            .answered("Cache-Control: max-age=3600", status: 404).accepting("200-299").fails(.invalidStatusCode),
            .answered()),
        .init(
            "9110 §15.5.5: a stored 404 is an error for a request that refuses it",
            .answered("Cache-Control: max-age=3600", status: 404),
            HTTPStep.fresh.accepting("200-299").fails(.invalidStatusCode)),

        // Bodies
        .init(
            "9111 §3.3: a body that breaks off",
            .answered("Cache-Control: max-age=3600", "ETag: \"a\"").cut(after: 3).fails(.truncatedBody), .answered()),
        .init(
            "9111 §3.3: a body that breaks off after the head",
            .answered("Cache-Control: max-age=3600").cut(after: 0).fails(.truncatedBody),
            .answered()),
        .init(
            "9111 §3.3: a broken body leaves the stored response", .answered("ETag: \"a\""),
            .replaced(by: "If-None-Match: \"a\"", says: ["Cache-Control: max-age=60"]).cut(after: 3).fails(
                .truncatedBody),
            .validated(by: "If-None-Match: \"a\"")),

        // Fields
        .init(
            "9111 §3.1: fields of the connection are not stored",
            .answered("Cache-Control: max-age=3600", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic", "X-A: 1"),
            .fresh.showing("Keep-Alive", "Proxy-Authenticate", "X-A: 1")),
        .init(
            "9111 §7.3: a Set-Cookie is not delivered twice",
            .answered("Cache-Control: max-age=3600", "Set-Cookie: a=1").showing("Set-Cookie: a=1"),
            .fresh.showing("Set-Cookie")),
        .init(
            "9111 §7.3: a Set-Cookie does not prevent storing",
            HTTPStep.answered("Cache-Control: max-age=3600", "Set-Cookie: a=1").withCookies,
            HTTPStep.fresh.withCookies),
        .init(
            "9111 §5.1: the result has an Age", .answered("Cache-Control: max-age=3600"),
            .fresh.showing("Content-Length: 6")),

        // Keys
        .init("9111 §2: another path", .answered("Cache-Control: max-age=3600"), .answered().at("/other")),
        .init("9110 §4.2.3: the query counts", .answered("Cache-Control: max-age=3600"), .fresh),
        .init(
            "9110 §9.3.2: HEAD bypasses the cache", .answered("Cache-Control: max-age=3600"), .answered().by("HEAD"),
            .fresh),
        .init(
            "9110 §9.3.3: POST is not answered by the cache", .answered("ETag: \"a\""),
            .answered("Cache-Control: max-age=3600", status: 500).by("POST"), .validated(by: "If-None-Match: \"a\"")),
        .init(
            "9110 §14.2: a whole response to a Range is stored",
            .answered("Cache-Control: max-age=3600").asking("Range: bytes=0-5"),
            .fresh),

        // Credentials
        .init(
            "9111 §3.5: with Authorization it is stored for that user",
            .answered("Cache-Control: max-age=3600").asking("Authorization: Bearer one"),
            .fresh.asking("Authorization: Bearer one")),
        .init(
            "9111 §3.5: it is not stored for another user",
            .answered("Cache-Control: max-age=3600").asking("Authorization: Bearer one"),
            .answered().asking("Authorization: Bearer two")),
        .init(
            "9111 §3.5: it is not stored for requests without one",
            .answered("Cache-Control: max-age=3600").asking("Authorization: Bearer one"), .answered()),
        .init(
            "9111 §3.5: a response without Authorization is not for a user", .answered("Cache-Control: max-age=3600"),
            .answered().asking("Authorization: Bearer one")),
        .init(
            "9111 §3.5: each user has an entry",
            .answered("Cache-Control: max-age=3600").asking("Authorization: Bearer one"),
            .answered("Cache-Control: max-age=3600").asking("Authorization: Bearer two"),
            .fresh.asking("Authorization: Bearer one")),
        .init(
            "9111 §3.5: a bearer token of the credential",
            HTTPStep.answered("Cache-Control: max-age=3600").withBearer("one"), HTTPStep.fresh.withBearer("one"),
            HTTPStep.answered().withBearer("two")),
        .init(
            "9111 §3: only requests with the option are stored",
            HTTPStep.answered("Cache-Control: max-age=3600").wishing([]),
            .answered()),
        .init(
            "9111 §4: only requests with the option are answered by the cache",
            .answered("Cache-Control: max-age=3600"),
            HTTPStep.answered().wishing([]), .fresh),
    ]
}

import Testing

@testable import SDDEngine

/// RFC 9111 §4.3: revalidating a stored response, and the effect of the answer.
@Suite struct HTTPCacheRevalidationTests {
    @Test(arguments: cases)
    func revalidatesWithTheStoredValidators(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "If-None-Match: \"a\""

    private static let old = HTTPStep.answered("Cache-Control: max-age=60, stale-if-error=600", "ETag: \"a\"")

    static let cases: [HTTPSequence] = [
        // Conditions
        .init("9111 §4.3.1: an entity tag", .answered("ETag: \"a\""), .validated(by: tag)),
        .init(
            "9110 §8.8.3: an empty entity tag is valid", .answered("ETag: \"\""), .validated(by: "If-None-Match: \"\"")),
        .init(
            "9111 §4.3.1: a date", .answered("Cache-Control: max-age=0", "Last-Modified: {-7200}"),
            .validated(by: "If-Modified-Since: {-7200}")),
        .init(
            "9111 §4.3.2: the request's own condition bypasses the cache",
            .answered("Cache-Control: max-age=3600", "ETag: \"a\""),
            .answered(status: 304).asking("If-None-Match: \"a\"").fails(.notModified), .fresh),

        // 304
        .init(
            "9111 §4.3.4: a 304 makes it fresh again", .answered("Cache-Control: max-age=60", "ETag: \"a\""),
            .validated(by: tag).after(61), .fresh.after(30)),
        .init(
            "9111 §4.3.4: the 304 sets the lifetime", .answered("Cache-Control: max-age=60", "ETag: \"a\""),
            .validated(by: tag, says: ["Cache-Control: max-age=3600"]).after(61), .fresh.after(3000)),
        .init(
            "9111 §3.2: its fields replace the stored ones",
            .answered("ETag: \"a\"", "X-One: 1", "X-Two: 2"),
            .validated(by: tag, says: ["X-One: 3"]).showing("X-One: 3", "X-Two: 2", "ETag: \"a\"")),
        .init(
            "9111 §3.2: the new fields are stored", .answered("ETag: \"a\"", "X-One: 1"),
            .validated(by: tag, says: ["X-One: 3", "Cache-Control: max-age=3600"]), .fresh.showing("X-One: 3")),
        .init(
            "9111 §4.3.4: the old Age does not count any more",
            .answered("Cache-Control: max-age=60", "ETag: \"a\"", "Age: 100"), .validated(by: tag), .fresh),
        .init(
            "9111 §4.3.4: the Age of a 304 counts", .answered("Cache-Control: max-age=60", "ETag: \"a\"", "Age: 100"),
            .validated(by: tag, says: ["Age: 100"]), .validated(by: tag)),
        .init(
            "9111 §4.3.4: a 304 with the same tag", .answered("ETag: \"a\""),
            .validated(by: tag, says: ["ETag: \"a\""])),
        .init(
            "9111 §4.3.4: the opaque part of a weak tag counts", .answered("ETag: \"a\""),
            .validated(by: tag, says: ["ETag: W/\"a\""])),
        .init(
            "9111 §4.3.4: after a 304 with another tag the whole is requested", .answered("ETag: \"a\""),
            .replaced(by: tag, says: ["ETag: \"b\""], status: 304).then(200, "ETag: \"c\"").status(200),
            .validated(by: "If-None-Match: \"c\"").body(of: 1)),
        .init(
            "9111 §4.3.4: after a 304 with another date the whole is requested",
            .answered("Cache-Control: max-age=0", "Last-Modified: {-7200}"),
            .replaced(by: "If-Modified-Since: {-7200}", says: ["Last-Modified: {-60}"], status: 304).then().status(200)),
        .init(
            "9111 §5.2.2.5: a 304 with no-store removes the response", .answered("ETag: \"a\""),
            .validated(by: tag, says: ["Cache-Control: no-store"]), .answered()),
        .init("9110 §15.4.5: an unrequested 304", .answered(status: 304).fails(.notModified), .answered()),

        // A response that is not stored
        .init(
            "9111 §4.3.3: a 200 with no-store removes it", old,
            .replaced(by: tag, says: ["Cache-Control: no-store"]).after(100), .notCached.offline),
        .init(
            "9111 §4.3.3: a 410 with no-store removes it", old,
            .replaced(by: tag, says: ["Cache-Control: no-store"], status: 410).after(100), .answered(status: 503)),
        .init(
            "9111 §4.3.3: a 404 that is not accepted removes it", old,
            .replaced(by: tag, status: 404).after(100).accepting("200-299").fails(.invalidStatusCode),
            .notCached.offline),
        .init(
            "9111 §4.3.3: a 429 leaves it", old,
            .replaced(by: tag, status: 429).after(100).accepting("200-299").fails(.invalidStatusCode), .stale.offline),
        .init(
            "9111 §4.3.3: in the background, too",
            .answered("Cache-Control: max-age=60, stale-while-revalidate=600", "ETag: \"a\""),
            .stale.after(100).meanwhile(410, by: [tag], "Cache-Control: no-store"), .notCached.offline),

        // Other answers
        .init(
            "9111 §4.3.3: a 200 replaces it", .answered("ETag: \"a\""),
            .replaced(by: tag, says: ["ETag: \"b\"", "Cache-Control: max-age=3600"]), .fresh.body(of: 1)),
        .init(
            "9111 §4.3.3: a 200 without a validator replaces it, too", .answered("ETag: \"a\""),
            .replaced(by: tag), .answered()),
        .init(
            "9111 §4.3.3: a 404 is delivered, and replaces it", .answered("ETag: \"a\""),
            .replaced(by: tag, says: ["Cache-Control: max-age=3600"], status: 404), .fresh.body(of: 1).status(404)),
        .init(
            "9111 §4.3.3: a 500 is delivered, and the stored response stays", .answered("ETag: \"a\""),
            .replaced(by: tag, status: 500), .validated(by: tag)),
        .init(
            "9111 §4.3.3: a 503 with a lifetime replaces it", .answered("ETag: \"a\""),
            .replaced(by: tag, says: ["Cache-Control: max-age=60"], status: 503), .fresh.body(of: 1).status(503)),
        .init(
            "9110 §15.5.13: a 412 leaves it", .answered("ETag: \"a\""), .replaced(by: tag, status: 412),
            .validated(by: tag)),
        .init(
            "9110 §15.3.7: an unrequested 206 leaves it", .answered("ETag: \"a\""),
            .replaced(by: tag, says: ["Content-Range: bytes 0-5/100"], status: 206).fails(.protocol),
            .validated(by: tag)),

        // Directives that require it
        .init(
            "9111 §5.2.2.4: no-cache is stored and always revalidated",
            .answered("Cache-Control: no-cache, max-age=3600", "ETag: \"a\""), .validated(by: tag), .validated(by: tag)),
    ]
}

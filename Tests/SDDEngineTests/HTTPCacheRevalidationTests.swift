import Testing

@testable import SDDEngine

/// RFC 9111 §4.3: revalidating a stored response, and the effect of the answer.
@Suite struct HTTPCacheRevalidationTests {
    @Test(arguments: cases)
    func revalidatesWithTheStoredValidators(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "If-None-Match: \"a\""

    static let cases: [HTTPSequence] = [
        // Conditions
        .init("9111 §4.3.1: an entity tag", .answered("ETag: \"a\""), .validated(by: tag)),
        .init("9111 §4.3.1: a weak entity tag", .answered("ETag: W/\"a\""), .validated(by: "If-None-Match: W/\"a\"")),
        .init("9111 §4.3.1: without quotes, unchanged", .answered("ETag: a"), .validated(by: "If-None-Match: a")),
        .init(
            "9111 §4.3.1: an entity tag with a comma", .answered("ETag: \"a, b\""),
            .validated(by: "If-None-Match: \"a, b\"")),
        .init(
            "9110 §8.8.3: an empty entity tag is valid", .answered("ETag: \"\""), .validated(by: "If-None-Match: \"\"")),
        .init(
            "9111 §4.3.1: a date", .answered("Cache-Control: max-age=0", "Last-Modified: {-7200}"),
            .validated(by: "If-Modified-Since: {-7200}")),
        .init(
            "9111 §4.3.1: the date as the server wrote it",
            .answered("Cache-Control: max-age=0", "Last-Modified: {-7200 asctime}"),
            .validated(by: "If-Modified-Since: {-7200 asctime}")),
        .init(
            "9111 §4.3.1: entity tag and date",
            .answered("Cache-Control: max-age=0", "ETag: \"a\"", "Last-Modified: {-7200}"),
            .validated(by: tag, "If-Modified-Since: {-7200}")),
        .init(
            "9110 §13.1.3: an invalid date is not sent",
            .answered("Cache-Control: max-age=0", "Last-Modified: yesterday"), .answered()),
        .init(
            "9111 §4.3.2: the request's own condition bypasses the cache",
            .answered("Cache-Control: max-age=3600", "ETag: \"a\""),
            .answered(status: 304).asking("If-None-Match: \"a\"").fails(.notModified), .fresh),
        .init(
            "9111 §4.3.2: its response is not stored", .answered().asking("If-None-Match: \"x\""), .answered()),

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
            "9111 §3.2: Content-Type stays that of the body", .answered("ETag: \"a\"", "Content-Type: image/png"),
            .validated(by: tag, says: ["Content-Type: text/html"]).showing("Content-Type: image/png")),
        .init(
            "9111 §3.2: Content-Encoding stays that of the body", .answered("ETag: \"a\""),
            .validated(by: tag, says: ["Content-Encoding: br"]).showing("Content-Encoding")),
        .init(
            "9111 §3.2: Content-Range stays that of the body", .answered("ETag: \"a\""),
            .validated(by: tag, says: ["Content-Range: bytes 0-1/2"]).showing("Content-Range")),
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
            "9111 §4.3.4: a date in another form matches",
            .answered("Cache-Control: max-age=0", "Last-Modified: {-7200}"),
            .validated(by: "If-Modified-Since: {-7200}", says: ["Last-Modified: {-7200 rfc850}"])),
        .init(
            "9111 §5.2.2.5: a 304 with no-store removes the response", .answered("ETag: \"a\""),
            .validated(by: tag, says: ["Cache-Control: no-store"]), .answered()),
        .init("9110 §15.4.5: an unrequested 304", .answered(status: 304).fails(.notModified), .answered()),

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
        .init(
            "9111 §5.2.2.4: no-cache with names leaves out these fields",
            .answered("Cache-Control: no-cache=\"X-One\", max-age=3600", "X-One: 1", "X-Two: 2"),
            .fresh.showing("X-One", "X-Two: 2")),
        .init(
            "9111 §5.2.2.2: must-revalidate has no effect while it is fresh",
            .answered("Cache-Control: max-age=3600, must-revalidate"), .fresh),
        .init(
            "9111 §5.2.2.2: must-revalidate when it is stale",
            .answered("Cache-Control: max-age=60, must-revalidate", "ETag: \"a\""),
            .validated(by: tag).after(61).asking("Cache-Control: max-stale")),
        .init(
            "9111 §5.2.2.8: proxy-revalidate is for shared caches only",
            .answered("Cache-Control: max-age=60, proxy-revalidate", "ETag: \"a\""),
            .stale.after(61).asking("Cache-Control: max-stale")),
    ]
}

import Testing

@testable import SDDEngine

/// RFC 9110 §14, RFC 9111 §3.3: ranges of stored complete responses.
@Suite struct HTTPCacheRangeTests {
    @Test(arguments: cases) func ranges(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "If-None-Match: \"a\""
    private static let digits = "0123456789"
    private static let stored = HTTPStep.answered("Cache-Control: max-age=60", "ETag: \"a\"", "A: 1").sending(digits)
    private static let shield = HTTPStep.answered(
        "Cache-Control: max-age=60, stale-if-error=600, stale-while-revalidate=60", "ETag: \"a\""
    ).sending(digits)
    private static let byDate = HTTPStep.answered(
        "Cache-Control: max-age=60", "Date: {0}", "Last-Modified: {-36000}"
    ).sending(digits)
    private static let changed = HTTPStep.replaced(
        by: tag, says: ["Content-Range: bytes 1-2/10", "Cache-Control: max-age=60", "ETag: \"b\""], status: 206
    ).sending("bc").after(61).asking("Range: bytes=1-2")

    private static func asks(_ range: String, _ part: String) -> HTTPStep {
        .fresh.asking("Range: bytes=\(range)").part(part)
    }

    /// The server is asked as if nothing were stored.
    private static func isLeft(_ field: String, _ others: String..., status: Int = 200) -> HTTPStep {
        var step = HTTPStep.answered("Cache-Control: no-store", status: status)
        step.asked = [field] + others
        return step
    }

    static let cases: [HTTPSequence] = [
        .init(
            "9110 §14.1.2: the first bytes", stored,
            asks("0-1", "01").showing("Content-Range: bytes 0-1/10", "Content-Length: 2", "A: 1", "Age: 0")),
        .init("9110 §14.1.2: from a position on", stored, asks("7-", "789").showing("Content-Range: bytes 7-9/10")),
        .init("9110 §14.1.2: the last bytes", stored, asks("-3", "789").showing("Content-Range: bytes 7-9/10")),
        .init("9110 §14.1.2: beyond the end", stored, asks("8-99", "89").showing("Content-Range: bytes 8-9/10")),
        .init("9110 §14.1.2: more than there is", stored, asks("-99", digits).showing("Content-Range: bytes 0-9/10")),
        .init("9110 §14.1.2: all of it", stored, asks("0-", digits).showing("Content-Range: bytes 0-9/10")),
        .init("9110 §14.1: the unit's case", stored, HTTPStep.fresh.asking("Range: BYTES=0-0").part("0")),
        .init("9111 §5.1: Age", stored, asks("0-1", "01").after(30).showing("Age: 30")),
        .init("the whole is as it was", stored, asks("0-1", "01"), .fresh.text(digits).showing("Content-Range")),

        // Left to the server
        .init(
            "9110 §15.5.17: no such range", stored, isLeft("Range: bytes=10-", status: 416),
            .fresh.text(digits)),
        .init("9110 §14.1.2: the last 0 bytes", stored, isLeft("Range: bytes=-0", status: 416)),
        .init("9110 §14.2: several ranges", stored, isLeft("Range: bytes=0-1,3-4"), isLeft("Range: bytes=0-1,3-4")),
        .init("9110 §14.2: another unit", stored, isLeft("Range: items=0-1")),
        .init("9110 §14.1.1: the end before the start", stored, isLeft("Range: bytes=3-1")),
        .init("9110 §14.1.1: a sign", stored, isLeft("Range: bytes=+1-2")),
        .init("9110 §14.1.1: no number", stored, isLeft("Range: bytes=a-b"), isLeft("Range: bytes=-")),
        .init("9110 §14.1.1: too large a number", stored, isLeft("Range: bytes=0-99999999999999999999")),
        .init("9110 §13.2.2: another condition", stored, isLeft("Range: bytes=0-1", "If-Match: \"a\"")),
        .init("9110 §14.2: HEAD", stored, isLeft("Range: bytes=0-1").by("HEAD")),
        .init("9110 §14.2: of a 404", .answered("Cache-Control: max-age=60", status: 404), isLeft("Range: bytes=0-1")),
        .init(
            "9110 §8.4: of a body in a coding", .answered("Cache-Control: max-age=60", "Content-Encoding: identity"),
            isLeft("Range: bytes=0-1")),
        .init(
            "9111 §4.1: of another variant", .answered("Cache-Control: max-age=60", "Vary: A").asking("A: 1"),
            isLeft("Range: bytes=0-1", "A: 2")),
        .init("9111 §5.2.1.5: no-store", stored, isLeft("Range: bytes=0-1", "Cache-Control: no-store")),

        // If-Range
        .init("9110 §13.1.5: the same tag", stored, asks("0-1", "01").asking("Range: bytes=0-1", "If-Range: \"a\"")),
        .init("9110 §13.1.5: another tag", stored, isLeft("Range: bytes=0-1", "If-Range: \"b\"")),
        .init(
            "9110 §13.1.5: a weak tag", .answered("Cache-Control: max-age=60", "ETag: W/\"a\"").sending(digits),
            isLeft("Range: bytes=0-1", "If-Range: W/\"a\"")),
        .init(
            "9110 §13.1.5: the same date", byDate,
            asks("0-1", "01").asking("Range: bytes=0-1", "If-Range: {-36000}")),
        .init("9110 §13.1.5: another date", byDate, isLeft("Range: bytes=0-1", "If-Range: {-35000}")),

        // Stale responses
        .init(
            "9111 §4.3.1: after a 304", stored,
            .validated(by: tag, says: ["A: 2"]).after(61).asking("Range: bytes=8-").part("89").showing("A: 2"),
            asks("-1", "9").after(30)),
        .init("9111 §4.3.3: after a change", stored, changed, asks("1-2", "bc"), asks("2-2", "c")),
        .init("9111 §4.3.3: a new whole body", stored, .replaced(by: tag).after(61).asking("Range: bytes=1-2")),
        .init(
            "5861 §4: in place of an error", shield,
            .replaced(by: tag, status: 503).after(200).asking("Range: bytes=1-2").from(.httpStale).part("12")),
        .init(
            "5861 §3: while the server is asked", shield,
            .stale.after(100).asking("Range: bytes=1-2").part("12").meanwhile(304, by: [tag]), asks("1-2", "12")),
        .init("9111 §4.2.4: offline", stored, .stale.after(100).offline.asking("Range: bytes=1-2").part("12")),
        .init("9111 §4.2.4: offline, no such range", stored, .notCached.offline.asking("Range: bytes=10-")),
        .init(
            "9111 §5.2.1.7: only-if-cached", stored,
            asks("1-2", "12").asking("Range: bytes=1-2", "Cache-Control: only-if-cached"),
            .notCached.asking("Range: bytes=10-", "Cache-Control: only-if-cached")),
        .init(
            "9111 §5.2.1.4: no-cache", stored,
            .validated(by: tag).asking("Range: bytes=1-2", "Cache-Control: no-cache").part("12")),

        // Whole responses to a Range
        .init(
            "9110 §14.2: a server without ranges", .answered("Cache-Control: max-age=60").asking("Range: bytes=1-2"),
            .fresh, asks("0-1", "bo")),
        .init(
            "9110 §15.5.17: 416 is not stored",
            .answered("Cache-Control: max-age=60", status: 416).asking(
                "Range: bytes=9-"), .answered(status: 416).asking("Range: bytes=9-")),
    ]
}

import SDDBase
import TestSupport
import Testing

@testable import SDDTransport

/// Z17: the strong validators of responses, and how they are stored.
@Suite struct ValidatorTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let secondBefore = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let minuteBefore = "Sun, 06 Nov 1994 08:48:37 GMT"

    @Test(
        "RFC 9110 §8.8.3: strong entity tags",
        arguments: [
            ("\"xyzzy\"", true), ("\"\"", true), ("\"a!#~-\"", true), ("W/\"xyzzy\"", false), ("w/\"xyzzy\"", false),
            ("xyzzy", false), ("\"xyzzy", false), ("\"", false), ("", false), ("\"a\"b\"", false), ("\"a b\"", false),
            ("\"a\u{7F}\"", false), ("\"é\"", false), ("\"a\", \"b\"", false), ("'a'", false),
        ])
    func takesAStrongEntityTag(tag: String, isStrong: Bool) {
        let validator = Validator.strong(of: ResponseFields([("etag", tag)]))
        #expect(validator == (isStrong ? .entityTag(tag) : nil))
    }

    @Test(
        "RFC 9110 §8.8.2.2: strong dates",
        arguments: [
            (secondBefore, date, [], true), (date, date, [], false), (date, secondBefore, [], false),
            (secondBefore, date, [("Age", "0")], false), (secondBefore, date, [("Via", "1.1 a")], false),
            (minuteBefore, date, [("Via", "1.1 a")], true), (minuteBefore, date, [("Age", "9")], true),
            ("Sun, 06 Nov 1994 08:48:38 GMT", date, [("Age", "9")], false),
            (minuteBefore, "", [], false), (minuteBefore, "today", [], false), ("0", date, [], false),
            ("Sunday, 06-Nov-94 08:48:37 GMT", date, [], false), ("Sun Nov  6 08:48:37 1994", date, [], false),
            ("Mon, 06 Nov 1994 08:48:37 GMT", date, [], false), ("sun, 06 nov 1994 08:48:37 gmt", date, [], false),
            ("Sun, 06 Nov 1994 08:48:37 PST", date, [], false), ("Sun, 06 Xxx 1994 08:48:37 GMT", date, [], false),
            // §13.1.5: not if there is an entity tag, even a weak or malformed one.
            (minuteBefore, date, [("ETag", "W/\"a\"")], false), (minuteBefore, date, [("ETag", "a")], false),
        ] as [(String, String, [(String, String)], Bool)])
    func takesADateOnlyIfItIsStrong(modified: String, date: String, others: [(String, String)], isStrong: Bool) {
        // given
        let fields = [("Last-Modified", modified)] + (date.isEmpty ? [] : [("Date", date)]) + others
        // then
        let validator = Validator.strong(of: ResponseFields(fields))
        #expect(validator == (isStrong ? .lastModified(modified) : nil))
    }

    @Test func prefersTheEntityTag() {
        let fields = [("Last-Modified", Self.minuteBefore), ("Date", Self.date), ("ETag", "\"a\"")]
        #expect(Validator.strong(of: ResponseFields(fields)) == .entityTag("\"a\""))
        #expect(Validator.strong(of: ResponseFields()) == nil)
        #expect(Validator.strong(of: ResponseFields([("ETag", "\"a\""), ("etag", "\"a\"")])) == nil)
    }

    @Test(arguments: [Validator.entityTag("\"a-b\""), .entityTag("\"\""), .lastModified(date)])
    func roundTripsThroughItsBytes(validator: Validator) {
        #expect(validator.encoded == Array(validator.text.utf8))
        #expect(validator.encoded.withUnsafeBytes { Validator(decoding: $0) } == validator)
    }

    @Test(arguments: [
        "", "\"", "a", "W/\"a\"", "\"a\r\nCookie: b\"", "\"a\"\n", "Sun, 06 Nov 1994 08:49:37 GMT\r\nA: b",
        "Sun, 06 Nov 1994 08:49:37", "\0",
    ])
    func refusesOtherBytes(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { Validator(decoding: $0) } == nil)
    }

    @Test func survivesAnyBytes() {
        var random = SeededRandom(seed: 17)
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...40, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let validator = bytes.withUnsafeBytes { Validator(decoding: $0) }
            #expect(validator == nil || validator?.encoded == bytes)
        }
    }

    @Test(
        "RFC 9110 §14.3: responses that may be resumed",
        arguments: [
            (200, [], true), (200, [("Accept-Ranges", "bytes")], true), (200, [("Accept-Ranges", "None")], false),
            (200, [("Content-Encoding", "gzip")], false), (206, [], false), (404, [], false), (203, [], false),
            (304, [], false),
        ] as [(Int32, [(String, String)], Bool)])
    func decidesWhatMayBeResumed(status: Int32, fields: [(String, String)], isResumable: Bool) {
        let response = Response(status: status, fields: ResponseFields([("ETag", "\"a\"")] + fields))
        #expect(response.resumeValidator == (isResumable ? .entityTag("\"a\"") : nil))
        #expect(Response(status: status, fields: ResponseFields(fields)).resumeValidator == nil)
    }
}

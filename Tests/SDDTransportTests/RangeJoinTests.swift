import SDDBase
import Testing

@testable import SDDTransport

/// Z17: the responses that may be joined with a part of four bytes, without a network.
@Suite struct RangeJoinTests {
    private static let tag = Validator.entityTag("\"a\"")
    private static let date = Validator.lastModified("Sun, 06 Nov 1994 08:49:37 GMT")

    private func point(
        _ validator: Validator = tag, total: Int64? = 10, fields: [(String, String)] = []
    ) throws -> ResumePoint {
        let bytes = try #require(([1, 2, 3, 4] as [UInt8]).withUnsafeBytes { Bytes(copying: $0) })
        return ResumePoint(bytes: bytes, validator: validator, total: total, fields: ResponseFields(fields))
    }

    private func judge(
        _ point: ResumePoint, status: Int32 = 206, _ fields: [(String, String)], length: Int64? = nil
    ) -> RangeJoin.Verdict {
        RangeJoin(point).judge(status: status, ResponseFields(fields), length: length)
    }

    @Test(
        "RFC 9110 §15.3.7.3: joins only the rest of the same body",
        arguments: [
            ("bytes 4-9/10", 10, 10), ("bytes 4-9/10", nil, 10), ("bytes 4-9/*", 10, 10), ("bytes 4-10/11", nil, 11),
            ("bytes 4-9/*", nil, nil), ("bytes 5-9/10", 10, nil), ("bytes 3-9/10", 10, nil),
            ("bytes 0-9/10", 10, nil), ("bytes 4-8/10", 10, nil), ("bytes 4-9/11", 10, nil),
            ("bytes 4-9/11", nil, nil), ("bytes 4-10/11", 10, nil), ("bytes 4-8/*", 10, nil),
            ("bytes */10", 10, nil), ("items 4-9/10", 10, nil), ("", 10, nil), ("bytes 4-9", 10, nil),
        ] as [(String, Int64?, Int64?)])
    func joinsOnlyTheRest(range: String, total: Int64?, joined: Int64?) throws {
        let verdict = judge(try point(total: total), [("Content-Range", range), ("ETag", "\"a\"")])
        #expect(verdict == (joined.map { .joins(total: $0) } ?? .startsOver))
    }

    @Test func needsOneContentRange() throws {
        let range = ("Content-Range", "bytes 4-9/10")
        #expect(judge(try point(), [range, range]) == .startsOver)
        #expect(judge(try point(), [("ETag", "\"a\"")]) == .startsOver)
    }

    @Test(arguments: [
        [("Content-Encoding", "gzip")], [("Content-Encoding", "identity")],
        [("Content-Type", "multipart/byteranges; boundary=x")], [("Content-Type", "Multipart/ByteRanges")],
    ])
    func joinsNoCodedOrMultipartBody(fields: [(String, String)]) throws {
        #expect(judge(try point(), [("Content-Range", "bytes 4-9/10")] + fields) == .startsOver)
    }

    @Test(
        "RFC 9110 §8.8.3.2: compares strongly",
        arguments: [
            (tag, "ETag", "\"a\"", true), (tag, "etag", "\"b\"", false), (tag, "ETag", "W/\"a\"", false),
            (tag, "ETag", "a", false), (tag, "ETag", "", false),
            (tag, "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT", true),
            (date, "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT", true),
            (date, "Last-Modified", "Sun, 06 Nov 1994 08:49:38 GMT", false), (date, "ETag", "\"new\"", true),
        ])
    func comparesTheValidator(validator: Validator, name: String, value: String, joins: Bool) throws {
        let verdict = judge(try point(validator), [("Content-Range", "bytes 4-9/10"), (name, value)])
        #expect(verdict == (joins ? .joins(total: 10) : .startsOver))
    }

    @Test(
        arguments: [
            (6, true), (nil, true), (5, false), (7, false), (10, false), (0, false), (.max, false),
        ] as [(Int64?, Bool)])
    func requiresTheLengthOfTheRange(length: Int64?, joins: Bool) throws {
        let verdict = judge(try point(), [("Content-Range", "bytes 4-9/10")], length: length)
        #expect(verdict == (joins ? .joins(total: 10) : .startsOver))
    }

    @Test(
        arguments: [
            (200, RangeJoin.Verdict.standsAlone), (412, .startsOver), (416, .startsOver), (404, .standsAlone),
            (401, .standsAlone), (302, .standsAlone), (304, .standsAlone), (204, .standsAlone), (503, .standsAlone),
            (400, .standsAlone),
        ] as [(Int32, RangeJoin.Verdict)])
    func judgesOtherStatuses(status: Int32, verdict: RangeJoin.Verdict) throws {
        #expect(judge(try point(), status: status, [("Content-Range", "bytes 4-9/10")], length: 6) == verdict)
    }

    @Test func survivesTheLargestNumbers() throws {
        let last = Int64.max - 1
        let verdict = judge(try point(total: nil), [("Content-Range", "bytes 4-\(last)/\(Int64.max)")], length: .max)
        #expect(verdict == .startsOver)
        #expect(judge(try point(total: .min), [("Content-Range", "bytes 4-9/*")]) == .startsOver)
    }

    @Test("RFC 9111 §3.4: turns the response into a 200 with the whole body")
    func makesAResponseForTheWholeBody() throws {
        // given
        let rest = Response(
            status: 206, httpVersion: 11, url: "http://a.test/",
            fields: ResponseFields([
                ("Date", "now"), ("content-range", "bytes 4-9/10"), ("Content-Length", "6"),
                ("Transfer-Encoding", "chunked"), ("ETag", "\"a\""), ("Cache-Control", "max-age=1"),
            ]))
        // when
        let kept = [("Content-Type", "image/png"), ("ETag", "\"old\""), ("Date", "then"), ("Cache-Control", "")]
        let whole = try #require(RangeJoin(try point(fields: kept)).joined(rest, total: 10))
        // then
        #expect(whole.status == 200)
        #expect(whole.httpVersion == 11)
        #expect(whole.url == "http://a.test/")
        #expect(
            whole.fields.list == [
                "Date: now", "ETag: \"a\"", "Cache-Control: max-age=1", "Content-Type: image/png", "Content-Length: 10",
            ])
        #expect(whole.fields.mimeType == "image/png")
    }

    @Test func keepsAValidatorThatThe206DoesNotRepeat() throws {
        let rest = Response(status: 206)
        #expect(RangeJoin(try point()).joined(rest, total: 10)?.fields["ETag"] == "\"a\"")
        let modified = RangeJoin(try point(Self.date)).joined(rest, total: 10)?.fields
        #expect(modified?["Last-Modified"] == Self.date.text)
        #expect(modified?["ETag"] == nil)
    }
}

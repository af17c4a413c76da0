import SDDBase
import SDDCaches
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// RFC 9111 §3.3, §3.4: 206 responses are stored, joined and served.
@Suite struct HTTPCachePartsTests {
    @Test(arguments: cases) func parts(_ sequence: HTTPSequence) throws { try sequence.run() }

    private static let tag = "ETag: \"a\""

    /// The server answers a request for a range with a part.
    private static func part(_ asked: String, _ range: String, _ text: String, _ fields: String...) -> HTTPStep {
        var step = HTTPStep()
        let all = ["Cache-Control: max-age=60", "Content-Range: bytes \(range)"] + fields
        step.replies = [("", ScriptedReply(206, all))]
        step.status = 206
        return step.sending(text).asking("Range: bytes=\(asked)")
    }

    /// The server answers a request for a range with something else.
    private static func fails(
        _ asked: String, _ range: String, _ text: String, _ fields: String..., code: DownloadError.Code = .protocol
    ) -> HTTPStep {
        var step = part(asked, range, text).fails(code)
        step.replies[0].reply.fields += fields
        return step
    }

    private static func asks(_ range: String, _ text: String) -> HTTPStep {
        .fresh.asking("Range: bytes=\(range)").part(text)
    }

    /// The server is asked, and what it says is not stored.
    private static func isLeft(_ range: String) -> HTTPStep {
        .answered("Cache-Control: no-store").asking("Range: bytes=\(range)")
    }

    static let cases: [HTTPSequence] = [
        .init(
            "9111 §3.3: the same range", part("2-4", "2-4/10", "234"),
            asks("2-4", "234").showing("Content-Range: bytes 2-4/10", "Content-Length: 3")),
        .init("9111 §3.3: a range within", part("2-4", "2-4/10", "234"), asks("3-3", "3"), asks("4-4", "4")),
        .init("9111 §3.3: not one that is wider", part("2-4", "2-4/10", "234"), isLeft("3-"), isLeft("1-4")),
        .init("9111 §3.3: not the whole", part("2-4", "2-4/10", "234"), .answered("Cache-Control: no-store")),
        .init("9111 §3.3: nor offline", part("0-4", "0-4/10", "01234", tag), .notCached.offline),
        .init(
            "9111 §3.3: the end", part("-3", "7-9/10", "789"), asks("8-", "89"), asks("-1", "9"), asks("7-99", "789")),
        .init("9111 §3.3: an unknown size", part("0-4", "0-4/*", "01234"), asks("1-2", "12"), isLeft("-1")),
        .init(
            "9111 §3.3: an unknown size and no end", part("0-4", "0-4/*", "01234"), isLeft("1-"),
            asks("1-2", "12").showing("Content-Range: bytes 1-2/*")),
        .init("9110 §15.3.7: less than was asked for", part("0-", "0-4/10", "01234"), asks("0-", "01234")),
        .init("9110 §15.3.7: other than was asked for", fails("-5", "0-4/10", "01234"), isLeft("-5"), isLeft("1-2")),
        .init(
            "fewer bytes than announced", fails("-6", "4-9/10", "45678", code: .truncatedBody), isLeft("-6"),
            isLeft("6-8")),
        .init("9110 §14.4: more bytes than announced", fails("2-3", "2-3/10", "234"), isLeft("2-3")),
        .init("9110 §14.4: no place", fails("2-3", "2/10", "23"), isLeft("2-3")),
        .init("9110 §14.4: two places", fails("2-3", "2-3/10", "23", "Content-Range: bytes 2-3/9"), isLeft("2-3")),
        .init(
            "9110 §14.6: several in one",
            fails("2-3", "2-3/10", "23", "Content-Type: multipart/byteranges; boundary=x"), isLeft("2-3")),
        .init("9110 §8.4: in a coding", part("2-3", "2-3/10", "23", "Content-Encoding: identity"), isLeft("2-3")),
        .init("9111 §5.2.2.5: no-store", part("2-3", "2-3/10", "23", "Cache-Control: no-store"), isLeft("2-3")),
        .init(
            "9111 §5.2.1.5: the request's no-store",
            part("2-3", "2-3/10", "23").asking(
                "Cache-Control: no-store",
                "Range: bytes=2-3"), isLeft("2-3")),
        .init(
            "9111 §4.1: Vary", part("2-3", "2-3/10", "23", "Vary: A"),
            isLeft("2-3").asking(
                "Range: bytes=2-3",
                "A: 1")),
        .init("9111 §4.2: stale", part("2-3", "2-3/10", "23"), isLeft("2-3").after(61)),
        .init(
            "9111 §4.3: validated", part("2-3", "2-3/10", "23", tag, "A: 1"),
            .validated(by: "If-None-Match: \"a\"", says: ["A: 2"]).after(61).asking("Range: bytes=3-3").part("3")
                .showing("A: 2"), asks("2-3", "23").after(30)),
        .init(
            "9111 §4.2.4: offline", part("2-3", "2-3/10", "23"),
            .stale.after(99).offline.asking("Range: bytes=2-3")
                .part("23")),
        .init(
            "9110 §13.1.5: If-Range", part("2-3", "2-3/10", "23", tag),
            asks("2-3", "23").asking(
                "Range: bytes=2-3",
                "If-Range: \"a\""), isLeft("2-3").asking("Range: bytes=2-3", "If-Range: \"b\"")),
        .init("9111 §4.4: an unsafe request", part("2-3", "2-3/10", "23"), .answered().by("POST"), isLeft("2-3")),

        // Joining
        .init(
            "9111 §3.4: parts that touch", part("0-4", "0-4/10", "01234", tag, "A: 1"),
            part("5-9", "5-9/10", "56789", tag, "A: 2"), asks("3-6", "3456"),
            .fresh.text("0123456789").showing("A: 2", "Content-Length: 10", "Content-Range")),
        .init(
            "9111 §3.4: parts that overlap", part("3-", "3-9/10", "3456789", tag), part("0-5", "0-5/10", "012345", tag),
            .fresh.text("0123456789")),
        .init(
            "9111 §3.4: with a gap", part("0-1", "0-1/10", "01", tag), part("8-", "8-9/10", "89", tag),
            asks("0-1", "01"), asks("9-", "9"), part("0-8", "0-8/10", "012345678", tag), .fresh.text("0123456789")),
        .init(
            "9111 §3.4: the size comes later", part("0-4", "0-4/*", "01234", tag), part("5-9", "5-9/10", "56789", tag),
            .fresh.text("0123456789")),
        .init(
            "9111 §3.4: another tag", part("0-4", "0-4/10", "01234", tag),
            part("5-9", "5-9/10", "56789", "ETag: \"b\""),
            isLeft("3-6"), asks("5-9", "56789")),
        .init(
            "9111 §3.4: weak tags", part("0-4", "0-4/10", "01234", "ETag: W/\"a\""),
            part("5-9", "5-9/10", "56789", "ETag: W/\"a\""), isLeft("3-6"), isLeft("0-4")),
        .init(
            "9111 §3.4: no tags", part("0-4", "0-4/10", "01234"), part("5-9", "5-9/10", "56789"), isLeft("3-6"),
            .answered("Cache-Control: no-store")),
        .init(
            "9111 §3.4: another size", part("0-4", "0-4/10", "01234", tag), part("5-9", "5-9/11", "56789", tag),
            isLeft("3-6")),
        .init(
            "a newer whole", part("0-4", "0-4/10", "01234", tag),
            .answered("Cache-Control: max-age=60", "ETag: \"b\"").sending("abcdefghij").after(1), asks("0-1", "ab")),
    ]

    // MARK: More than a sequence says

    @Test("9110 §15.3.7.3: a download goes on from the parts, where it may be resumed")
    func completesWhatRangesBrought() throws {
        let world = try HTTPCacheWorld()
        let wishes: HTTPCacheLookup.Wishes = [.http, .resumes]
        let fields = ["Cache-Control: max-age=60", Self.tag]
        world.server.script(
            "s", ScriptedReply(206, fields + ["Content-Range: bytes 0-4/10"], body: Array("01234".utf8)))
        _ = try world.run(world.request("/script/s", ["Range: bytes=0-4"], wishes: wishes))
        #expect(world.flush())
        world.server.script(
            "s", ScriptedReply(206, fields + ["Content-Range: bytes 5-9/10"], body: Array("56789".utf8)))
        let whole = try world.run(world.request("/script/s", wishes: wishes))
        #expect(whole.text == "0123456789" && whole.httpStatus == 200)
        #expect(world.server.requests.last?.header("Range") == "bytes=5-")
        #expect(world.server.requests.last?.header("If-Range") == "\"a\"")
        #expect(world.flush())
        #expect(try world.run(world.request("/script/s")).origin == .httpFresh)
        #expect(world.server.requests.count == 2)
    }

    @Test("9111 §3.3: parts are neither a picture nor listed")
    func areNoPicture() throws {
        let world = try HTTPCacheWorld()
        let picture = try Fixtures.array("png/rgb8.png")
        let fields = ["Cache-Control: max-age=60", Self.tag, "Content-Type: image/png"]
        let half = picture.count / 2
        let ranges = [0..<half, half..<picture.count]
        for range in ranges {
            let place = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(picture.count)"
            world.server.script("s", ScriptedReply(206, fields + [place], body: Array(picture[range])))
            var request = try world.request(
                "/script/s", ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"], pixels: range == ranges[0])
            request.acceptance = .all
            _ = try world.run(request)
            #expect(world.flush())
            var keys: [String] = []
            _ = world.disk.list(checkingBodies: true) { entry in
                keys.append(entry.metadata?.key ?? "")
                return .next
            }
            let isWhole = range == ranges[1]
            #expect(keys == (isWhole ? [world.server.url("/script/s")] : []))
            #expect((world.picture(at: "/script/s") != nil) == isWhole)
        }
        let found = try #require(world.picture(at: "/script/s"))
        #expect(found.body.map { Array($0.pointer) } == picture)
        #expect(try found.picture(in: DecodeOptions()).width > 0)
    }

    @Test("9111 §3.4: whatever ranges come, what is here is served, and no byte is wrong", arguments: 1...6)
    func servesTheRightBytes(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let world = try HTTPCacheWorld()
        let size = Int.random(in: 50...400, using: &random)
        let whole = ScriptedServer.body(of: "/x", size: size)
        var here: Set<Int> = []
        for step in 0..<60 {
            let first = Int.random(in: 0..<size, using: &random)
            let last = min(size - 1, first + Int.random(in: 0..<size / 4, using: &random))
            let asked = "Range: bytes=\(first)-\(last)"
            let known = try world.run(world.request("/script/s", [asked, "Cache-Control: only-if-cached"]))
            let isHere = here.isSuperset(of: first...last)
            let comment = Comment(rawValue: "seed \(seed), step \(step): \(first)-\(last)/\(size)")
            #expect((known.error == nil) == isHere, comment)
            if !isHere {
                let place = "Content-Range: bytes \(first)-\(last)/\(size)"
                let fields = ["Cache-Control: max-age=60", Self.tag, place]
                world.server.script("s", ScriptedReply(206, fields, body: Array(whole[first...last])))
                #expect(try world.run(world.request("/script/s", [asked])).array == Array(whole[first...last]), comment)
                #expect(world.flush())
                here.formUnion(first...last)
            } else {
                #expect(known.array == Array(whole[first...last]) && known.httpStatus == 206, comment)
            }
        }
        let all = try world.run(world.request("/script/s", ["Cache-Control: only-if-cached"]))
        #expect((all.error == nil) == (here.count == size))
        if here.count == size { #expect(all.array == whole && all.httpStatus == 200) }
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// RFC 9111 §3.3, §3.4: the record of parts, as values.
@Suite struct StoredPartsTests {
    private func part(_ range: String, of count: Int, _ fields: [String] = ["ETag: \"a\""]) -> StoredParts? {
        let asked = range.drop { $0 != " " }.dropFirst().prefix { $0 != "/" }
        return CacheRules.makePart(
            request(["Range: bytes=\(asked)"]), url: "http://a.test/",
            fields: responseFields(["Cache-Control: max-age=60", "Content-Range: " + range] + fields), bodyCount: count,
            requestTime: HTTPCacheCase.start, responseTime: HTTPCacheCase.start)
    }

    private func decoded(_ bytes: [UInt8]) -> StoredParts? { bytes.withUnsafeBytes { StoredParts(decoding: $0) } }

    private func example() throws -> StoredParts {
        let (first, second) = (try #require(part("bytes 2-5/40", of: 4)), try #require(part("bytes 10-19/40", of: 10)))
        return try #require(first.joined(with: second, as: second.response)).0
    }

    @Test func comesBackFromItsBytes() throws {
        let parts = try example()
        let back = try #require(decoded(parts.encoded()))
        #expect(back.pieces == [2..<6, 10..<20] && back.total == 40 && back.byteCount == 14)
        #expect(back.asked == "bytes=10-19" && back.answer == 10..<20)
        #expect(lines(back.response.fields) == ["Cache-Control: max-age=60", "ETag: \"a\""])
        #expect(back.response.status == 200)
        let metadata = EntryMetadata(key: "k", http: parts.encoded())
        #expect(StoredParts.areIn(metadata) && !StoredParts.areIn(EntryMetadata(key: "k")))
        // Readers of images find nothing in it.
        #expect(parts.encoded().withUnsafeBytes { StoredSelection(decoding: $0) } == nil)
        #expect(parts.encoded().withUnsafeBytes { StoredResponse(decoding: $0) } == nil)
        let whole = parts.response.encoded()
        #expect(!StoredParts.areIn(EntryMetadata(key: "k", http: whole)) && decoded(whole) == nil)
    }

    @Test("what came for a range is found by it only if it is of that range")
    func findsNoOtherPart() throws {
        let response = try #require(part("bytes 50-59/100", of: 10)).response
        let parts = StoredParts(
            response: response, total: 100, pieces: [50..<60], asked: "bytes=0-9", answer: 50..<60)
        for (asked, bounds) in [("0-9", nil), ("50-59", 50..<60)] as [(String, Range<Int64>?)] {
            let wish = try #require(RangeWish(requestFields(["Range: bytes=" + asked])))
            #expect(parts.served(wish)?.bounds == bounds)
        }
    }

    @Test func damagedBytesNeverMakeUnsoundParts() throws {
        let bytes = try example().encoded()
        for count in bytes.indices { #expect(decoded(Array(bytes.prefix(count))) == nil) }
        #expect(decoded(bytes + [0]) == nil)
        for place in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[place] = value
                guard let parts = decoded(damaged) else { continue }
                #expect(parts.isSound && parts.byteCount > 0)
                for wish in ["bytes=0-", "bytes=-1", "bytes=1-2", "bytes=11-12"] {
                    guard let wish = RangeWish(requestFields(["Range: " + wish])), let served = parts.served(wish)
                    else {
                        continue
                    }
                    let place = try #require(parts.place(of: served.bounds))
                    #expect(place.lowerBound >= 0 && Int64(place.upperBound) <= parts.byteCount)
                }
            }
        }
    }

    @Test(
        arguments: [
            ("bytes 0-9223372036854775807/*", 10), ("bytes 9223372036854775806-9223372036854775807/*", 2),
            ("bytes 0-3/4", 5), ("bytes 0-3/4", 0), ("bytes 0-3/4", 3), ("bytes 0-3", 4), ("items 0-3/4", 4),
        ])
    func isNoPart(range: String, count: Int) { #expect(part(range, of: count) == nil) }

    @Test("any order of any parts makes what was there", arguments: 1...20 as ClosedRange<UInt64>)
    func joins(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let whole = (0..<200).map { UInt8($0) }
        var (parts, body): (StoredParts?, [UInt8]) = (nil, [])
        var here: Set<Int64> = []
        for _ in 0..<60 {
            let first = Int.random(in: 0..<200, using: &random)
            let end = min(200, first + Int.random(in: 1...20, using: &random))
            let total = Bool.random(using: &random) ? "*" : "200"
            let new = try #require(part("bytes \(first)-\(end - 1)/\(total)", of: end - first))
            if let old = parts {
                let (joined, stretches) = try #require(old.joined(with: new, as: new.response))
                body = stretches.flatMap { $0.isNew ? Array(whole[first..<end][...])[$0.bytes] : body[$0.bytes] }
                parts = joined
            } else {
                (parts, body) = (new, Array(whole[first..<end]))
            }
            here.formUnion(Int64(first)..<Int64(end))
            let now = try #require(parts)
            #expect(now.isSound && now.byteCount == Int64(here.count) && body.count == here.count)
            #expect(body == here.sorted().map { whole[Int($0)] })
            #expect(now.isWhole == (here.count == 200 && now.total == 200))
        }
    }

    @Test func mostThatIsJoined() throws {
        var parts = try #require(part("bytes 0-0/*", of: 1))
        for number in 1..<64 {
            let new = try #require(part("bytes \(2 * number)-\(2 * number)/*", of: 1))
            parts = try #require(parts.joined(with: new, as: new.response)).0
        }
        let more = try #require(part("bytes 1000-1000/*", of: 1))
        #expect(parts.joined(with: more, as: more.response) == nil)
        let touching = try #require(part("bytes 1-1/*", of: 1))
        #expect(try #require(parts.joined(with: touching, as: touching.response)).0.pieces.count == 63)
        let large = try #require(part("bytes 1000-16778215/*", of: 16 << 20))
        #expect(parts.joined(with: large, as: large.response) == nil)
    }
}

import SDDBase
import TestSupport
import Testing

/// RFC 9110 §14.1.2, §14.2: the ranges that a cache can answer.
@Suite struct RangeWishTests {
    private func wish(_ lines: String...) -> RangeWish? { RangeWish(requestFields(lines)) }

    @Test(
        arguments: [
            ("0-0", 10, 0..<1), ("0-9", 10, 0..<10), ("0-10", 10, 0..<10), ("3-", 10, 3..<10), ("9-", 10, 9..<10),
            ("10-", 10, nil), ("10-11", 10, nil), ("-1", 10, 9..<10), ("-10", 10, 0..<10), ("-11", 10, 0..<10),
            ("-0", 10, nil), ("-1", 0, nil), ("0-", 0, nil), ("2-3", nil, 2..<4), ("2-", nil, nil), ("-2", nil, nil),
            ("0-9223372036854775807", 10, 0..<10), ("0-9223372036854775807", nil, 0..<Int64.max),
            ("9223372036854775807-", nil, nil), ("9223372036854775807-9223372036854775807", nil, nil),
            ("-9223372036854775807", Int64.max, 0..<Int64.max),
        ] as [(String, Int64?, Range<Int64>?)])
    func positions(range: String, total: Int64?, positions: Range<Int64>?) throws {
        #expect(try #require(wish("Range: bytes=" + range)).positions(in: total) == positions)
    }

    @Test(
        arguments: [
            "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=1-2-3", "bytes=2-1", "bytes=1-2,4-5", "=1-2",
            "bytes=1-2,", "items=1-2", "bytes=+1-2", "bytes=1- 2", "bytes==1-2", "bytes=0-9223372036854775808", "",
            "bytes=-99999999999999999999", "bytes=1-2\u{e9}",
        ])
    func isLeftToTheServer(range: String) { #expect(wish("Range: " + range) == nil) }

    @Test(
        arguments: [
            ("2-5", 2..<6, 10, true), ("2-5", 2..<4, 10, true), ("2-5", 2..<6, nil, true), ("2-", 2..<10, 10, true),
            ("2-5", 3..<6, 10, false), ("2-5", 2..<7, 10, false), ("2-5", 0..<1, 10, false), ("2-", 3..<10, 10, false),
            ("-3", 7..<10, 10, true), ("-3", 8..<10, 10, true), ("-3", 6..<10, 10, false), ("-3", 6..<9, 10, false),
            ("-3", 6..<9, nil, true), ("-3", 6..<10, nil, false),
            ("0-9223372036854775807", 0..<Int64.max, nil, true),
        ] as [(String, Range<Int64>, Int64?, Bool)])
    func allows(range: String, positions: Range<Int64>, total: Int64?, isAllowed: Bool) throws {
        #expect(try #require(wish("Range: bytes=" + range)).allows(positions, of: total) == isAllowed)
    }

    @Test func theConditionBelongsToIt() throws {
        #expect(wish("If-Range: \"a\"") == nil)
        #expect(try #require(wish("Range: bytes=0-1", "If-Range: \"a\"")).ifRange == "\"a\"")
        #expect(try #require(wish("RANGE: Bytes=0-1")).ifRange == nil)
    }

    @Test func randomTextsNeverTrap() {
        var random = SeededRandom(seed: 1)
        let pieces = [
            "bytes=", "bytes", "=", "-", ",", "0", "1", "9", "9223372036854775807", "99999999999999999999", " ",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            guard let wish = wish("Range: bytes=" + text.joined()) ?? wish("Range: " + text.joined()) else { continue }
            for total in [nil, 0, 1, 10, Int64.max] as [Int64?] {
                guard let range = wish.positions(in: total) else { continue }
                #expect(range.lowerBound >= 0 && !range.isEmpty && range.upperBound <= total ?? .max)
            }
        }
    }
}

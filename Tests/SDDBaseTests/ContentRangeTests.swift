import TestSupport
import Testing

@testable import SDDBase

/// Z17: the Content-Range of RFC 9110 §14.4.
@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-499/1234", [0, 499, 1234]), ("bytes 500-999/1234", [500, 999, 1234]),
            ("bytes 734-1233/1234", [734, 1233, 1234]), ("bytes 42-1233/*", [42, 1233, -1]),
            ("Bytes  0-0/1", [0, 0, 1]),
            ("bytes 0-9223372036854775806/9223372036854775807", [0, .max - 1, .max]),
        ] as [(String, [Int64])])
    func reads(text: String, numbers: [Int64]) {
        let range = ContentRange(text)
        #expect(range.map { [$0.first, $0.last, $0.total ?? -1] } == numbers)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes */1234", "bytes 0-499", "bytes 0-499/", "bytes -499/1234", "bytes 0-/1234",
        "bytes 500-499/1234", "bytes 0-1234/1234", "items 0-4/10", "bytes=0-4/10", "bytes 0-4/10, 6-7/10",
        "bytes 0-4-5/10", "bytes 0-4/10/11", "bytes +0-4/10", "bytes 0-4/-10", "bytes a-b/c", "bytes 0 -4/10",
        "bytes 0-9223372036854775808/*", "bytes 0-4/99999999999999999999", "bytes \u{0664}-5/10", "\u{0}",
        "bytes 0-4/0x10",
    ])
    func refuses(text: String) { #expect(ContentRange(text) == nil) }

    @Test func survivesAnyText() {
        var random = SeededRandom(seed: 14)
        let pieces = [" ", "-", "/", "*", "0", "9", "9223372036854775807", "99999999999999999999", "é", "+", "bytes"]
        var count = 0
        for _ in 0..<20_000 {
            var words = ["bytes", " ", "0", "-", "9", "/", "9223372036854775807"]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                words[Int.random(in: 0..<words.count, using: &random)] = pieces.randomElement(using: &random) ?? ""
            }
            let text = words.joined()
            guard let range = ContentRange(text) else { continue }
            count += 1
            #expect(range.first >= 0 && range.first <= range.last, "\(text)")
            #expect(range.total.map { range.last < $0 } ?? true, "\(text)")
        }
        #expect(count > 10)
    }
}

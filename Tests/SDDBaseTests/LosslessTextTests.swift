import SDDBase
import TestSupport
import Testing

@Suite struct LosslessTextTests {
    @Test func keepsUTF8AsItIs() {
        for text in ["", "a=1", "é", "e\u{301}", "\u{10ff7f}", "\u{fffd}"] {
            #expect(LosslessText.decoded(text.utf8).utf8.elementsEqual(text.utf8))
        }
    }

    @Test("bytes that are not UTF-8 come back, and different bytes have different texts")
    func keepsEveryByte() {
        var random = SeededRandom(seed: 1)
        let pieces: [[UInt8]] = [
            [0x61], [0xe8], [0xe9], [0xff], [0xc3, 0xa9], [0xc3], [0xf4, 0x8f, 0xbf, 0xa8], [0xf4, 0x8f, 0xbe], [0xf4],
            [0xed, 0xa0, 0x80], [0xef, 0xbf, 0xbd], Array("\u{10ff7f}".utf8),
        ]
        var texts: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...5, using: &random)).flatMap { _ in
                pieces[Int.random(in: pieces.indices, using: &random)]
            }
            let text = LosslessText.decoded(bytes)
            #expect(LosslessText.bytes(of: text) == bytes)
            #expect(texts.updateValue(bytes, forKey: Array(text.utf8)) ?? bytes == bytes)
        }
    }
}

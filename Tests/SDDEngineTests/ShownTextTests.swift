import Testing

@testable import SDDEngine

@Suite struct ShownTextTests {
    @Test func aTextIsQuotedCutAndEscaped() {
        #expect(shown(Array("é".utf8)) == "\"é\"")
        #expect(shown([0x41, 0x0a, 0xff]) == "\"A\\x0a\\xff\"")
        let long = String(repeating: "a", count: 64)
        #expect(shown(Array((long + "a").utf8)) == "\"" + long + "…\"")
        let cut = String(repeating: "a", count: 63)
        #expect(shown(Array((cut + "é").utf8)) == "\"" + cut + "…\"")
    }

    @Test func aURLIsShownWithoutSecrets() {
        #expect(shownURL(Array("http://me:secret@host/a?token#x".utf8)) == "\"host/a\"")
        #expect(shownURL(Array("http://host/a?token".utf8)) == "\"http://host/a\"")
        #expect(shownURL(Array("http://me:a?b@host/".utf8)) == "\"\"")
    }
}

import SDDBase
import TestSupport
import Testing

@Suite struct ImageURLTests {
    @Test(arguments: [
        "http://example.org/a.png", "https://example.org", "HTTPS://Example.org:8443/a?b=c#d", "http://127.0.0.1:80/",
        "http://[::1]/", "http://user:password@host/", "http://host?query", "http://a/%zz",
    ])
    func takesAnAddressAsItIs(text: String) throws {
        #expect(try checked(text).text == text)
    }

    @Test func namesTheSchemeWhateverItsCase() throws {
        #expect(try checked("http://h/").scheme == .http)
        #expect(try checked("HtTpS://h/").scheme == .https)
        #expect(try checked("FILE:///etc/motd", allowsFiles: true).scheme == .file)
    }

    @Test(arguments: [
        ("", ImageURL.Flaw.empty), ("example.org/a.png", .malformed), ("://host", .malformed), ("http:", .malformed),
        ("http:/host", .malformed), ("http://", .malformed), ("http:///path", .malformed), ("http://?x", .malformed),
        ("http://#x", .malformed), ("http://h/a b", .malformed), ("http://h/\r\nX:", .malformed),
        ("http://h/\u{0}", .malformed), ("http://h/\u{7f}", .malformed), (" http://h/", .malformed),
        ("http://bücher.example/", .malformed), ("ftp://h/", .scheme), ("file:///a", .scheme), ("data:,x", .scheme),
        ("httpx://h/", .scheme), ("javascript:alert(1)", .scheme),
    ])
    func refuses(text: String, flaw: ImageURL.Flaw) {
        #expect(throws: flaw) { try checked(text) }
    }

    @Test func refusesTextThatIsNotUTF8() {
        // given
        let bytes = Array("http://h/".utf8) + [0xC3, 0x28]
        // when, then
        #expect(throws: ImageURL.Flaw.notUTF8) { try checked(bytes) }
    }

    @Test func takesTheLongestAddressAndRefusesOneByteMore() throws {
        // given
        let start = "http://h/"
        let longest = start + String(repeating: "a", count: ImageURL.maxLength - start.utf8.count)
        // when, then
        #expect(try checked(longest).text.utf8.count == ImageURL.maxLength)
        #expect(throws: ImageURL.Flaw.tooLong) { try checked(longest + "a") }
    }

    @Test func writesBytesOutsideASCIIWithPercentSigns() throws {
        #expect(try checked("http://h/bücher?ß=%41").text == "http://h/b%C3%BCcher?%C3%9F=%41")
    }

    @Test func takesAFileOnlyWhereItIsAllowedAndNeedsNoHost() throws {
        #expect(try checked("file:///a.png", allowsFiles: true).text == "file:///a.png")
        #expect(throws: ImageURL.Flaw.scheme) { try checked("file:///a.png", allowsFiles: false) }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func neverTrapsAndGivesOnlyPrintableASCII(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        let alphabet = Array("htps:/f.ile?#%@[]a0".utf8) + [0, 9, 10, 13, 32, 127, 128, 195, 188, 255]
        for _ in 0..<200 {
            let prefix = Bool.random(using: &random) ? Array("http://".utf8) : []
            let count = Int.random(in: 0...30, using: &random)
            let bytes = prefix + (0..<count).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
            // when
            guard let url = try? checked(bytes, allowsFiles: true) else { continue }
            // then
            #expect(url.text.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "seed \(seed): \(bytes)")
        }
    }

    @discardableResult
    private func checked(_ text: String, allowsFiles: Bool = false) throws(ImageURL.Flaw) -> ImageURL {
        try checked(Array(text.utf8), allowsFiles: allowsFiles)
    }

    @discardableResult
    private func checked(_ bytes: [UInt8], allowsFiles: Bool = false) throws(ImageURL.Flaw) -> ImageURL {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ImageURL.Flaw) in
            try ImageURL(checking: buffer, allowsFiles: allowsFiles)
        }
    }
}

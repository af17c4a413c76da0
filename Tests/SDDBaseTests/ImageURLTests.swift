import SDDBase
import TestSupport
import Testing

@Suite struct ImageURLTests {
    @Test(arguments: [
        "http://example.org/a.png", "https://example.org", "https://example.org:8443/A?B=C#D", "http://127.0.0.1:80/",
        "http://[::1]/", "http://User:Password@host/", "http://host?query", "http://a/%zz",
    ])
    func takesAValidURLUnchanged(text: String) throws {
        #expect(try checked(text).text == text)
    }

    @Test("scheme and host are the same in any case (RFC 3986 section 6.2.2.1), and nothing else is")
    func schemeAndHostAreInLowerCase() throws {
        let given = [
            ("HTTP://H/", "http://h/"), ("HTTP://H", "http://h"), ("http://A@B@C/D", "http://A@B@c/D"),
            ("HtTpS://U:P@Example.ORG:8443/A?B=%aF#C", "https://U:P@example.org:8443/A?B=%aF#C"),
            ("http://[FE80::A]/X", "http://[fe80::a]/X"),
            ("http://H/\u{fc}", "http://h/%C3%BC"),
        ]
        for (text, expected) in given {
            #expect(try checked(text).text == expected)
            #expect(try checked(text) == checked(expected))
            #expect(try checked(text).hashKey == checked(expected).hashKey)
        }
        #expect(try checked("FILE:///A", allowsFiles: true).text == "FILE:///A")
        #expect(try checked("MEMO:A", others: ["memo"]).text == "MEMO:A")
    }

    @Test func recognizesTheSchemeInAnyCase() throws {
        #expect(try checked("http://h/").scheme == .http)
        #expect(try checked("HtTpS://h/").scheme == .https)
        #expect(try checked("FILE:///etc/motd", allowsFiles: true).scheme == .file)
    }

    @Test(arguments: [
        ("", ImageURL.Flaw.empty), ("example.org/a.png", .malformed), ("://host", .malformed), ("http:", .malformed),
        ("http:/host", .malformed), ("http://", .malformed), ("http:///path", .malformed), ("http://?x", .malformed),
        ("http://#x", .malformed), ("http://h/a b", .malformed), ("http://h/\r\nX:", .malformed),
        ("http://h/\u{0}", .malformed), ("http://h/\u{7f}", .malformed), (" http://h/", .malformed),
        ("http://bücher.example/", .hostNotASCII(7..<22)), ("http://ü@h/", .malformed), ("ftp://h/", .scheme),
        ("file:///a", .scheme), ("data:,x", .scheme),
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

    @Test func takesTheLongestURLAndRefusesOneByteMore() throws {
        // given
        let start = "http://h/"
        let longest = start + String(repeating: "a", count: ImageURL.maxLength - start.utf8.count)
        // when, then
        #expect(try checked(longest).text.utf8.count == ImageURL.maxLength)
        #expect(throws: ImageURL.Flaw.tooLong) { try checked(longest + "a") }
    }

    @Test func percentEncodesBytesOutsideASCII() throws {
        #expect(try checked("http://h/bücher?ß=%41").text == "http://h/b%C3%BCcher?%C3%9F=%41")
    }

    @Test func takesFileURLsOnlyIfAllowedAndWithoutAHost() throws {
        #expect(try checked("file:///a.png", allowsFiles: true).text == "file:///a.png")
        #expect(throws: ImageURL.Flaw.scheme) { try checked("file:///a.png", allowsFiles: false) }
    }

    @Test func takesTheSchemesOfAppTransports() throws {
        // given
        let others = ["archive", "file"]
        // when, then
        #expect(try checked("archive:a/b", others: others).scheme == .other)
        #expect(try checked("ARCHIVE:\u{fc}", others: others).text == "ARCHIVE:%C3%BC")
        #expect(try checked("file:x", others: others).scheme == .other)
        #expect(try checked("file:///x", allowsFiles: true, others: others).scheme == .file)
        #expect(try checked("http://h/", others: ["http"]).scheme == .http)
        #expect(throws: ImageURL.Flaw.malformed) { try checked("archive:", others: others) }
        #expect(throws: ImageURL.Flaw.malformed) { try checked("archive:a b", others: others) }
        #expect(throws: ImageURL.Flaw.scheme) { try checked("archives:a", others: others) }
        // "*" allows any scheme that RFC 3986 §3.1 does.
        #expect(try checked("archives:a", others: ["*"]).scheme == .other)
        #expect(try checked("a+b-c.9:a", others: ["*"]).scheme == .other)
        #expect(try checked("https://h/", others: ["*"]).scheme == .https)
        for text in ["9a:x", "a_b:x", "+:x", "a/b:x", "é:x"] {
            #expect(throws: ImageURL.Flaw.scheme, "\(text)") { try checked(text, others: ["*"]) }
        }
    }

    @Test(
        "Z3: the same key for equal hosts and ports, however they are written",
        arguments: [
            ("http://example.org/a", "http://EXAMPLE.org:80?b", true), ("https://h", "https://h:443/", true),
            ("http://h:/", "http://h/", true), ("http://h:0080/", "http://h/", true),
            ("http://u:p@h/", "http://h/", true), ("http://a@b:81@h/", "http://h/", true),
            ("http://[::1]/", "http://[::1]:80/", true), ("http://h:443/", "https://h/", true),
            ("http://h/", "https://h/", false), ("http://h/", "http://h:81/", false), ("http://h/", "http://i/", false),
            ("http://[::1]:80/", "http://[::1]:81/", false), ("http://h:8/", "http://h8/", false),
        ])
    func hostKeysIdentifyHostAndPort(one: String, other: String, isSame: Bool) throws {
        #expect((try checked(one).hostKey == checked(other).hostKey) == isSame)
        #expect(try checked(one).hostKey != 0)
    }

    @Test func aURLWithoutAHostHasNoHostKey() throws {
        #expect(try checked("file:///a", allowsFiles: true).hostKey == 0)
        #expect(try checked("file://host/a", allowsFiles: true).hostKey == 0)
        #expect(try checked("archive://host/a", others: ["archive"]).hostKey == 0)
    }

    @Test func aPortTooLongForANumberDoesNotTrap() throws {
        #expect(try checked("http://h:99999999999999999999999999/").hostKey != 0)
    }

    @Test func detectsUserinfo() throws {
        #expect(try checked("http://u:p@h/").hasUserinfo)
        #expect(try checked("http://@h/").hasUserinfo)
        #expect(try !checked("http://h/u@v").hasUserinfo)
        #expect(try !checked("archive:u@v", others: ["archive"]).hasUserinfo)
    }

    @Test func urlsSentAlikeAreEqual() throws {
        // given
        let urls = try ["http://h/\u{fc}", "http://h/%C3%BC", "http://h/%c3%bc", "http://h/"].map { try checked($0) }
        // when, then
        #expect(urls[0] == urls[1] && urls[0].hashKey == urls[1].hashKey)
        #expect(urls[0].hashValue == urls[1].hashValue)
        #expect(Set(urls).count == 3)
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

    @Test(arguments: 0..<100 as Range<UInt64>)
    func followsTheSameRulesAsTheNaiveCheck(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        let parts = ["h", "H", "://", ":", "/", "?", "#", "@", "u:p@", "80", "443", ":80", "[::1]", ".", "%41", "é"]
            .map { Array($0.utf8) }
        let odd: [[UInt8]] = [[0], [0x20], [0x1f], [0x21], [0x7e], [0x7f], [0x80], [0xc3], [0xe2, 0x82, 0xac], [0xff]]
        let starts = ["http://", "HTTPS://", "https:", "file://", "app:", "ftp://", ""].map { Array($0.utf8) }
        var known: [String: UInt64] = [:]
        for _ in 0..<200 {
            var bytes = starts.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                bytes += (Int.random(in: 0..<40, using: &random) == 0 ? odd : parts).randomElement(using: &random) ?? []
            }
            // when
            let naive = Result { () throws(ImageURL.Flaw) in
                try NaiveImageURL(bytes, allowsFiles: true, others: ["app"])
            }
            let made = Result { () throws(ImageURL.Flaw) in try checked(bytes, allowsFiles: true, others: ["app"]) }
            // then
            switch (naive, made) {
            case (.failure(let expected), .failure(let flaw)): #expect(flaw == expected, "seed \(seed): \(bytes)")
            case (.success(let expected), .success(let url)):
                #expect(url.text == expected.text && url.scheme == expected.scheme, "seed \(seed): \(bytes)")
                #expect(url.hasUserinfo == expected.hasUserinfo, "seed \(seed): \(bytes)")
                #expect((url.hostKey == 0) == expected.place.isEmpty, "seed \(seed): \(bytes)")
                #expect(known.updateValue(url.hostKey, forKey: expected.place) ?? url.hostKey == url.hostKey)
            default: Issue.record("seed \(seed): \(bytes): \(naive), \(made)")
            }
        }
        #expect(Set(known.values).count == known.count)
    }

    @Test(arguments: 0...40)
    func seesEachByteThatIsNotPrintable(place: Int) {
        // given
        for byte in UInt8.min...UInt8.max {
            var text = [UInt8](repeating: UInt8(ascii: "~"), count: 41)
            text[place] = byte
            // when
            let isPlain = text.withUnsafeBufferPointer { ImageURL.hashed($0).isPlain }
            // then
            #expect(isPlain == (0x21...0x7e).contains(byte), "\(byte)")
        }
    }

    @Test func textsThatDifferInAByteOrTheLengthHaveOtherHashes() {
        // given
        var texts: [[UInt8]] = (0...40).map { Array(repeating: 0x30, count: $0) }
        for place in 0..<40 {
            texts += (0x31...0x39 as ClosedRange<UInt8>).map { byte in
                (0..<40).map { $0 == place ? byte : 0x30 }
            }
        }
        // when
        let hashes = texts.map { text in text.withUnsafeBufferPointer { ImageURL.hashed($0).hashKey } }
        // then
        #expect(Set(hashes).count == texts.count)
    }

    @discardableResult
    private func checked(
        _ text: String, allowsFiles: Bool = false, others: [String] = []
    ) throws(ImageURL.Flaw) -> ImageURL {
        try checked(Array(text.utf8), allowsFiles: allowsFiles, others: others)
    }

    @discardableResult
    private func checked(
        _ bytes: [UInt8], allowsFiles: Bool = false, others: [String] = []
    ) throws(ImageURL.Flaw) -> ImageURL {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ImageURL.Flaw) in
            try ImageURL(checking: buffer, allowsFiles: allowsFiles, others: others)
        }
    }
}

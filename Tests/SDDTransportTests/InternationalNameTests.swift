import SDDBase
import SDDTransport
import Testing

/// Host names outside ASCII (IDNA 2008, UTS 46).
@Suite struct InternationalNameTests {
    private func text(_ url: String) throws(ImageURL.Flaw) -> String {
        try Array(url.utf8).withUnsafeBufferPointer { (bytes) throws(ImageURL.Flaw) in
            try ImageURL(checkingAnyHost: bytes, allowsFiles: true).text
        }
    }

    @Test(arguments: [
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("HTTPS://BÜCHER.Example:8443/Ä?ö#ü", "https://xn--bcher-kva.example:8443/%C3%84?%C3%B6#%C3%BC"),
        ("http://user:p@faß.de", "http://user:p@xn--fa-hia.de"),
        ("http://bu\u{308}cher.example?a", "http://xn--bcher-kva.example?a"),
        ("http://例え。テスト/a.png", "http://xn--r8jz45g.xn--zckzah/a.png"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ])
    func keepsTheASCIIForm(of url: String, as ascii: String) throws {
        #expect(try text(url) == ascii)
    }

    @Test(
        "a character that stands for the end of a host, names that IDNA excludes",
        arguments: [
            "http://a℀b.example/", "http://evil.test＃.example/", "http://ü＠b.example/",
            "http://ü：80/", "http://\u{200b}/", "http://ü\u{200e}.example/", "http://[ü]/", "http://ü%00/",
            "http://" + String(repeating: "ü", count: 64) + ".example/",
        ])
    func refusesNames(url: String) {
        #expect { try text(url) } throws: { error in
            guard case .hostNotASCII = error as? ImageURL.Flaw else { return false }
            return true
        }
    }

    @Test(arguments: ["http://ü@b.example/", "http://ü@bücher.example/", "file://bücher.example/a"])
    func refusesOthers(url: String) {
        #expect(throws: ImageURL.Flaw.malformed) { try text(url) }
    }
}

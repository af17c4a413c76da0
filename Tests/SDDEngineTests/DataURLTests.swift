import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

/// data: URLs, as the "data: URL processor" of the Fetch Standard reads them.
@Suite struct DataURLTests {
    /// URLs with their media type and body.
    @Test(arguments: [
        // RFC 2397 §4.
        ("data:,A%20brief%20note", Self.standard, "A brief note"),
        ("data:text/plain;charset=iso-8859-7,%be%fg%be", "text/plain;charset=iso-8859-7", "\\be%fg\\be"),
        // The parts of a URL.
        ("data:,", Self.standard, ""), ("data:;base64,", Self.standard, ""), ("DaTa:,x", Self.standard, "x"),
        ("data:,a,b?c", Self.standard, "a,b?c"), ("data:,a#b,c", Self.standard, "a"),
        ("data:,a%23b", Self.standard, "a#b"),
        ("data:,%", Self.standard, "%"), ("data:,%4", Self.standard, "%4"), ("data:,%4G%41", Self.standard, "%4GA"),
        ("data:,a%00b", Self.standard, "a\\00b"), ("data:,ü", Self.standard, "\\c3\\bc"),
        ("data:,a\u{1}b", Self.standard, "a\\01b"),
        // White space, removed as the URL Standard says, or kept.
        ("data:,a b", Self.standard, "a b"), ("data:,a\tb\r\nc", Self.standard, "abc"),
        ("data:,a \n ", Self.standard, "a"),
        ("data: image/png ,x", "image/png", "x"), ("data:image/png ; base64,Zg==", "image/png", "f"),
        // Media types.
        ("data:image/png,x", "image/png", "x"), ("data:;charset=utf-8,x", "text/plain;charset=utf-8", "x"),
        ("data:Image/SVG+xml;charset=utf-8,x", "Image/SVG+xml;charset=utf-8", "x"),
        ("data:image,x", Self.standard, "x"), ("data:/png,x", Self.standard, "x"),
        ("data:image/,x", Self.standard, "x"),
        ("data:a b/png,x", Self.standard, "x"), ("data:image/p\"g,x", Self.standard, "x"),
        ("data:image/png/x,x", Self.standard, "x"),
        // The last parameter says base64, in any case.
        ("data:image/png;base64,Zm9v", "image/png", "foo"), ("data:;BASE64,Zm9v", Self.standard, "foo"),
        ("data:image/png;charset=x;Base64,Zm9v", "image/png;charset=x", "foo"),
        ("data:;base64;,Zm9v", "text/plain;base64;", "Zm9v"), ("data:base64,Zm9v", Self.standard, "Zm9v"),
        ("data:;xbase64,Zm9v", "text/plain;xbase64", "Zm9v"), ("data:;base64 ,Zm9v", Self.standard, "foo"),
        ("data:;base64,Zm%39v%20%0A", Self.standard, "foo"), ("data:;base64,Z m9v", Self.standard, "foo"),
        ("data:;base64,Zg%3D%3D", Self.standard, "f"), ("data:;base64,%5A%67", Self.standard, "f"),
    ])
    func givesTypeAndBody(text: String, type: String, body: String) throws {
        let data = try data(text)
        #expect(data.mediaType == type)
        #expect(Self.readable(data.body) == body)
    }

    private static let standard = "text/plain;charset=US-ASCII"

    @Test(arguments: [
        "data:", "data:image/png", "data:;base64", "data:#,x", "data:;base64,Z", "data:;base64,Zg=", "data:;base64,*",
    ])
    func refusesMalformedURLs(text: String) {
        #expect(throws: DataURL.Flaw.malformed) { try data(text) }
    }

    @Test func limitsTheDecodedBody() throws {
        #expect(try data("data:,abc", limit: 3).body.count == 3)
        #expect(throws: DataURL.Flaw.tooLarge) { try data("data:,abcd", limit: 3) }
        // The limit is on the decoded body.
        #expect(try data("data:,%41%41%41", limit: 3).body.count == 3)
        #expect(try data("data:;base64,Zm9v", limit: 3).body.count == 3)
        #expect(throws: DataURL.Flaw.tooLarge) { try data("data:;base64,Zm9vYg", limit: 3) }
    }

    /// For any bytes there is a body no longer than the text and a type that may stand in a header, or a flaw.
    @Test(arguments: 0..<20)
    func survivesAnyBytes(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "data:", ";base64", ",", "%", "%4", "%41", "=", "Zm9v", "/", ";", " ", "\n", "é", "#", "\u{0}", "base64",
        ]
        for _ in 0..<3000 {
            var text = Bool.random(using: &random) ? "data:" : ""
            for _ in 0..<Int.random(in: 0...12, using: &random) { text += pieces.randomElement(using: &random) ?? "" }
            var bytes = Array(text.utf8)
            if !bytes.isEmpty, Bool.random(using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let url = try? url(bytes, limit: 100) else { continue }
            #expect(url.text.utf8.allSatisfy { (0x20...0x7e).contains($0) })
            guard let data = try? DataURL(url, limit: 60) else { continue }
            #expect(data.body.count <= min(60, bytes.count * 3))
            #expect(data.mediaType.utf8.allSatisfy { (0x20...0x7e).contains($0) } && data.mediaType.utf8.contains(0x2f))
        }
    }

    // MARK: The URL

    @Test func onlyTheDataSchemeIsData() throws {
        for text in ["data:", "DATA:,x", "dAtA:,x"] {
            #expect(Array(text.utf8).withUnsafeBufferPointer { ImageURL.isData($0) }, "\(text)")
        }
        // The characters of the last two differ from letters and the colon only in the bit that distinguishes cases.
        for text in ["", "data", "datas:,", "http://h/", "d\u{41}t\u{1}:", "data\u{1a}", "\u{44}\u{1}ta:"] {
            #expect(!Array(text.utf8).withUnsafeBufferPointer { ImageURL.isData($0) }, "\(text)")
        }
    }

    @Test func checksDataURLs() throws {
        let plain = try url(Array("data:,x".utf8), limit: 7)
        #expect(plain.scheme == .data && plain.text == "data:,x" && plain.hostKey == 0 && !plain.hasUserinfo)
        #expect(try url(Array("data:,a b\u{7f}\té\n".utf8), limit: 99).text == "data:,a b%7F%C3%A9")
        #expect(throws: ImageURL.Flaw.tooLong) { try url(Array("data:,x".utf8), limit: 6) }
        #expect(throws: ImageURL.Flaw.notUTF8) { try url(Array("data:,x".utf8) + [0xff], limit: 99) }
        #expect(throws: ImageURL.Flaw.scheme) { try url(Array("http://h/".utf8), limit: 99) }
    }

    @Test func dataURLsMayBeLongerThanOthers() throws {
        let long = Array("data:,".utf8) + Array(repeating: UInt8(ascii: "a"), count: ImageURL.maxLength)
        let data = try DataURL(url(long, limit: 1 << 20), limit: 1 << 20)
        #expect(data.body.count == ImageURL.maxLength)
    }

    private func url(_ bytes: [UInt8], limit: Int) throws(ImageURL.Flaw) -> ImageURL {
        try bytes.withUnsafeBufferPointer { (bytes) throws(ImageURL.Flaw) in try ImageURL(data: bytes, limit: limit) }
    }

    private func data(_ text: String, limit: Int64 = 1000) throws -> DataURL {
        try DataURL(url(Array(text.utf8), limit: 1000), limit: limit)
    }

    /// Writes bytes that are not printable as "\" and two digits.
    private static func readable(_ bytes: Bytes) -> String {
        bytes.pointer.map { byte in
            if (0x20...0x7e).contains(byte) { return String(Unicode.Scalar(byte)) }
            let digits = String(byte, radix: 16)
            return "\\" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}

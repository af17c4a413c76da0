import Testing

@testable import SDDTransport

@Suite struct URLTextTests {
    @Test(arguments: [
        ("http://example.org/a", "example.org"), ("https://u:p@example.org:8080?q", "example.org"),
        ("http://u@v@h#f", "h"), ("http://[::1]:80/", "[::1]"), ("http://h", "h"), ("file:///a/b", "a"), ("", ""),
        ("no-colon", ""), ("http://h/@x", "h"),
    ])
    func findsTheHost(url: String, host: String) {
        #expect(URLText.host(url) == host)
    }

    @Test(arguments: [
        ("http://u:p@h/", true), ("http://h/a@b", false), ("http://h?x=@", false), ("http://h#@", false),
        ("http://u@h", true),
    ])
    func findsCredentials(url: String, has: Bool) {
        #expect(URLText.hasCredentials(url) == has)
    }

    @Test(arguments: [
        ("http://u:p@h/a@b", "http://h/a@b"), ("https://u@v@h:1?x=@", "https://h:1?x=@"), ("http://h/@", "http://h/@"),
        ("http://@h", "http://h"), ("", ""),
    ])
    func removesCredentials(url: String, rest: String) {
        #expect(URLText.withoutCredentials(url) == rest)
    }

    @Test(arguments: [
        ("file:///a/b", "/a/b"), ("file://localhost/a%20b", "/a b"), ("file:///a?b#c", "/a"),
        ("file:///%zz%4", "/%zz%4"),
        ("file:///%C3%A9", "/é"), ("file://", ""),
    ])
    func decodesTheFilePath(url: String, path: String) {
        #expect(URLText.filePath(url) == Array(path.utf8))
    }

    @Test func aFilePathNeedNotBeUTF8() {
        #expect(URLText.filePath("file:///caf%E9.jpg") == Array("/caf".utf8) + [0xe9] + Array(".jpg".utf8))
    }
}

import SDDTransport
import Testing

/// Resolving a Location or Content-Location, for the URLs that are invalidated with a response (RFC 9111 §4.4).
@Suite struct URLReferenceTests {
    @Test(
        "RFC 3986 §5.4.1 and §5.4.2: the examples",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("g#s", "http://a/b/c/g#s"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ])
    func resolves(reference: String, to url: String) {
        #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == url)
    }

    @Test(arguments: [
        ("//g/h", "http://g/h"), ("https://b.test/x", "https://b.test/x"), ("HTTP://b.test/", "http://b.test/"),
    ])
    func resolvesToOtherSchemes(reference: String, to url: String) {
        #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q")?.lowercased() == url)
    }

    @Test(arguments: [
        "g:h", "mailto:a@b", "file:///etc/passwd", "FILE:/etc/passwd", "ftp://a/", "javascript:alert(1)", "http://",
        "//", "http://[::1/", "http://a:99999/",
    ])
    func refuses(reference: String) {
        #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == nil)
    }

    @Test func refusesAnInvalidBase() {
        #expect(URLReference.resolve("/x", against: "") == nil)
        #expect(URLReference.resolve("/x", against: "no url") == nil)
        #expect(URLReference.resolve("x", against: "file:///etc/passwd") == nil)
        #expect(URLReference.resolve("http://b.test/", against: "") == nil)
    }

    @Test(
        "RFC 9110 §4.3.1: the same origin",
        arguments: [
            ("http://a.test/x", "http://a.test/y?z#f", true), ("http://a.test/", "http://A.TEST:80/", true),
            ("https://a.test/", "https://a.test:443/", true), ("http://u:p@a.test/", "http://a.test/", true),
            ("http://a.test/", "https://a.test/", false), ("http://a.test/", "http://b.test/", false),
            ("http://a.test/", "http://a.test:81/", false), ("http://a.test/", "http://www.a.test/", false),
            ("http://a.test:443/", "https://a.test/", false), ("", "", false), ("x", "x", false),
            ("http://a.test/", "", false), ("http://[::1]/", "http://[::1]:80/", true),
            ("http://a.test@b.test/", "http://a.test/", false),
        ])
    func comparesOrigins(one: String, other: String, isSame: Bool) {
        #expect(URLReference.sameOrigin(one, other) == isSame)
        #expect(URLReference.sameOrigin(other, one) == isSame)
    }
}

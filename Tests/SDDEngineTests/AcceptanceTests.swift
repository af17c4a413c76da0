import Testing

@testable import SDDEngine

@Suite struct AcceptanceTests {
    private func takes(_ status: Int32, _ statuses: String?) throws -> Bool {
        try Sample.acceptance(statuses: statuses).takes(status: status)
    }

    @Test(
        "G8: statuses",
        arguments: [
            (nil, [200, 250, 299], [199, 300, 304, 404]),
            ("200", [200], [199, 201]),
            ("200-299,304", [200, 299, 304], [300, 303, 305]),
            (" 200-299\t, 404 ", [200, 299, 404], [403]),
            ("404-404", [404], [403, 405]),
            ("000-999", [1, 999], []),
            ("500,100,200-299", [500, 100, 201], [501]),
            ("*", [1, 304, 999], []),
        ] as [(String?, [Int32], [Int32])])
    func takesStatuses(_ statuses: String?, taken: [Int32], refused: [Int32]) throws {
        for status in taken { #expect(try takes(status, statuses), "\(status)") }
        for status in refused { #expect(try !takes(status, statuses), "\(status)") }
        // Schemes without statuses are always accepted.
        #expect(try takes(0, statuses))
    }

    @Test(arguments: [
        "", " ", ",", "200,", ",200", "200,,201", "20", "2000", "-200", "200-", "200-199", "200-299-300", "+20", "2 00",
        "20x", "200 - 299", "x", "**", "*,200", "200,*", "２００", "-", "--", "200\n", "0x1", "200;300", "200--299",
    ])
    func refusesStatuses(_ statuses: String) {
        #expect(Acceptance(statuses: statuses, types: nil) == nil)
    }

    @Test(
        "G9: media types",
        arguments: [
            (nil, ["", "text/html", "image/png"], []),
            ("*", ["", "text/html", "image/png"], []),
            ("image/png", ["image/png"], ["", "image/jpeg", "image/pngx", "image"]),
            ("image/png , text/plain", ["image/png", "text/plain"], ["", "text/html"]),
            ("Image/*", ["image/png", "image/svg+xml"], ["", "imagex/png", "text/html", "image"]),
            ("application/vnd.x+json", ["application/vnd.x+json"], ["application/json"]),
        ] as [(String?, [String], [String])])
    func takesTypes(_ types: String?, taken: [String], refused: [String]) throws {
        let acceptance = try Sample.acceptance(types: types)
        for type in taken { #expect(acceptance.takes(type: type), "\(type)") }
        for type in refused { #expect(!acceptance.takes(type: type), "\(type)") }
    }

    @Test(arguments: [
        "", ",", "image", "image/", "/png", "image/png,", "image/png;q=1", "*/*", "*/png", "image/png/x", "im age/png",
        "image/p ng", "image/*,*", "bücher/png", "image/png\r\n",
    ])
    func refusesTypes(_ types: String) {
        #expect(Acceptance(statuses: nil, types: types) == nil)
    }

    @Test("B20: what a request leaves out is taken from the downloader")
    func missingRulesAreTheDownloaders() throws {
        let standard = try Sample.acceptance(statuses: "404", types: "text/*")
        let request = try #require(Acceptance(statuses: nil, types: "image/png", standard: standard))
        #expect(request.takes(status: 404) && !request.takes(status: 200))
        #expect(request.takes(type: "image/png") && !request.takes(type: "text/plain"))
        let other = try #require(Acceptance(statuses: "*", types: nil, standard: standard))
        #expect(other.takes(status: 200))
        #expect(other.takes(type: "text/plain") && !other.takes(type: "image/png"))
    }

    @Test func theTypeIsReadOnlyWhenNeeded() throws {
        var reads = 0
        func type() -> String {
            reads += 1
            return "image/png"
        }
        #expect(Acceptance.standard.takes(type: type()) && reads == 0)
        #expect(try Sample.acceptance(types: "image/*").takes(type: type()) && reads == 1)
    }
}

import SDDBase
import Testing

@testable import SDDTransport

/// Header lines that some version of libcurl accepts, and that HTTP does not have.
@Suite struct HeaderReaderTests {
    private func fault(_ lines: String...) throws -> HeaderFault? {
        var reader = HeaderReader()
        for line in lines + [""] {
            let bytes = Array((line + "\r\n").utf8)
            bytes.withUnsafeBytes { reader.read($0) }
        }
        #expect(reader.stage == .complete)
        let fields = reader.takeFields()
        return reader.fault(of: try #require(fields), hasBody: true)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0  404 Not  Found", "HTTP/2 200 ", "HTTP/3 204 ",
        "HTTP/1.1 999 \u{e9}\ttabs in the reason",
    ])
    func takesStatusLines(line: String) throws { #expect(try fault(line) == nil) }

    @Test(arguments: [
        "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK", "HTTP/1.1 \t200 OK", "HTTP/1.1",
        "HTTP/1.1 ", "HTTP/1.1 2x0 OK", "HTTP/1.1 200OK", "HTTP/1.1 -20 OK", "http/1.1 200 OK", "HTTP/",
    ])
    func refusesStatusLines(line: String) throws { #expect(try fault(line) == .statusLine) }

    @Test func refusesSeveralLocationsWithAnyStatus() throws {
        for status in ["HTTP/1.1 200 OK", "HTTP/1.1 302 Found", "HTTP/1.1 404 Not Found"] {
            #expect(try fault(status, "Location: /a", "location: /b") == .locations)
            #expect(try fault(status, "Location: /a", "X: y", "Location: /a") == nil)
        }
    }
}

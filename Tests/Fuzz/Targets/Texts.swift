import SDDBase

@testable import SDDEngine
@testable import SDDTransport

/// Texts from servers, callers and files: URLs, header lines, cookies, redirects.
@_cdecl("fuzz_text")
public func fuzzText(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let bytes, count > 1 else { return Verdict.rejected }
    let text = UnsafeRawBufferPointer(start: bytes + 1, count: count - 1)
    switch bytes[0] & 3 {
    case 0:
        checkURL(text.bindMemory(to: UInt8.self))
        checkDataURL(text.bindMemory(to: UInt8.self))
    case 1: checkHeader(text)
    case 2: checkCookies(String(decoding: text, as: UTF8.self))
    default: checkRedirect(String(decoding: text, as: UTF8.self), status: 300 + Int32(bytes[0] >> 2 & 15))
    }
    return Verdict.interesting
}

private func url(_ bytes: UnsafeBufferPointer<UInt8>) -> ImageURL? { try? ImageURL(checking: bytes, allowsFiles: true) }

/// Checks that an accepted URL is accepted again, and equal.
private func checkURL(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let url = url(bytes) else { return }
    guard url.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { finding("a URL that is not plain ASCII") }
    // Percent-encoding may make the URL too long the second time.
    let again = Array(url.text.utf8).withUnsafeBufferPointer { SDDFuzz.url($0) }
    guard again == url || url.text.utf8.count > ImageURL.maxLength else { finding("another URL the second time") }
    _ = URLText.host(url.text)
    _ = URLParts(url.text)?.origin
}

/// Checks that an accepted data: URL is accepted again, and that its body is no longer than its text.
private func checkDataURL(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard ImageURL.isData(bytes), let url = try? ImageURL(data: bytes, limit: bytes.count) else { return }
    guard url.text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { finding("a data: URL that is not ASCII") }
    let again = Array(url.text.utf8).withUnsafeBufferPointer { try? ImageURL(data: $0, limit: $0.count) }
    guard again == url else { finding("another data: URL the second time") }
    guard let data = try? DataURL(url, limit: Int64(bytes.count)) else { return }
    guard data.body.count <= bytes.count else { finding("a body longer than its URL") }
    guard data.mediaType.utf8.contains(UInt8(ascii: "/")) else { finding("an invalid media type") }
}

/// Reads a header line by line, and checks the result.
private func checkHeader(_ text: UnsafeRawBufferPointer) {
    var reader = HeaderReader()
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        // The line has its own memory, so that the sanitizer detects reads past its end.
        guard let line = Bytes(copying: UnsafeRawBufferPointer(rebasing: line)) else { continue }
        reader.read(line.pointer)
    }
    guard let fields = reader.takeFields() else { return }
    _ = reader.fault(of: fields, hasBody: true)
    _ = HeaderRules.contentCodings(fields)
    _ = try? HeaderRules.location(fields)
    for index in 0..<fields.count {
        guard let field = fields.at(index) else { finding("fewer fields than were counted") }
        guard fields.value(of: field.name) != nil else { finding("a field that cannot be found") }
    }
    _ = fields.mimeType
    if let length = reader.length, length < 0 { finding("a negative length") }
}

/// Checks that a well-formed cookie survives being written to a file and read back.
private func checkCookies(_ text: String) {
    for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }) {
        guard let cookie = Cookie(line: line), cookie.isWellFormed else { continue }
        guard Cookie(line: cookie.line) == cookie else { finding("a different cookie is read back") }
        _ = CookieJar.surplus(of: [cookie, cookie.deletion])
        _ = cookie.belongs(to: "example.org")
    }
}

/// Checks that a redirect leads to http or https, without a downgrade, and carries no secrets to another place.
private func checkRedirect(_ location: String, status: Int32) {
    let start = Array("https://user:secret@a.test:8443/x/y?q#f".utf8)
    guard let from = start.withUnsafeBufferPointer({ url($0) }) else { finding("the start URL is rejected") }
    var request = HTTPRequest(url: from)
    request.headers.set("Authorization", to: "secret")
    var redirects = Redirects(limit: 3, allowsDowngrade: false)
    guard let next = try? redirects.follow(location, status: status, from: request) else { return }
    guard next.url.scheme == .https else { finding("a redirect away from https") }
    guard URLParts(next.url.text)?.origin != URLParts(from.text)?.origin else { return }
    guard next.headers["Authorization"] == nil, !next.url.hasUserinfo else { finding("secrets go to another host") }
}

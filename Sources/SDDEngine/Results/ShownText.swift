// An application's texts and URLs as messages show them.

/// The most bytes of a text that messages show.
package let longestShown = 64

/// Returns a text as messages show it: in quotes, cut if it is long, with unprintable bytes as \xNN.
package func shown(_ text: [UInt8]) -> String {
    var part = text.prefix(longestShown)
    let isCut = part.count < text.count
    // Do not cut a character in two.
    while isCut, let last = part.last, last & 0xc0 == 0x80 { part.removeLast() }
    if isCut, let last = part.last, last >= 0xc0 { part.removeLast() }
    let isText = String(validating: part, as: UTF8.self) != nil
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in part {
        if byte >= 0x20 && byte < 0x7f || isText && byte >= 0x80 {
            bytes.append(byte)
        } else {
            let digits = Array("0123456789abcdef".utf8)
            bytes += [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    bytes += Array((isCut ? "…\"" : "\"").utf8)
    return String(decoding: bytes, as: UTF8.self)
}

/// Returns a URL as messages show it: without the part before its host, which may contain a password, and without its
/// query, which may contain tokens. Everything before the last "@" is left out, since the URL may be malformed.
package func shownURL(_ url: [UInt8]) -> String {
    let end = url.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
    // In a malformed URL a password may contain "?" or "#".
    guard let at = url.lastIndex(of: UInt8(ascii: "@")) else { return shown(Array(url[..<end])) }
    return shown(Array(url[min(at + 1, end)..<end]))
}

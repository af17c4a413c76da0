/// Replies that depend on the user that the request names.
extension Replies {
    static let personal: [String: Reply] = ["who": who]

    /// Answers as for another target, chosen by the user. Each parameter is named after a user and holds the target for
    /// requests whose header fields contain that name, in plain text or base64; `nobody=` is for all others.
    private static let who: Reply = { exchange throws(ReplyEnd) in
        let said = exchange.request.headerFieldText
        let found = exchange.request.query.first { $0.name != "nobody" && said.contains($0.name.lowercased()) }
        guard let target = found?.value ?? exchange.request.parameter("nobody"),
            let request = exchange.request.asked(for: target), word(of: request.path) != "who"
        else { throw .misspelt("/who: nothing for this caller that is a target") }
        let inner = Exchange(request, on: exchange.socket, site: exchange.site)
        defer { exchange.keepsAlive = exchange.keepsAlive && inner.keepsAlive }
        try run(inner)
    }
}

extension ServerRequest {
    /// The values of all header fields in lower case, with base64 decoded. The `uri` of a digest (RFC 7616 §3.4) is
    /// left out, since it contains all names.
    fileprivate var headerFieldText: String {
        headers.map { field in
            let words = field.value.split(separator: " ").filter { !$0.hasPrefix("uri=") }
            let unpacked = words.compactMap { base64Decoded($0) }.map { String(decoding: $0, as: UTF8.self) }
            return (words.map(String.init) + unpacked).joined(separator: "\n").lowercased()
        }.joined(separator: "\n")
    }
}

/// Decodes base64 (RFC 4648 §4); nil if it is malformed.
private func base64Decoded(_ text: Substring) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
    for byte in text.utf8 where byte != UInt8(ascii: "=") {
        guard let digit = digits.firstIndex(of: byte) else { return nil }
        bits = bits << 6 | UInt32(digit)
        count += 6
        guard count >= 8 else { continue }
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
    }
    return bytes
}

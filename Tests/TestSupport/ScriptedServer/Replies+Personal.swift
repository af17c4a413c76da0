/// Replies that depend on who asks.
extension Replies {
    static let personal: [String: Reply] = ["who": who]

    /// Each parameter that names a person says which target is answered in place of this one for a request whose header
    /// fields name the same person, packed by base64 or not; `nobody=` for all others.
    private static let who: Reply = { exchange throws(ReplyEnd) in
        let said = exchange.request.whatItSays
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
    /// The values of all header fields in lower case, with what stands there in base64. Without the `uri` of a digest
    /// (RFC 7616 §3.4), which has all names in it.
    fileprivate var whatItSays: String {
        headers.map { field in
            let words = field.value.split(separator: " ").filter { !$0.hasPrefix("uri=") }
            let unpacked = words.compactMap { base64Decoded($0) }.map { String(decoding: $0, as: UTF8.self) }
            return (words.map(String.init) + unpacked).joined(separator: "\n").lowercased()
        }.joined(separator: "\n")
    }
}

/// RFC 4648 §4; nil for what is none.
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

/// Replies that send the rest of a body to a client that has its beginning: "bytes=N-" (RFC 9110 §14.2), and no other
/// range.
extension Replies {
    static let ranged: [String: Reply] = ["ranged": rest]

    private static let rest: Reply = { exchange throws(ReplyEnd) in
        let body = try exchange.body()
        guard let start = wantedStart(exchange) else { return try sendPart(exchange, body, from: nil) }
        if let status = try exchange.number("refuse") { return try exchange.reply(status, text: "no part\n") }
        guard start < body.count else {
            return try exchange.reply(
                416, type: "text/plain", ReplyBody("behind the end\n"),
                headers: ["Content-Range: bytes */\(body.count)"])
        }
        try sendPart(exchange, body, from: start)
    }

    /// Returns the first byte that the request asks for; nil means the whole body.
    private static func wantedStart(_ exchange: Exchange) -> Int? {
        guard let range = exchange.request.header("Range"), range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        if let condition = exchange.request.header("If-Range") {
            guard condition == tag(exchange) || condition == exchange.request.parameter("modified") else { return nil }
        }
        return Int(range.dropFirst("bytes=".count).dropLast())
    }

    private static func tag(_ exchange: Exchange) -> String { exchange.request.parameter("etag") ?? "\"v1\"" }

    private static func sendPart(_ exchange: Exchange, _ body: ReplyBody, from start: Int?) throws(ReplyEnd) {
        let first = start ?? 0
        var end = body.count
        if start != nil, let given = try exchange.number("end") { end = given }
        let cut = try exchange.numbers("cuts").first { $0 > first } ?? end
        var framing = try exchange.wantedFraming(of: body)
        if case .length = framing { framing = .length(String(end - first)) }
        var headers = ["Accept-Ranges: bytes"] + validators(exchange, isPart: start != nil)
        if start != nil {
            let range = exchange.request.parameter("range") ?? "bytes \(first)-\(end - 1)/\(body.count)"
            if !range.isEmpty { headers.append("Content-Range: \(range)") }
            headers += exchange.request.parameters("part-header")
        }
        try exchange.sendHead(start == nil ? 200 : 206, type: exchange.bodyType, framing, headers: headers)
        // Set after the head is sent, so that it does not say "Connection: close".
        if cut < end { exchange.keepsAlive = false }
        try exchange.send(body, first..<min(cut, end), framing)
        if cut >= end { try exchange.finish(framing) }
    }

    private static func validators(_ exchange: Exchange, isPart: Bool) -> [String] {
        let tag = (isPart ? exchange.request.parameter("part-etag") : nil) ?? tag(exchange)
        let modified = exchange.request.parameter("modified").map { "Last-Modified: \($0)" }
        return (tag.isEmpty ? [] : ["ETag: \(tag)"]) + (modified.map { [$0] } ?? [])
    }
}

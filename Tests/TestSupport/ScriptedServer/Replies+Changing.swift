/// Replies that depend on earlier requests, or on what the client has already.
extension Replies {
    static let changing: [String: Reply] = ["turns": turns, "tagged": tagged]

    /// Answers the Nth request of a path as the Nth `reply=` says; the last one serves all that follow.
    private static let turns: Reply = { exchange throws(ReplyEnd) in
        let replies = exchange.request.parameters("reply")
        let turn = min(exchange.site.log.count(exchange.request.path), replies.count) - 1
        guard turn >= 0, let request = exchange.request.asked(for: replies[turn]), word(of: request.path) != "turns"
        else { throw .misspelt("/turns: no reply= that is a target") }
        let inner = Exchange(request, on: exchange.socket, site: exchange.site)
        defer { exchange.keepsAlive = exchange.keepsAlive && inner.keepsAlive }
        try run(inner)
    }

    /// Sends 304 if the If-None-Match of the request is that very tag (RFC 9110 §13.1.2).
    private static let tagged: Reply = { exchange throws(ReplyEnd) in
        let tag = exchange.request.parameter("etag") ?? "\"v1\""
        if exchange.request.header("If-None-Match") == tag {
            return try exchange.sendHead(304, .none, headers: ["ETag: \(tag)"])
        }
        try exchange.reply(type: exchange.bodyType, try exchange.body(), headers: ["ETag: \(tag)"])
    }
}

extension ServerRequest {
    /// Returns this request with another target; nil if that is not a valid target.
    func asked(for target: String) -> ServerRequest? {
        guard target.hasPrefix("/"), !target.contains(" ") else { return nil }
        let fields = head.drop { $0 != UInt8(ascii: "\r") }
        return ServerRequest(head: Array("\(method) \(target) \(version)".utf8) + fields, connection: connection)
    }
}

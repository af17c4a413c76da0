/// Replies that no correct server sends: cut off, endless, or not HTTP.
extension Replies {
    static let broken: [String: Reply] = [
        "cut": cut, "cut-chunked": cutChunked, "cut-head": cutHead, "reset": reset,
        "endless": endless, "endless-close": endlessClose, "announce": announce, "overrun": overrun,
        "garbage": garbage, "http09": http09, "bad-chunk": badChunk, "header-flood": headerFlood, "interim": interim,
    ]

    // MARK: Cut

    private static let cut: Reply = { exchange throws(ReplyEnd) in
        let body = try exchange.body()
        try sendPart(exchange, body, .length(String(body.count)))
    }

    private static let cutChunked: Reply = { exchange throws(ReplyEnd) in
        try sendPart(exchange, try exchange.body(), .chunked)
    }

    private static let cutHead: Reply = { exchange throws(ReplyEnd) in
        exchange.keepsAlive = false
        try exchange.socket.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Le")
    }

    private static let reset: Reply = { exchange throws(ReplyEnd) in
        exchange.socket.resetOnClose()
        exchange.keepsAlive = false
        guard exchange.request.parameter("after") != nil else { return }
        let body = try exchange.body()
        try sendPart(exchange, body, .length(String(body.count)))
    }

    /// Sends the head and as many bytes as `after=` says (default: half), and nothing more on this connection.
    private static func sendPart(_ exchange: Exchange, _ body: ReplyBody, _ framing: Framing) throws(ReplyEnd) {
        let after = try exchange.number("after") ?? body.count / 2
        // Set after the head is sent, so that it does not say "Connection: close".
        try exchange.sendHead(type: exchange.bodyType, framing)
        exchange.keepsAlive = false
        try exchange.send(body, 0..<after, framing)
    }

    // MARK: Too much

    private static let endless: Reply = { exchange throws(ReplyEnd) in try sendWithoutEnd(exchange, .chunked) }

    private static let endlessClose: Reply = { exchange throws(ReplyEnd) in try sendWithoutEnd(exchange, .close) }

    private static func sendWithoutEnd(_ exchange: Exchange, _ framing: Framing) throws(ReplyEnd) {
        let body = ReplyBody(seed: ReplyBody.seed(of: exchange.request.target), count: 1 << 62)
        try exchange.sendHead(type: exchange.bodyType, framing)
        try exchange.send(body, 0..<body.count, framing)
    }

    private static let announce: Reply = { exchange throws(ReplyEnd) in
        let body = ReplyBody(
            seed: ReplyBody.seed(of: exchange.request.target), count: try exchange.number("after") ?? 10)
        try exchange.sendHead(type: exchange.bodyType, .length(exchange.request.parameter("size") ?? "1099511627776"))
        try exchange.send(body, 0..<body.count, .close)
        try exchange.waitForEver()
    }

    private static let overrun: Reply = { exchange throws(ReplyEnd) in
        let body = try exchange.body()
        let extra = try exchange.number("extra") ?? 10
        try exchange.sendHead(type: exchange.bodyType, .length(String(body.count)))
        exchange.keepsAlive = false
        try exchange.send(body, 0..<body.count, .close)
        try exchange.socket.send(String(repeating: "x", count: extra))
    }

    private static let headerFlood: Reply = { exchange throws(ReplyEnd) in
        let count = try exchange.number("count") ?? .max
        let filling = String(repeating: "f", count: try exchange.number("length") ?? 1000)
        let body = try exchange.body()
        try exchange.socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n")
        for index in 0..<count { try exchange.socket.send("X-Flood-\(index): \(filling)\r\n") }
        try exchange.socket.send("\r\n")
        try exchange.send(body, 0..<body.count, .close)
    }

    private static let interim: Reply = { exchange throws(ReplyEnd) in
        let count = try exchange.number("count") ?? .max
        for _ in 0..<count {
            try exchange.socket.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        }
        try exchange.reply(type: exchange.bodyType, try exchange.body())
    }

    // MARK: Not HTTP

    private static let garbage: Reply = { exchange throws(ReplyEnd) in
        exchange.keepsAlive = false
        try exchange.socket.send("HTTP/1.1 banana\r\n: no name\r\nno colon\r\n\r\n")
    }

    private static let http09: Reply = { exchange throws(ReplyEnd) in
        exchange.keepsAlive = false
        let body = try exchange.body()
        try exchange.send(body, 0..<body.count, .close)
    }

    private static let badChunk: Reply = { exchange throws(ReplyEnd) in
        try exchange.sendHead(type: exchange.bodyType, .chunked)
        exchange.keepsAlive = false
        try exchange.socket.send("5\r\nhello\r\nZZ\r\nworld\r\n0\r\n\r\n")
    }
}

/// Slow replies: they wait for a release, for the client, or for the clock.
extension Replies {
    static let slow: [String: Reply] = [
        "hold": hold, "steps": steps, "silence": silence, "stall": stall, "trickle": trickle,
        "trickle-head": trickleHead,
    ]

    private static let hold: Reply = { exchange throws(ReplyEnd) in
        guard let after = try exchange.number("after") else {
            try exchange.site.gates.pass(exchange.name, on: exchange.socket)
            return try exchange.reply(type: exchange.bodyType, try exchange.body())
        }
        try inSteps(exchange, stops: [(after, exchange.name)])
    }

    private static let steps: Reply = { exchange throws(ReplyEnd) in
        let marks = try exchange.numbers("at")
        guard !marks.isEmpty, marks == marks.sorted() else { throw .misspelt("/steps: at= is not a rising list") }
        try inSteps(exchange, stops: marks.enumerated().map { ($1, "\(exchange.name).\($0 + 1)") })
    }

    /// Sends the body up to each mark, and continues when the gate of that mark opens.
    private static func inSteps(_ exchange: Exchange, stops: [(mark: Int, gate: String)]) throws(ReplyEnd) {
        let body = try exchange.body()
        let framing = try exchange.wantedFraming(of: body)
        try exchange.sendHead(type: exchange.bodyType, framing)
        var sent = 0
        for stop in stops {
            try exchange.send(body, sent..<stop.mark, framing)
            sent = stop.mark
            try exchange.site.gates.pass(stop.gate, on: exchange.socket)
        }
        try exchange.send(body, sent..<max(sent, body.count), framing)
        try exchange.finish(framing)
    }

    private static let silence: Reply = { exchange throws(ReplyEnd) in try exchange.waitForEver() }

    private static let stall: Reply = { exchange throws(ReplyEnd) in
        let body = try exchange.body()
        let framing = try exchange.wantedFraming(of: body)
        let after = try exchange.number("after") ?? body.count / 2
        try exchange.sendHead(type: exchange.bodyType, framing)
        try exchange.send(body, 0..<after, framing)
        try exchange.waitForEver()
    }

    private static let trickle: Reply = { exchange throws(ReplyEnd) in
        let body = try exchange.body()
        let framing = try exchange.wantedFraming(of: body)
        let piece = max(1, try exchange.number("piece") ?? 1)
        let every = try exchange.number("every") ?? 10
        try exchange.sendHead(type: exchange.bodyType, framing)
        try exchange.send(body, 0..<body.count, framing, most: piece) { () throws(ReplyEnd) in
            try exchange.socket.pause(milliseconds: every)
        }
        try exchange.finish(framing)
    }

    private static let trickleHead: Reply = { exchange throws(ReplyEnd) in
        let body = try exchange.body()
        let every = try exchange.number("every") ?? 10
        let head = "HTTP/1.1 200 OK\r\nContent-Type: \(exchange.bodyType)\r\nContent-Length: \(body.count)\r\n\r\n"
        for byte in head.utf8 {
            try exchange.socket.send([byte])
            try exchange.socket.pause(milliseconds: every)
        }
        try exchange.send(body, 0..<body.count, .close)
    }
}

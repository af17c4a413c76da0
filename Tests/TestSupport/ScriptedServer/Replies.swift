/// The language of the server: the first component of a request's path names the reply. Tests/FaultServer/README.md
/// describes it for users; each word that is added here must be added there.
enum Replies {
    typealias Reply = @Sendable (Exchange) throws(ReplyEnd) -> Void

    static let table: [String: Reply] = ordinary.merging(slow, uniquingKeysWith: { a, _ in a })
        .merging(broken, uniquingKeysWith: { a, _ in a })
        .merging(packed, uniquingKeysWith: { a, _ in a })
        .merging(ranged, uniquingKeysWith: { a, _ in a })
        .merging(recovering, uniquingKeysWith: { a, _ in a })
        .merging(scripted, uniquingKeysWith: { a, _ in a })
        .merging(changing, uniquingKeysWith: { a, _ in a })
        .merging(personal, uniquingKeysWith: { a, _ in a })

    /// Words that control the server. Such requests are not under test: they are not counted and not recorded.
    static let control: [String: Reply] = [
        "release": release, "stats": statistics, "count": count, "reset-stats": resetStatistics,
        "wait": wait, "wait-idle": waitIdle,
    ]

    static func word(of path: String) -> String {
        path.split(separator: "/", maxSplits: 1).first.map(String.init) ?? ""
    }

    static func run(_ exchange: Exchange) throws(ReplyEnd) {
        guard exchange.request.method != "CONNECT" else { return try exchange.reply(405, text: "no CONNECT here\n") }
        let word = word(of: exchange.request.path)
        guard let reply = control[word] ?? table[word] else {
            return try exchange.reply(404, text: "no such word: /\(word)\n")
        }
        if let delay = try exchange.number("delay") { try exchange.socket.pause(milliseconds: delay) }
        try reply(exchange)
    }

    // MARK: Ordinary replies

    private static let ordinary: [String: Reply] = [
        "ok": ok, "file": file, "status": status, "html": html, "empty": empty, "echo": echo,
        "redirect": redirect, "redirect-loop": redirectLoop, "redirect-chain": redirectChain,
        "challenge": challenge,
    ]

    private static let ok: Reply = { exchange throws(ReplyEnd) in
        try exchange.reply(type: exchange.bodyType, try exchange.body())
    }

    private static let file: Reply = { exchange throws(ReplyEnd) in
        guard let body = ReplyBody(file: exchange.name, below: exchange.site.fileRoot) else {
            return try exchange.reply(404, text: "no such file: \(exchange.name)\n")
        }
        try exchange.reply(type: contentType(ofFile: exchange.name), body)
    }

    private static let status: Reply = { exchange throws(ReplyEnd) in
        guard let status = Int(exchange.name), (100...999).contains(status) else {
            throw .misspelt("/status/\(exchange.name): not a status")
        }
        if status < 200 || status == 204 || status == 304 { return try exchange.sendHead(status, .none) }
        let given = exchange.request.parameter("size") ?? exchange.request.parameter("file")
        if given != nil { return try exchange.reply(status, type: exchange.bodyType, try exchange.body()) }
        try exchange.reply(status, type: "text/html", page("Status \(status)"))
    }

    private static let html: Reply = { exchange throws(ReplyEnd) in
        try exchange.reply(type: "text/html", page("No picture"))
    }

    private static func page(_ title: String) -> ReplyBody {
        ReplyBody("<!DOCTYPE html>\n<html><head><title>\(title)</title></head><body>\(title)</body></html>\n")
    }

    private static let empty: Reply = { exchange throws(ReplyEnd) in
        try exchange.reply(type: "application/octet-stream", ReplyBody([]))
    }

    private static let echo: Reply = { exchange throws(ReplyEnd) in
        try exchange.reply(type: "text/plain", ReplyBody(exchange.request.head + exchange.request.body))
    }

    private static let redirect: Reply = { exchange throws(ReplyEnd) in
        guard let target = exchange.request.parameter("to") else { throw .misspelt("/redirect: no to=") }
        try forward(exchange, to: target)
    }

    private static let redirectLoop: Reply = { exchange throws(ReplyEnd) in
        try forward(exchange, to: exchange.request.target)
    }

    private static let redirectChain: Reply = { exchange throws(ReplyEnd) in
        guard let hops = Int(exchange.name), hops >= 0 else { throw .misspelt("/redirect-chain/N: no number") }
        if hops == 0 { return try ok(exchange) }
        let query = exchange.request.target.split(separator: "?", maxSplits: 1).dropFirst().first.map { "?" + $0 } ?? ""
        try forward(exchange, to: (hops == 1 ? "/ok" : "/redirect-chain/\(hops - 1)") + query)
    }

    private static func forward(_ exchange: Exchange, to target: String) throws(ReplyEnd) {
        try exchange.sendHead(302, .length("0"), headers: ["Location: \(target)"])
    }

    /// Asks for credentials. An answer is accepted whatever it says: tests check it themselves.
    private static let challenge: Reply = { exchange throws(ReplyEnd) in
        let answer = exchange.request.header("Authorization")
        // With a nonce of its own, an answer with another one is refused as stale.
        let nonce = exchange.request.parameter("nonce")
        let isAlwaysStale = answer != nil && exchange.request.parameter("stale") != nil
        let isStale = isAlwaysStale || nonce.map { answer?.contains("nonce=\"\($0)\"") == false } ?? false
        let isAnswered = answer != nil && !isStale
        if isAnswered && exchange.request.parameter("refuse") == nil { return try ok(exchange) }
        if exchange.request.parameter("open") != nil { return try ok(exchange) }
        let headers = exchange.name.split(separator: ",").map { scheme in
            "WWW-Authenticate: \(scheme) realm=\"test\""
                + (scheme.lowercased() == "digest"
                    ? ", nonce=\"\(nonce ?? "0123456789")\", qop=\"auth\", algorithm=MD5" : "")
                + (isStale ? ", stale=true" : "")
        }
        try exchange.reply(401, type: "text/plain", ReplyBody("who are you?\n"), headers: headers)
    }

    // MARK: Orders to the server

    private static let release: Reply = { exchange throws(ReplyEnd) in
        exchange.site.gates.open(exchange.name)
        try exchange.reply(text: "released \(exchange.name)\n")
    }

    private static let statistics: Reply = { exchange throws(ReplyEnd) in
        let now = exchange.site.log.statistics
        let text = """
            {"requests": \(now.requests), "connections": \(now.connections), "open": \(now.open), \
            "active": \(now.active), "peak": \(now.peak)}\n
            """
        try exchange.reply(type: "application/json", ReplyBody(text))
    }

    private static let count: Reply = { exchange throws(ReplyEnd) in
        try exchange.reply(text: "\(exchange.site.log.count(exchange.request.parameter("path") ?? ""))\n")
    }

    private static let resetStatistics: Reply = { exchange throws(ReplyEnd) in
        exchange.site.log.reset()
        exchange.site.gates.closeAll()
        try exchange.reply(text: "reset\n")
    }

    private static let wait: Reply = { exchange throws(ReplyEnd) in
        let path = exchange.request.parameter("path") ?? ""
        let count = try exchange.number("count") ?? 1
        let arrived = exchange.site.log.wait(milliseconds: ScriptedServer.waitLimit, target: path, count: count)
        try exchange.reply(arrived ? 200 : 504, text: "\(exchange.site.log.count(path))\n")
    }

    private static let waitIdle: Reply = { exchange throws(ReplyEnd) in
        let isIdle = exchange.site.log.wait(milliseconds: ScriptedServer.waitLimit) { $0.active == 0 }
        try exchange.reply(isIdle ? 200 : 504, text: "\(exchange.site.log.statistics.active)\n")
    }
}

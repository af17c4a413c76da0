/// The way the end of a body is marked.
enum Framing {
    /// Content-Length; as text, since some replies announce more than fits into an Int.
    case length(String)
    case chunked
    /// The end of the connection ends the body.
    case close
    /// No body, as with 1xx, 204 and 304, which cannot have one.
    case none
}

/// One request and the reply to it. Lives on the thread of its connection.
final class Exchange {
    let request: ServerRequest
    let socket: ServerSocket
    let site: Site
    /// Whether the connection serves another request afterwards.
    var keepsAlive: Bool
    /// The reply that a test has laid down for it. Taken before the request is recorded, so that a test that has seen
    /// the request lays down the replies to later ones.
    private(set) var scripted: ScriptedReply?

    init(_ request: ServerRequest, on socket: ServerSocket, site: Site) {
        self.request = request
        self.socket = socket
        self.site = site
        keepsAlive = !request.wantsClose && request.parameter("close") == nil
        if Replies.word(of: request.path) == "script" { scripted = site.scripts.next(of: name) }
    }

    /// The path after its first component: `a/b` of `/hold/a/b`; empty if there is nothing more.
    var name: String {
        let parts = request.path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: true)
        return parts.count > 1 ? percentDecoded(parts[1]) : ""
    }

    // MARK: Parameters

    func number(_ name: String) throws(ReplyEnd) -> Int? {
        guard let text = request.parameter(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw .misspelt("\(name)=\(text): not a number") }
        return number
    }

    func numbers(_ name: String) throws(ReplyEnd) -> [Int] {
        var numbers: [Int] = []
        for text in (request.parameter(name) ?? "").split(separator: ",") {
            guard let number = Int(text), number >= 0 else { throw .misspelt("\(name): \(text) is not a number") }
            numbers.append(number)
        }
        return numbers
    }

    /// Returns the body that `file=`, `text=` or `size=` ask for.
    func body() throws(ReplyEnd) -> ReplyBody {
        if let name = request.parameter("file") {
            guard let body = ReplyBody(file: name, below: site.fileRoot) else {
                throw .misspelt("file=\(name): no such file")
            }
            return body
        }
        if let text = request.parameter("text") { return ReplyBody(text) }
        var seed = ReplyBody.seed(of: request.target)
        if let given = try number("seed") { seed = UInt32(truncatingIfNeeded: given) }
        return ReplyBody(seed: seed, count: try number("size") ?? 64)
    }

    var bodyType: String {
        if let name = request.parameter("file") { return contentType(ofFile: name) }
        return request.parameter("text") == nil ? "application/octet-stream" : "text/plain; charset=utf-8"
    }

    // MARK: Sending

    /// Sends a whole reply, framed as `framing=` says.
    func reply(_ status: Int = 200, type: String, _ body: ReplyBody, headers: [String] = []) throws(ReplyEnd) {
        let framing = try wantedFraming(of: body)
        try sendHead(status, type: type, framing, headers: headers)
        try send(body, 0..<body.count, framing)
        try finish(framing)
    }

    func reply(_ status: Int = 200, text: String) throws(ReplyEnd) {
        try reply(status, type: "text/plain; charset=utf-8", ReplyBody(text))
    }

    func wantedFraming(of body: ReplyBody) throws(ReplyEnd) -> Framing {
        switch request.parameter("framing") {
        case nil, "length": return .length(String(body.count))
        case "chunked": return .chunked
        case "close": return .close
        case let other?: throw .misspelt("framing=\(other): not length, chunked or close")
        }
    }

    func sendHead(
        _ status: Int = 200, type: String? = nil, _ framing: Framing, headers: [String] = []
    ) throws(ReplyEnd) {
        let status = try number("status") ?? status
        var lines = ["HTTP/1.1 \(status) \(reason(status))"]
        if let type = request.parameter("type") ?? type, !type.isEmpty { lines.append("Content-Type: \(type)") }
        switch framing {
        case .length(let length): lines.append("Content-Length: \(length)")
        case .chunked: lines.append("Transfer-Encoding: chunked")
        case .close: keepsAlive = false
        case .none: break
        }
        lines += headers + request.parameters("header")
        if !keepsAlive { lines.append("Connection: close") }
        try socket.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// Sends a part of the body, in pieces of at most `most` bytes, calling `between` after each.
    func send(
        _ body: ReplyBody, _ range: Range<Int>, _ framing: Framing, most: Int = 65_536,
        between: () throws(ReplyEnd) -> Void = {}
    ) throws(ReplyEnd) {
        guard request.method != "HEAD" else { return }
        var offset = range.lowerBound
        while offset < min(range.upperBound, body.count) {
            let piece = body.piece(at: offset, most: min(most, range.upperBound - offset))
            try send(piece, framing)
            offset += piece.count
            try between()
        }
    }

    private func send(_ piece: ArraySlice<UInt8>, _ framing: Framing) throws(ReplyEnd) {
        switch framing {
        case .none: break
        case .length, .close: try socket.send(piece)
        case .chunked:
            try socket.send("\(String(piece.count, radix: 16))\r\n")
            try socket.send(piece)
            try socket.send("\r\n")
        }
    }

    func finish(_ framing: Framing) throws(ReplyEnd) {
        if case .chunked = framing, request.method != "HEAD" { try socket.send("0\r\n\r\n") }
    }

    /// Waits until the client disconnects.
    func waitForEver() throws(ReplyEnd) { try socket.pause(milliseconds: -1) }
}

private func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 412: "Precondition Failed"
    case 416: "Range Not Satisfiable"
    case 429: "Too Many Requests"
    case 500: "Internal Server Error"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    default: "Status \(status)"
    }
}

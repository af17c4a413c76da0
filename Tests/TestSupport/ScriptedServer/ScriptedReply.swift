import SDDBase

/// One reply of a test that the URL of its request does not describe. Replies of `/script/NAME` are laid down
/// beforehand, and each is given once, in order. A value.
package struct ScriptedReply: Sendable {
    package var status: Int
    /// Header lines, "NAME: VALUE".
    package var fields: [String]
    package var body: [UInt8]
    /// Number of bytes of the body that are sent before the connection is closed; nil means all, and no close.
    package var cut: Int?
    /// The gate that it waits at before anything is sent.
    package var gate: String?
    /// The gate that it waits at before it is cut.
    package var cutGate: String?

    package init(
        _ status: Int = 200, _ fields: [String] = [], body: [UInt8] = [], cut: Int? = nil, gate: String? = nil,
        cutGate: String? = nil
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.cut = cut
        self.gate = gate
        self.cutGate = cutGate
    }
}

/// The replies laid down, by name. Callable from any thread.
final class Scripts: Sendable {
    private let replies = Monitor<[String: [ScriptedReply]]>([:])

    func add(_ new: [ScriptedReply], for name: String) { replies.withLock { $0[name, default: []] += new } }

    func next(of name: String) -> ScriptedReply? {
        replies.withLock { replies in
            guard replies[name]?.isEmpty == false else { return nil }
            return replies[name]?.removeFirst()
        }
    }
}

extension ScriptedServer {
    /// Lays down the next replies to `/script/NAME`. When none is left, the server answers 500.
    package func script(_ name: String, _ replies: ScriptedReply...) { site.scripts.add(replies, for: name) }
}

/// Replies that a test has laid down beforehand.
extension Replies {
    static let scripted: [String: Reply] = ["script": script]

    private static let script: Reply = { exchange throws(ReplyEnd) in
        guard let reply = exchange.scripted else {
            return try exchange.reply(500, text: "nothing more in the script\n")
        }
        if let gate = reply.gate { try exchange.site.gates.pass(gate, on: exchange.socket) }
        let hasBody = reply.status != 204 && reply.status != 304
        let body = ReplyBody(reply.body)
        let framing = hasBody ? Framing.length(String(body.count)) : .none
        try exchange.sendHead(reply.status, framing, headers: reply.fields)
        guard hasBody else { return }
        // Set after the head is sent, so that it does not say "Connection: close".
        if reply.cut != nil { exchange.keepsAlive = false }
        try exchange.send(body, 0..<(reply.cut ?? body.count), framing)
        if let gate = reply.cutGate { try exchange.site.gates.pass(gate, on: exchange.socket) }
    }
}

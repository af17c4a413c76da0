/// Replies that fail at first and succeed later.
extension Replies {
    static let recovering: [String: Reply] = ["recover": recover]

    private static let recover: Reply = { exchange throws(ReplyEnd) in
        let fails = try exchange.number("fails") ?? 1
        // The count includes this request.
        guard exchange.site.log.count(exchange.request.target) <= fails else {
            return try exchange.reply(type: exchange.bodyType, try exchange.body())
        }
        let how = exchange.request.parameter("by") ?? "503"
        if let status = Int(how) {
            let headers = exchange.request.parameters("failing-header")
            return try exchange.reply(status, type: "text/plain", ReplyBody("not yet\n"), headers: headers)
        }
        guard let reply = broken[how] else { throw .misspelt("by=\(how): neither a status nor a broken reply") }
        try reply(exchange)
    }
}

/// Replies with Content-Encoding: gzip, sound and otherwise.
extension Replies {
    static let packed: [String: Reply] = [
        "gzip": gzip, "gzip-bomb": gzipBomb, "gzip-twice": gzipTwice, "gzip-corrupt": gzipCorrupt, "gzip-cut": gzipCut,
    ]

    private static let gzip: Reply = { exchange throws(ReplyEnd) in
        if let gate = exchange.request.parameter("gate") { try exchange.site.gates.pass(gate, on: exchange.socket) }
        try send(Gzip.stored(try exchange.body().bytes), exchange)
    }

    private static let gzipBomb: Reply = { exchange throws(ReplyEnd) in
        try send(Gzip.repeated(count: try exchange.number("size") ?? 100 << 20), exchange)
    }

    private static let gzipTwice: Reply = { exchange throws(ReplyEnd) in
        try send(Gzip.stored(Gzip.stored(try exchange.body().bytes)), exchange, encoding: "gzip, gzip")
    }

    private static let gzipCorrupt: Reply = { exchange throws(ReplyEnd) in
        var packed = Gzip.stored(try exchange.body().bytes)
        switch exchange.request.parameter("where") ?? "block" {
        case "block": packed[Gzip.headerSize] |= 0x06  // block type 3, which does not exist
        case "checksum": packed[packed.count - Gzip.trailerSize] ^= 0xFF
        case "magic": packed[0] ^= 0xFF
        case let other: throw .misspelt("where=\(other): not block, checksum or magic")
        }
        try send(packed, exchange)
    }

    private static let gzipCut: Reply = { exchange throws(ReplyEnd) in
        let packed = Gzip.stored(try exchange.body().bytes)
        try send(packed.dropLast(try exchange.number("drop") ?? 12), exchange)
    }

    private static func send(_ packed: [UInt8], _ exchange: Exchange, encoding: String = "gzip") throws(ReplyEnd) {
        try exchange.reply(type: exchange.bodyType, ReplyBody(packed), headers: ["Content-Encoding: \(encoding)"])
    }
}

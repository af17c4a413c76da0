import Glibc

/// A request as the scripted server received it. A value.
package struct ServerRequest: Sendable {
    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// The connection it came on, counted from 1: equal numbers mean that a connection was reused.
    package let connection: Int
    package let method: String
    /// The target as in the request line.
    package let target: String
    /// `target` without the query, and without scheme and host, which clients send to a proxy.
    package let path: String
    package let version: String
    /// The header fields in the order and spelling of the client, with repetitions.
    package let headers: [Header]
    package internal(set) var body: [UInt8] = []

    let query: [(name: String, value: String)]
    let head: [UInt8]

    /// Returns the value of the first header field of that name, in any case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Returns the values of every query parameter of that name, percent-decoded.
    func parameters(_ name: String) -> [String] {
        query.filter { $0.name == name }.map(\.value)
    }

    func parameter(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    var wantsClose: Bool {
        let connection = header("Connection")?.lowercased()
        return version == "HTTP/1.0" ? connection != "keep-alive" : connection == "close"
    }

    /// Parses a head; nil if it is not HTTP/1.
    init?(head: [UInt8], connection: Int) {
        let lines = head.dropLast(4).split(separator: 0x0A, omittingEmptySubsequences: false).map {
            String(decoding: $0.last == 0x0D ? $0.dropLast() : $0, as: UTF8.self)
        }
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
        self.connection = connection
        self.head = head
        method = words[0]
        target = words[1]
        version = words[2]
        headers = lines.dropFirst().map { Self.header(line: $0) }
        let local = Self.withoutOrigin(target)
        let parts = local.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        query = parts.count > 1 ? Self.query(parts[1]) : []
    }

    private static func header(line: String) -> Header {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return Header(name: String(parts[0]), value: parts.count > 1 ? trimmed(parts[1]) : "")
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }

    /// Removes scheme and host, which a client sends to a proxy (RFC 9112 §3.2.2).
    private static func withoutOrigin(_ target: String) -> Substring {
        guard target.hasPrefix("http://") else { return target[...] }
        let rest = target.dropFirst("http://".count).drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? rest : "/" + rest
    }

    private static func query(_ text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (percentDecoded(parts[0]), parts.count > 1 ? percentDecoded(parts[1]) : "")
        }
    }
}

/// Decodes percent-encoding: `%41` is `A`; a percent sign with anything else after it stands for itself.
func percentDecoded(_ text: some StringProtocol) -> String {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
        if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
        {
            decoded.append(high << 4 | low)
            index += 3
        } else {
            decoded.append(bytes[index])
            index += 1
        }
    }
    return String(decoding: decoded, as: UTF8.self)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

extension ServerSocket {
    /// Reads the next request with its body; nil once the client has closed or sends something other than HTTP.
    func readRequest(connection: Int) -> ServerRequest? {
        guard let head = readHead(), var request = ServerRequest(head: head, connection: connection) else { return nil }
        if request.header("Expect")?.lowercased() == "100-continue" {
            guard (try? send("HTTP/1.1 100 Continue\r\n\r\n")) != nil else { return nil }
        }
        if request.header("Transfer-Encoding")?.lowercased() == "chunked" {
            guard let body = readChunkedBody() else { return nil }
            request.body = body
        } else if let length = request.header("Content-Length") {
            guard let count = Int(length), (0...(1 << 28)).contains(count) else { return nil }
            guard let body = readBytes(count) else { return nil }
            request.body = body
        }
        return request
    }

    private func readChunkedBody() -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            guard let line = readLine() else { return nil }
            let digits = String(decoding: line.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let count = Int(digits, radix: 16), count >= 0, body.count + count <= 1 << 28 else { return nil }
            if count == 0 { break }
            guard let chunk = readBytes(count), readLine() != nil else { return nil }
            body += chunk
        }
        // Skip the trailer fields, up to the empty line.
        while let line = readLine() {
            if line.isEmpty { return body }
        }
        return nil
    }
}

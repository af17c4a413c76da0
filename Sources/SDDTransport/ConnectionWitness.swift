internal import CCurl
internal import Glibc
internal import SDDBase

/// What one hop of a transfer finds out about the connection it has, beside what libcurl makes of it: that it floods,
/// that it broke where libcurl speaks of a good end, that the host did not look at the request. A value.
/// thread: sdd-net
struct ConnectionWitness {
    private let watch: TurnWatch
    private let isSecure: Bool
    private let since: Int64
    /// The port of this end of the connection; 0 while there is none, and for sockets without ports.
    private var localPort: UInt16 = 0
    /// The stream of the request, where libcurl has told it.
    private var stream: UInt32?
    private var hasHeardRefusal = false
    /// libcurl tells all that it does.
    var isHearing = false

    init(_ watch: TurnWatch, isSecure: Bool, at now: Int64) {
        self.watch = watch
        self.isSecure = isSecure
        since = now
    }

    /// The request is about to be sent; again, if libcurl has lost the connection before an answer came.
    /// - Returns: whether it may be: libcurl asks hosts again that flood or refuse, and would go on with that.
    mutating func connected(localPort: Int32) -> Bool {
        defer { self.localPort = UInt16(truncatingIfNeeded: localPort) }
        return !isFlooded && !hasHeardRefusal
    }

    /// A piece of a header or a body has come out of libcurl.
    func handsOut() { watch.handsOut() }

    /// A turn is over, and the hop goes on: should the connection end in the next one, then what is sent in that one is of
    /// interest.
    func mark() { watch.sockets.mark(localPort: localPort) }

    /// The connection is of no use any more. libcurl 7.88 would keep one over HTTP/2 whose session has failed, for requests
    /// that nobody will ever answer.
    func abandon() { watch.sockets.shut(localPort: localPort) }

    private var fate: OpenSockets.Fate { watch.sockets.fate(localPort: localPort, since: since) }

    /// The watch has shut it.
    var isFlooded: Bool { localPort != 0 && fate.isFlooded }

    /// libcurl has closed the connection, and sent something in that very turn: the notice that the host has broken the
    /// rules of HTTP/2 (GOAWAY, RFC 9113 §5.4.1). A connection that ends in order ends without a word. What libcurl
    /// answers to SETTINGS is shorter; an answer to PING may be taken for the notice, which costs another request.
    var isBroken: Bool {
        let fate = fate
        return fate.isClosed && fate.sentSinceMark ?? 0 > (isSecure ? Self.longestAnswerInTLS : Self.longestAnswer)
    }

    /// A frame of 9 bytes; in TLS 1.2, with 29 around it. The notice has 17, and in TLS 1.3 22 around it.
    private static let longestAnswer: Int64 = 9
    private static let longestAnswerInTLS: Int64 = 38
}

// MARK: - Requests that the host did not look at

extension ConnectionWitness {
    /// - Parameter isLikely: libcurl's verdict sounds like it, and nothing happens if the host looks at it twice. Then it is
    ///   asked again; once, for from then on libcurl is heard.
    func isNotProcessed(isLikely: Bool) -> Bool {
        let fate = fate
        if hasHeardRefusal { return true }
        // RFC 9113 §6.8.
        if let stream, let last = fate.lastStream, stream > last { return true }
        return isLikely && !isHearing
    }

    /// A line of what libcurl says that it does.
    mutating func heard(_ line: UnsafeRawBufferPointer) {
        if begins(line, with: "Using Stream ID: ") {
            stream = number(in: line, after: "Using Stream ID: ")
        } else if begins(line, with: "REFUSED_STREAM") {
            hasHeardRefusal = true
        } else if begins(line, with: "recveived GOAWAY") || begins(line, with: "received GOAWAY"),
            let last = number(in: line, after: "last_stream=")
        {
            watch.sockets.heardGoAway(lastStream: last, localPort: localPort)
        }
    }

    private func begins(_ line: UnsafeRawBufferPointer, with text: StaticString) -> Bool {
        has(text, at: 0, of: line)
    }

    private func has(_ text: StaticString, at position: Int, of line: UnsafeRawBufferPointer) -> Bool {
        let count = text.utf8CodeUnitCount
        guard position + count <= line.count, let start = line.baseAddress else { return false }
        return memcmp(start + position, text.utf8Start, count) == 0
    }

    private func number(in line: UnsafeRawBufferPointer, after text: StaticString) -> UInt32? {
        guard let position = (0..<line.count).first(where: { has(text, at: $0, of: line) }) else { return nil }
        let digits = line[(position + text.utf8CodeUnitCount)...].prefix { (0x30...0x39).contains($0) }
        return UInt32(String(decoding: digits, as: UTF8.self))
    }
}

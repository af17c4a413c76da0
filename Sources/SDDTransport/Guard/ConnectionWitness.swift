internal import CCurl
internal import Glibc
internal import SDDBase

/// Observes the connection of one hop for conditions that libcurl does not report: a flood, a broken connection that
/// libcurl takes for a regular end, and a request that the server did not process. libcurl 8.1.0 ends the reason for
/// `mark` and `isBroken`; no version up to 8.21.0 ends that for the rest.
/// thread: sdd-net
struct ConnectionWitness {
    private let watch: TurnWatch
    private let isSecure: Bool
    private let since: Int64
    /// The local port of the connection; 0 before it exists, and for sockets without ports.
    private var localPort: UInt16 = 0
    /// The id of the request's stream, if libcurl has logged it.
    private var stream: UInt32?
    private var hasHeardRefusal = false
    /// True if the server wants HTTP/1.1 (RFC 9113 §7, HTTP_1_1_REQUIRED) and libcurl is about to send the request again so.
    private(set) var hasHeardDowngrade = false
    /// True once `CurlTransfer.listen` has enabled libcurl's log.
    var isHearing = false

    init(_ watch: TurnWatch, isSecure: Bool, at now: Int64) {
        self.watch = watch
        self.isSecure = isSecure
        since = now
    }

    /// Whether the request may be sent. libcurl also retries with servers that flood or refuse, and would keep doing so.
    var mayBeSent: Bool { !isFlooded && !hasHeardRefusal }

    /// Called before the request is sent, and again if libcurl resends it after losing the connection before a response.
    /// Not called for a request that must not be sent: the witness then still observes the connection that was lost, so
    /// that its fate explains the failure.
    mutating func connected(localPort: Int32) { self.localPort = UInt16(truncatingIfNeeded: localPort) }

    /// Records that libcurl has delivered a piece of a header or body.
    func handsOut() { watch.handsOut() }

    /// Marks the end of a turn while the hop goes on. If the connection ends in the next turn, the bytes sent in that
    /// turn matter; see `isBroken`.
    func mark() { watch.sockets.mark(localPort: localPort) }

    /// Shuts the connection down so that it is not reused. libcurl 7.88 would keep an HTTP/2 connection whose session
    /// has failed, and use it for requests that can never be answered.
    func abandon() { watch.sockets.shut(localPort: localPort) }

    /// Whether bytes have arrived at a connection that libcurl has not taken.
    func hasMore(localPort: Int32) -> Bool { watch.sockets.hasMore(localPort: UInt16(truncatingIfNeeded: localPort)) }

    /// The bytes that the connection has received, whether libcurl has delivered them or not; `nil` if there is none.
    var arrivals: SocketCounts.Arrivals? { watch.sockets.arrivals(localPort: localPort) }

    private var fate: OpenSockets.Fate { watch.sockets.fate(localPort: localPort, since: since) }

    /// True if the watch has shut the connection down because of a flood.
    var isFlooded: Bool { localPort != 0 && fate.isFlooded }

    /// True if libcurl closed the connection and sent something in the same turn: a GOAWAY, because the server violated
    /// HTTP/2 (RFC 9113 §5.4.1). libcurl sends nothing when a connection ends regularly. Its acknowledgement of
    /// SETTINGS is shorter; its answer to PING may be mistaken for a GOAWAY, which only costs another request.
    var isBroken: Bool {
        let fate = fate
        return fate.isClosed && fate.sentSinceMark ?? 0 > (isSecure ? Self.longestAnswerInTLS : Self.longestAnswer)
    }

    /// An acknowledgement is a frame of 9 bytes, to which TLS 1.2 adds 29. A GOAWAY has 17 bytes, to which TLS 1.3 adds
    /// 22.
    private static let longestAnswer: Int64 = 9
    private static let longestAnswerInTLS: Int64 = 38
}

// MARK: - Requests that the server did not process

extension ConnectionWitness {
    /// Whether the server did not process the request, so that it may be sent again.
    /// - Parameter isLikely: True if libcurl's error suggests this and processing the request twice does no harm. The
    ///   request is then sent again once; from then on libcurl's log is read, and decides.
    func isNotProcessed(isLikely: Bool) -> Bool {
        let fate = fate
        if hasHeardRefusal { return true }
        // RFC 9113 §6.8: the server does not process streams above the last one in its GOAWAY.
        if let stream, let last = fate.lastStream, stream > last { return true }
        return isLikely && !isHearing
    }

    /// Reads a line of libcurl's verbose log.
    mutating func heard(_ line: UnsafeRawBufferPointer) {
        // The first form is that of libcurl up to 8.2, the second that of 8.3 and later. Should a version use another, the
        // request is not sent again.
        if begins(line, with: "Using Stream ID: ") {
            stream = number(in: line, after: "Using Stream ID: ")
        } else if begins(line, with: "[HTTP/2] ["), contains("] OPENED stream ", line) {
            stream = number(in: line, after: "[HTTP/2] [")
        } else if begins(line, with: "REFUSED_STREAM")
            || begins(line, with: "HTTP/") && contains(" refused by server", line)
        {
            // libcurl has the second form on connections that have served others: 8.23.
            hasHeardRefusal = true
        } else if begins(line, with: "Downgrades to HTTP/1.1") {
            hasHeardDowngrade = true
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

    private func contains(_ text: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
        (0..<line.count).contains { has(text, at: $0, of: line) }
    }

    private func number(in line: UnsafeRawBufferPointer, after text: StaticString) -> UInt32? {
        guard let position = (0..<line.count).first(where: { has(text, at: $0, of: line) }) else { return nil }
        let digits = line[(position + text.utf8CodeUnitCount)...].prefix { (0x30...0x39).contains($0) }
        return UInt32(String(decoding: digits, as: UTF8.self))
    }
}

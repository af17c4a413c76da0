import Glibc

/// POLLRDHUP, which glibc shows only to programs that ask for GNU's own names.
private let closedByPeer: Int16 = 0x2000

/// Why a reply ends before its script does.
enum ReplyEnd: Error {
    /// The client closed the connection, or the server stops.
    case clientGone
    /// The request's URL is not one that the server understands; the text says why.
    case misspelt(String)
}

/// The server's end of one connection. Touched by the connection's own thread alone; only `shutdown` on
/// the descriptor comes from outside, when the server stops, and makes every call here end.
final class ServerSocket {
    let descriptor: Int32
    private var received: [UInt8] = []

    init(descriptor: Int32) {
        self.descriptor = descriptor
        // A reply is often a head and a small body: without this, the second would wait for an ACK.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Receiving

    /// Everything up to the next CRLF CRLF, that included; nil when the client closed, or went beyond the limit.
    func readHead(limit: Int = 1 << 20) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = endOfHead(from: searched) { return take(end) }
            searched = max(0, received.count - 3)
            guard received.count <= limit, fill() else { return nil }
        }
    }

    /// One line without its CRLF, of a chunked body.
    func readLine() -> [UInt8]? {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: 0x0A) {
                let line = take(end + 1).dropLast()
                return Array(line.last == 0x0D ? line.dropLast() : line)
            }
            searched = received.count
            guard received.count <= 65_536, fill() else { return nil }
        }
    }

    func readBytes(_ count: Int) -> [UInt8]? {
        while received.count < count {
            guard fill() else { return nil }
        }
        return take(count)
    }

    private func endOfHead(from start: Int) -> Int? {
        guard received.count >= start + 4 else { return nil }
        return received.withUnsafeBytes { bytes in
            (start...(bytes.count - 4)).first {
                bytes[$0] == 0x0D && bytes[$0 + 1] == 0x0A && bytes[$0 + 2] == 0x0D && bytes[$0 + 3] == 0x0A
            }
        }.map { $0 + 4 }
    }

    private func take(_ count: Int) -> [UInt8] {
        let taken = Array(received[..<count])
        received.removeFirst(count)
        return taken
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                received += buffer[..<count]
                return true
            }
            if count == 0 || errno != EINTR { return false }
        }
    }

    // MARK: Sending

    func send(_ text: String) throws(ReplyEnd) { try send(Array(text.utf8)[...]) }

    func send(_ bytes: ArraySlice<UInt8>) throws(ReplyEnd) {
        let sent = bytes.withUnsafeBytes { sendAll($0) }
        if !sent { throw .clientGone }
    }

    private func sendAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            // MSG_NOSIGNAL: a client that has gone is an ordinary event here, SIGPIPE would end the process.
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Makes the coming close an RST in place of a FIN.
    func resetOnClose() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    // MARK: Waiting

    /// Does nothing for that long, or for ever when negative; ends early when the client goes.
    func pause(milliseconds: Int) throws(ReplyEnd) {
        _ = try wait(for: nil, milliseconds: milliseconds)
    }

    /// Waits until `event`, a descriptor, can be read.
    func wait(for event: Int32) throws(ReplyEnd) {
        _ = try wait(for: event, milliseconds: -1)
    }

    private func wait(for event: Int32?, milliseconds: Int) throws(ReplyEnd) -> Bool {
        let timeout = Int32(clamping: milliseconds)
        // A negative descriptor is one that poll passes over.
        var watched = [
            pollfd(fd: descriptor, events: closedByPeer, revents: 0),
            pollfd(fd: event ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&watched, 2, timeout)
            // The threads of the server have every signal blocked, so that a restart of the time is rare.
            if count < 0 && errno == EINTR { continue }
            if count < 0 || watched[0].revents != 0 { throw .clientGone }
            return count > 0
        }
    }
}

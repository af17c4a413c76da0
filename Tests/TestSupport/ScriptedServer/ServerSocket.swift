import Glibc

/// POLLRDHUP, which glibc declares only for programs that ask for GNU extensions.
private let closedByPeer: Int16 = 0x2000

/// The reason why a reply ends before its script does.
enum ReplyEnd: Error {
    /// The client closed the connection, or the server stops.
    case clientGone
    /// The server does not understand the request's URL; the text says why.
    case misspelt(String)
}

/// The server's end of one connection. Used only by the connection's own thread; when the server stops, another thread
/// calls `shutdown` on the descriptor, which makes every call here fail.
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

    /// Reads everything up to and including the next CRLF CRLF; nil if the client closed or the limit was exceeded.
    func readHead(limit: Int = 1 << 20) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = endOfHead(from: searched) { return take(end) }
            searched = max(0, received.count - 3)
            guard received.count <= limit, fill() else { return nil }
        }
    }

    /// Reads one line of a chunked body, without its CRLF.
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
            // MSG_NOSIGNAL, because a client that disconnected is an ordinary event here and SIGPIPE would end the
            // process.
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Makes the next close send an RST in place of a FIN.
    func resetOnClose() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    // MARK: Waiting

    /// Waits for that long, or forever if negative; ends early when the client disconnects.
    func pause(milliseconds: Int) throws(ReplyEnd) {
        _ = try wait(for: nil, milliseconds: milliseconds)
    }

    /// Waits until `event`, a descriptor, is readable.
    func wait(for event: Int32) throws(ReplyEnd) {
        _ = try wait(for: event, milliseconds: -1)
    }

    private func wait(for event: Int32?, milliseconds: Int) throws(ReplyEnd) -> Bool {
        let timeout = Int32(clamping: milliseconds)
        // poll ignores a negative descriptor.
        var watched = [
            pollfd(fd: descriptor, events: closedByPeer, revents: 0),
            pollfd(fd: event ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&watched, 2, timeout)
            // The threads of the server have every signal blocked, so it rarely happens that the timeout starts again.
            if count < 0 && errno == EINTR { continue }
            if count < 0 || watched[0].revents != 0 { throw .clientGone }
            return count > 0
        }
    }
}

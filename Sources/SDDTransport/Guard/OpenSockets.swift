internal import Glibc
internal import SDDBase

/// The sockets that libcurl has opened for one downloader: the bytes that each has received and sent, and the fate of
/// those closed lately. Any thread: a socket is shut down under the lock, and removed from the list before it is
/// closed, so that a descriptor that has been reused is never touched. libcurl 8.1.0 ends the reason for `mark`; no
/// version up to 8.21.0 ends that for the rest, which is the one of `TurnWatch` and `ConnectionWitness`.
final class OpenSockets: Sendable {
    /// The state of a socket as the watch sees it.
    struct Reading: Equatable {
        let number: UInt64
        /// Bytes that libcurl has taken from the socket so far; `nil` if the system does not count them.
        let taken: Int64?
        /// True if there are bytes that libcurl has not taken.
        let hasMore: Bool
    }

    /// The fate of a connection.
    struct Fate: Equatable {
        var isClosed = false
        /// True if the connection was shut down because of a flood.
        var isFlooded = false
        /// Bytes sent since the last `mark`; `nil` without a mark.
        var sentSinceMark: Int64?
        /// The last stream that the server processes, if libcurl has logged a GOAWAY.
        var lastStream: UInt32?
    }

    private struct Socket {
        let number: UInt64
        let descriptor: Int32
        /// `nil` until it is first needed.
        var localPort: UInt16?
        var mark: Int64?
        var fate = Fate()
    }

    private struct Past {
        let localPort: UInt16
        let closed: Int64
        let fate: Fate
    }

    private struct State {
        var sockets: [Int32: Socket] = [:]
        /// The descriptors of sockets whose local port is known.
        var ports: [UInt16: Int32] = [:]
        var past: [Past] = []
        var next: UInt64 = 1
    }

    /// Limit on remembered connections, which is more than usually end within a turn. Forgotten ones have no known
    /// fate.
    private static let mostPast = 256

    private let state = Monitor(State())
    private let time: any TimeSource

    init(time: any TimeSource) { self.time = time }

    func opened(_ descriptor: Int32) {
        state.withLock { state in
            state.sockets[descriptor] = Socket(number: state.next, descriptor: descriptor)
            state.next += 1
        }
    }

    /// Closes the socket in place of close(2), and remembers its fate.
    func close(_ descriptor: Int32) -> Int32 {
        state.withLock { state in
            guard var socket = state.sockets.removeValue(forKey: descriptor) else { return }
            if let port = socket.localPort, state.ports[port] == descriptor { state.ports[port] = nil }
            // A connection without a mark or a known fate is not looked up later.
            guard socket.mark != nil || socket.fate != Fate(), let port = Self.localPort(of: &socket) else { return }
            var fate = Self.fate(of: socket)
            fate.isClosed = true
            if state.past.count == Self.mostPast { state.past.removeFirst(Self.mostPast / 2) }
            state.past.append(Past(localPort: port, closed: time.monotonicMicroseconds(), fate: fate))
        }
        return Glibc.close(descriptor)
    }
}

// MARK: - Calls from a transfer, which knows its local port

extension OpenSockets {
    /// Counts the bytes that are sent from here on.
    func mark(localPort: UInt16) {
        change(localPort) { $0.mark = SocketCounts.sent(over: $0.descriptor) }
    }

    /// Records the server's announcement that it processes no stream after `lastStream`.
    func heardGoAway(lastStream: UInt32, localPort: UInt16) {
        change(localPort) { $0.fate.lastStream = min($0.fate.lastStream ?? .max, lastStream) }
    }

    /// Whether there are bytes that libcurl has not taken.
    func hasMore(localPort: UInt16) -> Bool {
        state.withLock { state in
            Self.descriptor(at: localPort, &state).map { SocketCounts.waiting(at: $0) > 0 } ?? false
        }
    }

    func arrivals(localPort: UInt16) -> SocketCounts.Arrivals? {
        state.withLock { state in
            Self.descriptor(at: localPort, &state).flatMap { SocketCounts.arrivals(over: $0) }
        }
    }

    /// Shuts the socket down, so that libcurl sees the end of the connection.
    func shut(localPort: UInt16) {
        change(localPort) { socket in
            _ = shutdown(socket.descriptor, Int32(SHUT_RDWR))
            SocketCounts.discard(at: socket.descriptor)
        }
    }

    /// - Parameter since: A time at which the transfer had the connection.
    func fate(localPort: UInt16, since: Int64) -> Fate {
        state.withLock { state in
            if let descriptor = Self.descriptor(at: localPort, &state), let socket = state.sockets[descriptor] {
                return Self.fate(of: socket)
            }
            return state.past.last { $0.localPort == localPort && $0.closed >= since }?.fate ?? Fate()
        }
    }

    private func change(_ localPort: UInt16, _ change: (inout Socket) -> Void) {
        state.withLock { state in
            guard let descriptor = Self.descriptor(at: localPort, &state), var socket = state.sockets[descriptor] else {
                return
            }
            change(&socket)
            state.sockets[descriptor] = socket
        }
    }

    private static func descriptor(at localPort: UInt16, _ state: inout State) -> Int32? {
        guard localPort != 0 else { return nil }
        if let descriptor = state.ports[localPort] { return descriptor }
        for descriptor in state.sockets.keys {
            guard var socket = state.sockets[descriptor] else { continue }
            let isNew = socket.localPort == nil
            let port = Self.localPort(of: &socket)
            if isNew { state.sockets[descriptor] = socket }
            if isNew, let port { state.ports[port] = descriptor }
            if port == localPort { return descriptor }
        }
        return nil
    }

    private static func localPort(of socket: inout Socket) -> UInt16? {
        // A socket has no local port before it connects.
        if socket.localPort == nil, let port = SocketCounts.localPort(of: socket.descriptor), port != 0 {
            socket.localPort = port
        }
        return socket.localPort
    }

    private static func fate(of socket: Socket) -> Fate {
        var fate = socket.fate
        if let mark = socket.mark, let sent = SocketCounts.sent(over: socket.descriptor) {
            fate.sentSinceMark = sent - mark
        }
        return fate
    }
}

// MARK: - Calls from the watch

extension OpenSockets {
    func readings() -> [Reading] {
        state.withLock { state in
            state.sockets.values.map { socket in
                let waiting = SocketCounts.waiting(at: socket.descriptor)
                let received = SocketCounts.received(over: socket.descriptor)
                return Reading(
                    number: socket.number, taken: received.map { $0 - Int64(waiting) }, hasMore: waiting > 0)
            }
        }
    }

    /// Shuts a flooding socket down, so that libcurl sees the end of the connection at once. Bytes that were not read
    /// are discarded; otherwise the connection would seem alive until they have been read.
    func shutFlooded(_ number: UInt64) {
        state.withLock { state in
            guard let socket = state.sockets.values.first(where: { $0.number == number }) else { return }
            state.sockets[socket.descriptor]?.fate.isFlooded = true
            shutdown(socket.descriptor, Int32(SHUT_RDWR))
            SocketCounts.discard(at: socket.descriptor)
        }
    }

    /// Shuts all sockets down, because none is needed any more.
    func shutAll() {
        state.withLock { state in
            for descriptor in state.sockets.keys { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

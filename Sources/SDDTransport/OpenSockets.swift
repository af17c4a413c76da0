internal import Glibc
internal import SDDBase

/// The sockets that libcurl has for one downloader: what each has received and sent, and the fate of those that were
/// closed lately. Any thread: a socket is shut down under the lock, and taken off the list before it is closed, so that
/// nobody touches a descriptor that belongs to something else by then.
final class OpenSockets: Sendable {
    /// The state of a socket that the watch looks at.
    struct Reading: Equatable {
        let number: UInt64
        /// Bytes that libcurl has taken from it so far; nil where the system does not count them.
        let taken: Int64?
        /// There are bytes that it has not taken.
        let hasMore: Bool
    }

    /// The fate of a connection.
    struct Fate: Equatable {
        var isClosed = false
        /// It was shut, for what came over it was endless and nothing.
        var isFlooded = false
        /// Bytes that were sent since the last `mark`; nil without one.
        var sentSinceMark: Int64?
        /// The last stream that the server will look at, where somebody has heard a GOAWAY.
        var lastStream: UInt32?
    }

    private struct Socket {
        let number: UInt64
        let descriptor: Int32
        /// nil until somebody asks.
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
        var past: [Past] = []
        var next: UInt64 = 1
    }

    /// More connections than end within a turn, as a rule. Of one that is forgotten nothing is known.
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

    /// Closes the socket in place of close(2).
    func close(_ descriptor: Int32) -> Int32 {
        state.withLock { state in
            guard var socket = state.sockets.removeValue(forKey: descriptor) else { return }
            // Nobody will ask after a connection of which nothing is known.
            guard socket.mark != nil || socket.fate != Fate(), let port = Self.localPort(of: &socket) else { return }
            var fate = Self.fate(of: socket)
            fate.isClosed = true
            if state.past.count == Self.mostPast { state.past.removeFirst(Self.mostPast / 2) }
            state.past.append(Past(localPort: port, closed: time.monotonicMicroseconds(), fate: fate))
        }
        return Glibc.close(descriptor)
    }
}

// MARK: - By a transfer, which knows the port of its own end

extension OpenSockets {
    /// Counts from here on the bytes that are sent.
    func mark(localPort: UInt16) {
        change(localPort) { $0.mark = SocketCounts.sent(over: $0.descriptor) }
    }

    /// The host has said that it will look at no stream behind that one.
    func heardGoAway(lastStream: UInt32, localPort: UInt16) {
        change(localPort) { $0.fate.lastStream = min($0.fate.lastStream ?? .max, lastStream) }
    }

    /// libcurl will see the end of the connection.
    func shut(localPort: UInt16) {
        change(localPort) { socket in
            _ = shutdown(socket.descriptor, Int32(SHUT_RDWR))
            SocketCounts.discard(at: socket.descriptor)
        }
    }

    /// - Parameter since: a time at which the transfer had the connection.
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
        for descriptor in state.sockets.keys {
            guard var socket = state.sockets[descriptor] else { continue }
            let isNew = socket.localPort == nil
            let port = Self.localPort(of: &socket)
            if isNew { state.sockets[descriptor] = socket }
            if port == localPort { return descriptor }
        }
        return nil
    }

    private static func localPort(of socket: inout Socket) -> UInt16? {
        // It has none before it connects.
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

// MARK: - By the watch

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

    /// libcurl will see the end of the connection, and at once: what has come and was not read is thrown away, else the
    /// connection would pass for a living one until that has been read.
    func shutFlooded(_ number: UInt64) {
        state.withLock { state in
            guard let socket = state.sockets.values.first(where: { $0.number == number }) else { return }
            state.sockets[socket.descriptor]?.fate.isFlooded = true
            shutdown(socket.descriptor, Int32(SHUT_RDWR))
            SocketCounts.discard(at: socket.descriptor)
        }
    }

    /// Nothing of them is of use any more.
    func shutAll() {
        state.withLock { state in
            for descriptor in state.sockets.keys { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

import SDDBase

/// The named gates that `/hold` and `/steps` wait at. An open gate stays open, so it does not matter whether the
/// request or the release comes first. Callable from any thread.
final class Gates: Sendable {
    /// The name that opens every gate, including those that no request waits at yet.
    static let all = "*"

    private struct State {
        var open: Set<String> = []
        /// The bell of each waiting thread, which polls it together with its socket to notice when the client
        /// disconnects.
        var waiting: [ObjectIdentifier: (name: String, bell: EventBell)] = [:]
    }

    // A Monitor, although no thread waits on it, because the thread sanitizer does not understand the locks of Mutex.
    private let state = Monitor(State())

    func open(_ name: String) {
        state.withLock { state in
            state.open.insert(name)
            for waiter in state.waiting.values where name == Self.all || waiter.name == name { waiter.bell.ring() }
        }
    }

    func closeAll() { state.withLock { $0.open = [] } }

    func pass(_ name: String, on socket: ServerSocket) throws(ReplyEnd) {
        // Out of descriptors: to the client it looks like a server that gave up.
        guard let bell = try? EventBell() else { throw .clientGone }
        let mayPass = state.withLock { state in
            if state.open.contains(name) || state.open.contains(Self.all) { return true }
            state.waiting[ObjectIdentifier(bell)] = (name, bell)
            return false
        }
        if mayPass { return }
        defer { state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(bell)) } }
        try socket.wait(for: bell.descriptor)
    }
}

import SDDBase

/// Lets a count of all entries finish only between two changes of this process, never within one, and knows those that
/// are under way when it begins. A change is recorded as touched, becomes visible, and is added to the ledger; a count
/// that saw only some of that would miss the change or count it twice.
/// Thread-safe; no lock is held while a file is read or written.
final class ChangeGate: Sendable {
    private struct State {
        /// The names that are being changed; one may be changed by several threads.
        var changes: [String] = []
        var isClosed = false
    }

    private let state = Monitor(State())

    /// Whether a count is finishing, or waits to.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The names that are being changed.
    var underWay: [String] { state.withLock { $0.changes } }

    /// Begins a change; waits while a count is finishing.
    func begin(_ name: String) {
        state.wait { state -> Void? in
            if state.isClosed { return nil }
            state.changes.append(name)
            return ()
        }
    }

    func end(_ name: String) {
        state.withLock { state in
            if let index = state.changes.firstIndex(of: name) { state.changes.remove(at: index) }
        }
        state.broadcast()
    }

    /// Runs `body` when no change is under way, and blocks new changes meanwhile.
    func between<Value>(_ body: () throws(CacheError) -> Value) throws(CacheError) -> Value {
        state.wait { state -> Void? in
            if state.isClosed { return nil }
            state.isClosed = true
            return ()
        }
        state.wait { $0.changes.isEmpty ? () : nil }
        defer {
            state.withLock { $0.isClosed = false }
            state.broadcast()
        }
        return try body()
    }
}

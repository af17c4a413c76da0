import SDDBase

/// Lets a count of all entries begin and finish only between two changes of this process, never within one. A change is
/// recorded as touched, becomes visible, and is added to the ledger; a count that saw only some of that would miss the
/// change or count it twice.
/// Thread-safe; no lock is held while a file is read or written.
final class ChangeGate: Sendable {
    private struct State {
        var changes = 0
        var isClosed = false
    }

    private let state = Monitor(State())

    /// Whether a count is beginning or finishing, or waits to.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Begins a change; waits while a count is beginning or finishing.
    func begin() {
        state.wait { state -> Void? in
            if state.isClosed { return nil }
            state.changes += 1
            return ()
        }
    }

    func end() {
        state.withLock { $0.changes -= 1 }
        state.broadcast()
    }

    /// Runs `body` when no change is under way, and blocks new changes meanwhile.
    func between<Value>(_ body: () throws(CacheError) -> Value) throws(CacheError) -> Value {
        state.wait { state -> Void? in
            if state.isClosed { return nil }
            state.isClosed = true
            return ()
        }
        state.wait { $0.changes == 0 ? () : nil }
        defer {
            state.withLock { $0.isClosed = false }
            state.broadcast()
        }
        return try body()
    }
}

import SDDBase

/// Lets a count of all entries end between two changes of this process, never within one: a change is noted as touched and
/// added to the ledger, and a count that saw one without the other would forget it, or count it twice. Any thread; no lock
/// is held while a file is read or written.
final class ChangeGate: Sendable {
    private struct State {
        var changes = 0
        var isClosed = false
    }

    private let state = Monitor(State())

    /// Waits for a count that is just ending.
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

    /// Waits until no change is under way, and keeps others from beginning meanwhile.
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

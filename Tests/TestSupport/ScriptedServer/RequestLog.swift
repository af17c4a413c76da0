import SDDBase

/// Counts of what the scripted server has seen, taken at one moment. A value.
package struct ServerStatistics: Sendable, Equatable {
    /// Requests received, those in progress included.
    package internal(set) var requests = 0
    /// Connections accepted.
    package internal(set) var connections = 0
    /// Connections that are open now.
    package internal(set) var open = 0
    /// Requests received and not yet fully answered.
    package internal(set) var active = 0
    /// The maximum of `active` so far.
    package internal(set) var peak = 0
}

/// Counts and records requests, and lets others wait for them. Callable from any thread.
final class RequestLog: Sendable {
    private struct State {
        var statistics = ServerStatistics()
        var recorded: [ServerRequest] = []
        var counts: [String: Int] = [:]
        var isStopping = false
    }

    private let state = Monitor(State())
    private let keepsRequests: Bool

    init(keepsRequests: Bool) { self.keepsRequests = keepsRequests }

    var statistics: ServerStatistics { state.withLock { $0.statistics } }
    var recorded: [ServerRequest] { state.withLock { $0.recorded } }

    /// Returns the count by path, for all queries together, or by exact target.
    func count(_ target: String) -> Int { state.withLock { $0.counts[target] ?? 0 } }

    func connectionOpened() {
        change {
            $0.statistics.connections += 1
            $0.statistics.open += 1
        }
    }

    func connectionClosed() { change { $0.statistics.open -= 1 } }

    /// Takes back the count of a connection that turned out to carry orders to the server, and so is not under test.
    func connectionIsForControl() { change { $0.statistics.connections -= 1 } }

    func began(_ request: ServerRequest) {
        change { state in
            state.statistics.requests += 1
            state.statistics.active += 1
            state.statistics.peak = max(state.statistics.peak, state.statistics.active)
            state.counts[request.path, default: 0] += 1
            if request.target != request.path { state.counts[request.target, default: 0] += 1 }
            if keepsRequests { state.recorded.append(request) }
        }
    }

    func ended() { change { $0.statistics.active -= 1 } }

    /// Starts counting anew; open connections and requests in progress stay counted.
    func reset() {
        change { state in
            let now = state.statistics
            state.statistics = ServerStatistics(open: now.open, active: now.active, peak: now.active)
            state.recorded = []
            state.counts = [:]
        }
    }

    func stop() { change { $0.isStopping = true } }

    func wait(milliseconds: Int64, until condition: (ServerStatistics) -> Bool) -> Bool {
        wait(milliseconds: milliseconds) { (state: borrowing State) in condition(state.statistics) }
    }

    func wait(milliseconds: Int64, target: String, count: Int) -> Bool {
        wait(milliseconds: milliseconds) { (state: borrowing State) in (state.counts[target] ?? 0) >= count }
    }

    private func wait(milliseconds: Int64, until isMet: (borrowing State) -> Bool) -> Bool {
        let met: Bool? = state.wait(milliseconds: milliseconds) { state in
            if isMet(state) { return true }
            return state.isStopping ? false : nil
        }
        return met ?? false
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        state.broadcast()
    }
}

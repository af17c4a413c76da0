internal import SDDBase
internal import Synchronization

/// Looks from outside whether the turns of the loop end. libcurl reads frames of HTTP/2 that bring nothing for as long as
/// they come, and curl_multi_perform does not return: then the socket that they come from is shut down, and libcurl sees
/// the end of the connection. When the loop is to end, all sockets are shut if its turn does not.
///
/// Owns the thread sdd-watch: four looks a second while turns follow one another, none while the loop sleeps.
final class TurnWatch: Sendable {
    private struct State {
        var isAwake = false
        var isStopping = false
        var hasEnded = false
    }

    let sockets: OpenSockets
    private let time: any TimeSource
    private let state = Monitor(State())
    // Written by the loop, read by the watch.
    private let turnBegan = Atomic<Int64>(0)
    private let turns = Atomic<UInt64>(0)
    private let handedOut = Atomic<UInt64>(0)
    private let deadline = Atomic<Int64>(.max)
    private let isAsleep = Atomic<Bool>(false)

    private static let interval: Int64 = 250
    /// While the loop is to end.
    private static let shortInterval: Int64 = 50

    init(time: any TimeSource) {
        self.time = time
        sockets = OpenSockets(time: time)
    }
}

// MARK: - The loop's side

extension TurnWatch {
    /// libcurl is about to be called.
    /// - Parameter deadline: when the loop would have something else to do.
    /// thread: sdd-net
    func turnBegins(deadline: Int64) {
        self.deadline.store(deadline, ordering: .relaxed)
        turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        turnBegan.store(time.monotonicMicroseconds(), ordering: .sequentiallyConsistent)
        guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
        state.withLock { $0.isAwake = true }
        state.signal()
    }

    /// thread: sdd-net
    func turnEnds() { turnBegan.store(0, ordering: .releasing) }

    /// A piece of a header or a body has come out of libcurl.
    /// thread: sdd-net
    func handsOut() { handedOut.store(handedOut.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    /// The loop is to end soon. Any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.signal()
    }

    /// There is no loop any more.
    func end() {
        state.withLock { $0.hasEnded = true }
        state.signal()
    }
}

// MARK: - The watch's side

extension TurnWatch {
    /// Until `end`.
    /// thread: sdd-watch
    func run() {
        var judge = FloodJudge()
        var seenTurns: UInt64 = 0
        var stopping: (turn: UInt64, looks: Int)?
        while let isStopping = wait(asleep: fallsAsleep(after: seenTurns)) {
            seenTurns = turns.load(ordering: .relaxed)
            let began = turnBegan.load(ordering: .acquiring)
            let now = time.monotonicMicroseconds()
            if isStopping {
                let looks = began != 0 && stopping?.turn == seenTurns ? (stopping?.looks ?? 0) + 1 : 0
                stopping = (seenTurns, looks)
                if looks >= 2 { sockets.shutAll() }
            }
            let turn = FloodJudge.Turn(
                began: began, handedOut: handedOut.load(ordering: .relaxed),
                isLate: now >= deadline.load(ordering: .relaxed))
            if let flooding = judge.look(turn, at: now, readings: sockets.readings) { sockets.shutFlooded(flooding) }
        }
    }

    /// Nothing has gone on since the last look, and nothing does.
    private func fallsAsleep(after seenTurns: UInt64) -> Bool {
        guard turnBegan.load(ordering: .relaxed) == 0, turns.load(ordering: .relaxed) == seenTurns else { return false }
        // In this order: a turn that begins from here on sees that it has to wake the watch.
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        if turnBegan.load(ordering: .sequentiallyConsistent) == 0 { return true }
        isAsleep.store(false, ordering: .relaxed)
        return false
    }

    /// - Returns: whether the loop is to end; nil when it has ended.
    private func wait(asleep: Bool) -> Bool? {
        let isStopping = state.withLock { $0.isStopping }
        let interval = isStopping ? Self.shortInterval : asleep ? -1 : Self.interval
        let woken: Bool? = state.wait(milliseconds: interval) { state in
            if state.hasEnded { return true }
            if state.isStopping && !isStopping { return false }
            guard state.isAwake else { return nil }
            state.isAwake = false
            return false
        }
        if asleep { isAsleep.store(false, ordering: .relaxed) }
        return woken == true ? nil : state.withLock { $0.isStopping }
    }
}

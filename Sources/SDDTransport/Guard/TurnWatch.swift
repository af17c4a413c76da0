internal import SDDBase
internal import Synchronization

/// Checks from another thread whether the turns of the loop end. libcurl up to 8.6.0 reads HTTP/2 frames without
/// content for as long as they come, and curl_multi_perform does not return; with later versions it returns, and one
/// turn follows another without a sleep. The socket that they come from is then shut down, so that libcurl sees the end
/// of the connection. If the loop is to end and its turn does not, all sockets are shut down. No version up to 8.21.0
/// ends this reason.
///
/// Runs on the thread sdd-watch, which looks four times a second while turns follow one another, and sleeps while the
/// loop sleeps. If it has slept for ten seconds, it ends, and the loop's next turn starts it again.
final class TurnWatch: Sendable {
    private struct State {
        var isAwake = false
        var isStopping = false
        var hasEnded = false
        /// Nil if the thread has ended for lack of turns, and before `start`.
        var thread: NativeThread?
    }

    let sockets: OpenSockets
    private let time: any TimeSource
    private let state = Monitor(State())
    // The loop writes these values, and the watch reads them.
    private let turnBegan = Atomic<Int64>(0)
    /// The beginning of the row of turns without a sleep; 0 while the loop sleeps.
    private let rowBegan = Atomic<Int64>(0)
    /// Whether a flood may be a row of turns; otherwise it is one turn.
    private let countsRows: Bool
    private let turns = Atomic<UInt64>(0)
    private let handedOut = Atomic<UInt64>(0)
    private let deadline = Atomic<Int64>(.max)
    private let isAsleep = Atomic<Bool>(false)
    /// Used by the loop alone.
    private let rowBeforeSleep = Atomic<Int64>(0)
    private let idleMilliseconds: Int64

    private static let interval: Int64 = 250
    /// In microseconds.
    private static let shortestSleep: Int64 = 1000
    /// The interval while the loop is to end.
    private static let shortInterval: Int64 = 50

    /// - Parameter idleMilliseconds: the time without turns after which the thread ends.
    init(
        time: any TimeSource, countsRows: Bool = CurlFeatures.turnsEndInFloods, idleMilliseconds: Int64 = 10_000
    ) {
        self.time = time
        self.countsRows = countsRows
        self.idleMilliseconds = idleMilliseconds
        sockets = OpenSockets(time: time)
    }
}

// MARK: - Its thread

extension TurnWatch {
    /// Starts the thread, before the loop's first turn.
    func start() throws(SystemError) {
        try state.withLock { (state) throws(SystemError) in try startThread(&state) }
    }

    /// Starts the thread under the lock, so that it is known before it does anything.
    private func startThread(_ state: inout State) throws(SystemError) {
        state.thread = try NativeThread(name: "sdd-watch") { [self] in run() }
    }

    /// Waits for the thread to end, after `end`. Any other thread.
    func join() { state.withLock { $0.thread.take() }?.join() }

    /// Like `join()`, with a time limit, for the end of the process.
    func join(milliseconds: Int64) { state.withLock { $0.thread.take() }?.join(milliseconds: milliseconds) }

    /// For tests.
    var hasThread: Bool { state.withLock { $0.thread != nil } }
}

// MARK: - The loop's side

extension TurnWatch {
    /// Records that libcurl is about to be called.
    /// - Parameter deadline: The time at which the loop has other work to do.
    /// thread: sdd-net
    func turnBegins(deadline: Int64) {
        self.deadline.store(deadline, ordering: .relaxed)
        turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        let now = time.monotonicMicroseconds()
        if rowBegan.load(ordering: .relaxed) == 0 { rowBegan.store(now, ordering: .releasing) }
        turnBegan.store(now, ordering: .sequentiallyConsistent)
        guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
        state.withLock { state in
            state.isAwake = true
            // If the system gives no thread, the next turn asks again.
            if state.thread == nil, !state.hasEnded { try? startThread(&state) }
        }
        state.signal()
    }

    /// thread: sdd-net
    func turnEnds() {
        turnBegan.store(0, ordering: .releasing)
        if !countsRows { rowBegan.store(0, ordering: .releasing) }
    }

    /// Records that the loop sleeps until something comes.
    /// thread: sdd-net
    func sleepBegins() {
        rowBeforeSleep.store(rowBegan.exchange(0, ordering: .relaxed), ordering: .relaxed)
    }

    /// Records that the loop has slept. A row of turns goes on if something was there already.
    /// thread: sdd-net
    func sleepEnds(after microseconds: Int64) {
        guard microseconds < Self.shortestSleep else { return }
        rowBegan.store(rowBeforeSleep.load(ordering: .relaxed), ordering: .releasing)
    }

    /// Records that libcurl has delivered a piece of a header or body.
    /// thread: sdd-net
    func handsOut() { handedOut.store(handedOut.load(ordering: .relaxed) &+ 1, ordering: .releasing) }

    /// Makes the watch look more often, because the loop is to end soon. Any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.signal()
    }

    /// Ends the watch, because the loop has ended.
    func end() {
        state.withLock { $0.hasEnded = true }
        state.signal()
    }
}

// MARK: - The watch's side

extension TurnWatch {
    /// Runs the watch until `end`, or until there has been no turn for a while.
    /// thread: sdd-watch
    private func run() {
        isAsleep.store(false, ordering: .sequentiallyConsistent)
        var judge = FloodJudge()
        var seenTurns: UInt64 = 0
        var stopping: (turn: UInt64, looks: Int)?
        while let isStopping = wait(asleep: fallsAsleep(after: seenTurns)) {
            seenTurns = turns.load(ordering: .relaxed)
            let now = time.monotonicMicroseconds()
            if isStopping {
                let isInTurn = turnBegan.load(ordering: .acquiring) != 0
                let looks = isInTurn && stopping?.turn == seenTurns ? (stopping?.looks ?? 0) + 1 : 0
                stopping = (seenTurns, looks)
                if looks >= 2 { sockets.shutAll() }
            }
            let flooding = judge.look(at: now, turn: { turn(at: now) }, readings: sockets.readings)
            if let flooding { sockets.shutFlooded(flooding) }
        }
    }

    private func turn(at now: Int64) -> FloodJudge.Turn {
        FloodJudge.Turn(
            began: rowBegan.load(ordering: .acquiring), handedOut: handedOut.load(ordering: .acquiring),
            isLate: now >= deadline.load(ordering: .relaxed))
    }

    /// Whether the watch may sleep until the next turn: no turn has run since the last look, and none is running.
    private func fallsAsleep(after seenTurns: UInt64) -> Bool {
        guard turnBegan.load(ordering: .relaxed) == 0, turns.load(ordering: .relaxed) == seenTurns else { return false }
        // The order matters: a turn that begins from here on sees that it has to wake the watch.
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        if turnBegan.load(ordering: .sequentiallyConsistent) == 0 { return true }
        isAsleep.store(false, ordering: .relaxed)
        return false
    }

    /// Waits for the next look.
    /// - Returns: Whether the loop is to end; `nil` if the loop has ended, or the thread ends for lack of turns.
    private func wait(asleep: Bool) -> Bool? {
        let isStopping = state.withLock { $0.isStopping }
        let interval = isStopping ? Self.shortInterval : asleep ? idleMilliseconds : Self.interval
        let look = { (state: inout State) -> Bool? in
            if state.hasEnded { return true }
            if state.isStopping && !isStopping { return false }
            guard state.isAwake else { return nil }
            state.isAwake = false
            return false
        }
        var isOver = state.wait(milliseconds: interval, until: look)
        if isOver == nil, asleep, !isStopping {
            isOver = state.withLock { state in
                if let isOver = look(&state) { return isOver }
                // `isAsleep` stays, so that the next turn sees that there is no thread.
                state.thread.take()?.detach()
                return true
            }
        }
        if isOver == true { return nil }
        if asleep { isAsleep.store(false, ordering: .relaxed) }
        return state.withLock { $0.isStopping }
    }
}

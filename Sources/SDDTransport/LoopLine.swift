internal import CCurl
internal import SDDBase
internal import Synchronization

/// The line from other threads to the loop: asks it to turn once more, or to end. Costs a system call only
/// when the loop really sleeps. Any thread, but for the functions that say otherwise.
final class LoopLine: Sendable {
    /// libcurl's multi handle.
    struct Multi: @unchecked Sendable {
        // Safety: only `sdd-net` uses it, but for curl_multi_wakeup, which is made for other threads.
        let raw: UnsafeMutableRawPointer
    }

    private enum State {
        /// The loop is at work, and looks here before it sleeps.
        static let turning: UInt8 = 0
        static let asleep: UInt8 = 1
        /// Somebody wants one more turn.
        static let woken: UInt8 = 2
    }

    private let state = Atomic<UInt8>(State.turning)
    private let stopped = Atomic<Bool>(false)
    // nil once the loop has freed it, so that a late wake touches nothing.
    private let multi: Monitor<Multi?>

    init(_ multi: Multi) { self.multi = Monitor(multi) }

    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    func stop() {
        stopped.store(true, ordering: .releasing)
        wake()
    }

    func wake() {
        guard state.exchange(State.woken, ordering: .acquiringAndReleasing) == State.asleep else { return }
        // The one call into libcurl under a lock of ours: it writes to a descriptor and returns.
        multi.withLock { multi in
            guard let multi else { return }
            // A system without memory for a message fails a send that succeeds at once after; unheard, the loop would
            // sleep on, and nobody would ring again.
            var tries = 10
            while curl_multi_wakeup(multi.raw) != CURLM_OK, tries > 0 { tries -= 1 }
        }
    }

    /// A new turn begins: what was asked for until now, it will see.
    /// - Returns: false when there is to be none. Looked at after the wake is taken back, since a stop comes
    ///   with a wake: the other way round one in between would be lost.
    /// thread: sdd-net
    func turnBegins() -> Bool {
        _ = state.exchange(State.turning, ordering: .acquiringAndReleasing)
        return !isStopped
    }

    /// Runs `sleep`, which a wake ends, unless there was one since the turn began.
    /// thread: sdd-net
    func sleepUnlessWoken(_ sleep: () -> Void) {
        let (fellAsleep, _) = state.compareExchange(
            expected: State.turning, desired: State.asleep, ordering: .acquiringAndReleasing)
        if fellAsleep { sleep() }
    }

    /// After it, nobody can reach the multi handle.
    /// thread: sdd-net
    func close() { multi.withLock { $0 = nil } }

}

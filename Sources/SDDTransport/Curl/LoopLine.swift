internal import CCurl
internal import SDDBase
internal import Synchronization

/// The way for other threads to reach the loop: asks it for another turn, or to end. Makes a system call only if the
/// loop is asleep. Callable from any thread, except for the functions that say otherwise.
final class LoopLine: Sendable {
    /// libcurl's multi handle.
    struct Multi: @unchecked Sendable {
        // Safety: only `sdd-net` uses it, except for curl_multi_wakeup, which other threads may call.
        let raw: UnsafeMutableRawPointer
    }

    private enum State {
        /// The loop is running, and checks this state before it sleeps.
        static let turning: UInt8 = 0
        static let asleep: UInt8 = 1
        /// Another turn was requested.
        static let woken: UInt8 = 2
    }

    private let state = Atomic<UInt8>(State.turning)
    private let stopped = Atomic<Bool>(false)
    // `nil` once the loop has freed it, so that a late wake-up has no effect.
    private let multi: Monitor<Multi?>

    init(_ multi: Multi) { self.multi = Monitor(multi) }

    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    func stop() {
        stopped.store(true, ordering: .releasing)
        wake()
    }

    func wake() {
        guard state.exchange(State.woken, ordering: .acquiringAndReleasing) == State.asleep else { return }
        // This is the only call into libcurl under a lock of ours. It writes to a descriptor and returns.
        multi.withLock { multi in
            guard let multi else { return }
            // A system short of memory may fail a write although the next one succeeds. If the wake-up were lost, the
            // loop would sleep on, and would not be woken again.
            var tries = 10
            while curl_multi_wakeup(multi.raw) != CURLM_OK, tries > 0 { tries -= 1 }
        }
    }

    /// Begins a turn, which sees all requests made until now.
    /// - Returns: `false` if the loop is to end. This is checked after the wake-up is reset: `stop` sets its flag
    ///   before it wakes the loop, so in the opposite order a stop in between would be lost.
    /// thread: sdd-net
    func turnBegins() -> Bool {
        _ = state.exchange(State.turning, ordering: .acquiringAndReleasing)
        return !isStopped
    }

    /// Runs `sleep`, which a wake-up ends, unless there was a wake-up since the turn began.
    /// thread: sdd-net
    func sleepUnlessWoken(_ sleep: () -> Void) {
        let (fellAsleep, _) = state.compareExchange(
            expected: State.turning, desired: State.asleep, ordering: .acquiringAndReleasing)
        if fellAsleep { sleep() }
    }

    /// Makes the multi handle unreachable for other threads.
    /// thread: sdd-net
    func close() { multi.withLock { $0 = nil } }

}

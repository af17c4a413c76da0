public import Glibc

/// A value behind a pthread mutex, with a condition to wait on, and more conditions where `Condition`s are made for it.
/// The only file with raw pthread locks.
/// Also where nobody waits: the standard library's `Mutex` keeps its lock out of the thread sanitizer's
/// sight, which then reports races that are none. `public` so that what is generic is specialised in the
/// modules that use it, which Swift 6.3 does for no `package` function: else it costs more than the lock. Any thread.
///
/// Threads that wait for different things need different conditions: `signal` wakes any one of those that wait, and a
/// wake-up that goes to the wrong one is lost.
public final class Monitor<State>: @unchecked Sendable {
    // Safety: `state` is touched only while `mutex` is held; both pthread objects have an address of
    // their own that lives as long as the monitor.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    @usableFromInline var state: State

    public init(_ state: sending State) {
        self.state = state
        initialize()
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func initialize() {
        // It spins for a moment before it sleeps: what is done under a lock is short, and a sleep is two system calls.
        var kind = pthread_mutexattr_t()
        pthread_mutexattr_init(&kind)
        pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        pthread_mutex_init(mutex, &kind)
        pthread_mutexattr_destroy(&kind)
        Condition.initialize(condition)
    }

    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Waits until `body` gives something other than nil. `body` runs under the lock, first at once and
    /// then after each signal.
    @inlinable public func wait<Result>(until body: (inout State) -> Result?) -> Result {
        wait(on: condition, until: body)
    }

    @inlinable func wait<Result>(
        on condition: UnsafeMutablePointer<pthread_cond_t>, until body: (inout State) -> Result?
    ) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// The same with a time limit; nil once it is over. A negative limit is none.
    @inlinable public func wait<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
        wait(on: condition, milliseconds: milliseconds, until: body)
    }

    /// Waits for the signals of another condition, which serves this monitor alone.
    @inlinable public func wait<Result>(
        on other: Condition, milliseconds: Int64, until body: (inout State) -> Result?
    ) -> Result? {
        wait(on: other.raw, milliseconds: milliseconds, until: body)
    }

    @inlinable func wait<Result>(
        on condition: UnsafeMutablePointer<pthread_cond_t>, milliseconds: Int64, until body: (inout State) -> Result?
    ) -> Result? {
        if milliseconds < 0 { return wait(on: condition, until: body) }
        var deadline = Self.deadline(after: milliseconds)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&state) }
        }
    }

    package func signal() { pthread_cond_signal(condition) }
    package func broadcast() { pthread_cond_broadcast(condition) }

    // The three steps of a fork, see `Process.swift`: hold the lock across it, and begin afresh in the child,
    // where the thread that would wake others does not exist.
    package func lockForFork() { pthread_mutex_lock(mutex) }
    package func unlockInParent() { pthread_mutex_unlock(mutex) }
    package func resetInChild() { initialize() }

    @usableFromInline static func deadline(after milliseconds: Int64) -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let limited = min(milliseconds, 1 << 40)
        let nanoseconds = Int64(now.tv_nsec) + (limited % 1000) * 1_000_000
        return timespec(
            tv_sec: now.tv_sec + Int(limited / 1000) + Int(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

/// One more condition of a monitor, for threads that wait for something else than the monitor's own do. Any thread.
public final class Condition: @unchecked Sendable {
    // Safety: made for use by several threads, at an address of its own that lives as long as this.
    @usableFromInline let raw = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() { Self.initialize(raw) }

    deinit {
        pthread_cond_destroy(raw)
        raw.deallocate()
    }

    package func broadcast() { pthread_cond_broadcast(raw) }

    fileprivate static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }
}

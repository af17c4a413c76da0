public import CSystem
public import Glibc

/// A value behind a pthread mutex, with a condition variable to wait on, and additional ones in `Condition`s. This is
/// the only file with raw pthread locks. Thread-safe.
/// It is also used where no thread waits: the thread sanitizer does not see the lock of the standard library's `Mutex`
/// and reports races that do not exist. `public` so that generic code is specialised in the modules that use it, which
/// Swift 6.3 does not do for `package` functions; without that the calls would cost more than the lock.
///
/// Threads that wait for different things need different conditions: `signal` wakes any one of the waiting threads, and
/// a wake-up that reaches the wrong one is lost.
public final class Monitor<State>: @unchecked Sendable {
    // Safety: `state` is touched only while `mutex` is held; both pthread objects have an address of their own that
    // lives as long as the monitor.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    @usableFromInline var state: State
    #if DEBUG
        @usableFromInline let rank: LockRank
    #endif

    /// - Parameter rank: which other locks may be held when this one is taken; looked at in debug builds.
    public init(_ state: sending State, rank: LockRank = .inner) {
        self.state = state
        #if DEBUG
            self.rank = rank
        #endif
        initialize()
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func initialize() {
        // The mutex spins for a moment before it sleeps: critical sections are short, and a sleep costs two system
        // calls.
        var kind = pthread_mutexattr_t()
        pthread_mutexattr_init(&kind)
        pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        pthread_mutex_init(mutex, &kind)
        pthread_mutexattr_destroy(&kind)
        Condition.initialize(condition)
    }

    @inlinable func lock() {
        #if DEBUG
            LockOrder.willTake(rank)
        #endif
        sddsys_lock(mutex)
    }

    @inlinable func unlock() {
        sddsys_unlock(mutex)
        #if DEBUG
            LockOrder.hasGivenBack(rank)
        #endif
    }

    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&state)
    }

    /// Waits until `body` returns a value other than nil. `body` runs under the lock, once immediately and then after
    /// each signal.
    @inlinable public func wait<Result>(until body: (inout State) -> Result?) -> Result {
        wait(on: condition, until: body)
    }

    @inlinable func wait<Result>(
        on condition: UnsafeMutablePointer<pthread_cond_t>, until body: (inout State) -> Result?
    ) -> Result {
        lock()
        defer { unlock() }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Like `wait(until:)`, but returns nil when the time limit expires. A negative limit means no limit.
    @inlinable public func wait<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
        wait(on: condition, milliseconds: milliseconds, until: body)
    }

    /// Waits for signals of another condition, which must be used with this monitor only.
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
        lock()
        defer { unlock() }
        while true {
            if let result = body(&state) { return result }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&state) }
        }
    }

    package func signal() { pthread_cond_signal(condition) }
    package func broadcast() { pthread_cond_broadcast(condition) }

    // The three steps of a fork, see `Process.swift`: the lock is held across it, and the child initialises it again,
    // because the thread that would wake others does not exist there.
    package func lockForFork() { sddsys_lock(mutex) }
    package func unlockInParent() { sddsys_unlock(mutex) }
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

/// An additional condition of a monitor, for threads that wait for something other than the monitor's own condition.
/// Thread-safe.
public final class Condition: @unchecked Sendable {
    // Safety: a condition variable may be used by several threads, and its address is its own and lives as long as
    // this.
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

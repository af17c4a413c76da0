import SDDBase
import Synchronization

/// Gives work to decode threads that have none, so that a piece of work costs no second lock of the table. Thread-safe.
final class DecodeDesk: Sendable {
    /// One decode thread's side of it.
    struct Seat: ~Copyable {
        private let desk: DecodeDesk
        private var isIdle = true

        init(_ desk: DecodeDesk) {
            self.desk = desk
            desk.idle.add(1, ordering: .relaxed)
        }

        /// Takes work that was given, or else the work that `ask` returns. Thread: the decode thread.
        mutating func nextWork(_ ask: () -> DecodeWork?) -> DecodeWork? {
            if isIdle { desk.idle.subtract(1, ordering: .relaxed) }
            let work = desk.takeGiven() ?? ask()
            isIdle = work == nil
            if isIdle { desk.idle.add(1, ordering: .relaxed) }
            return work
        }

        deinit { if isIdle { desk.idle.subtract(1, ordering: .relaxed) } }
    }

    private struct State {
        var given: [DecodeWork] = []
        var isClosed = false
    }

    private let idle = Atomic(0)
    /// The number of pieces of work in `State.given`, changed under the lock and readable without it.
    private let promised = Atomic(0)
    private let state = Monitor(State())

    /// The number of threads without work. Only a hint, because they may be finding some: if more work is given, it
    /// waits for the next thread that has done its own.
    var freeThreads: Int { max(0, idle.load(ordering: .relaxed) - promised.load(ordering: .relaxed)) }

    /// Gives work to the threads; it cannot be taken back. The pool must be woken afterwards, for each piece of work.
    /// - Returns: false if the threads are ending, and the caller must do the work.
    func give(_ work: [DecodeWork]) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.given += work
            promised.add(work.count, ordering: .relaxed)
            return true
        }
    }

    /// Takes work that was given. A thread that ends does all of it first: a request may not end before a decode into
    /// its memory is over.
    func takeGiven() -> DecodeWork? {
        if promised.load(ordering: .relaxed) == 0 { return nil }
        return state.withLock { state in
            if state.given.isEmpty { return nil }
            promised.subtract(1, ordering: .relaxed)
            return state.given.removeFirst()
        }
    }

    /// Accepts no more work. Called before the threads are told to end.
    func close() { state.withLock { $0.isClosed = true } }
}

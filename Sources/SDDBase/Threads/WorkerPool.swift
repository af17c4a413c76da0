/// A fixed number of threads that pull work from their owner: once woken, a thread does one piece of work after another
/// until there is no more. The owner stops and joins the pool.
package final class WorkerPool: Sendable {
    private struct State {
        /// The number of threads that should look for work again, at most as many as the pool has.
        var wanted = 0
        var idle = 0
        var stopped = false
    }

    private let state = Monitor(State())
    private let threads: [NativeThread]

    /// - Parameters:
    ///   - atEnd: called on each thread before it ends.
    ///   - makeWorker: called once on each thread. The closure it returns does one piece of work and returns whether
    ///     there was one; it may keep state between pieces.
    /// - Throws: if the system cannot create a thread; threads already created are ended first.
    package init(
        name: String, threads count: Int, atEnd: @escaping @Sendable () -> Void = {},
        makeWorker: @escaping @Sendable () -> () -> Bool
    ) throws(SystemError) {
        var threads: [NativeThread] = []
        let state = state
        for number in 0..<count {
            do {
                threads.append(
                    try NativeThread(name: "\(name)-\(number)") {
                        Self.work(state, makeWorker())
                        atEnd()
                    })
            } catch {
                Self.stop(state)
                for thread in threads { thread.join() }
                throw error
            }
        }
        self.threads = threads
    }

    /// Announces `pieces` more pieces of work: up to that many threads look for work, at least one of them after this
    /// call. Callable from any thread; never blocks.
    package func wake(for pieces: Int) {
        let sleepers = state.withLock { state in
            state.wanted = min(state.wanted + pieces, threads.count)
            return state.idle
        }
        for _ in 0..<min(pieces, sleepers) { state.signal() }
    }

    /// Stops the threads once they finish their current pieces. Callable from any thread; never blocks.
    package func stop() { Self.stop(state) }

    /// Waits for the threads to end. Call it once, after `stop`, and not on one of these threads.
    package func join() {
        for thread in threads { thread.join() }
    }

    private static func stop(_ state: Monitor<State>) {
        state.withLock { $0.stopped = true }
        state.broadcast()
    }

    private static func work(_ state: Monitor<State>, _ doPiece: () -> Bool) {
        while isWanted(state) {
            while !state.withLock({ $0.stopped }), doPiece() {}
        }
    }

    /// Waits until this thread should look for work; returns false once the pool is stopped.
    private static func isWanted(_ state: Monitor<State>) -> Bool {
        state.withLock { $0.idle += 1 }
        return state.wait { state -> Bool? in
            guard state.stopped || state.wanted > 0 else { return nil }
            state.idle -= 1
            if !state.stopped { state.wanted -= 1 }
            return !state.stopped
        }
    }
}

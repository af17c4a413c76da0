/// A fixed number of threads that pull their work from whoever made the pool: woken, a thread does piece after
/// piece until there is none. Owned by its maker, who stops and joins it.
package final class WorkerPool: Sendable {
    private struct State {
        /// Threads that are to look for work once more, at most as many as there are.
        var wanted = 0
        var idle = 0
        var stopped = false
    }

    private let state = Monitor(State())
    private let threads: [NativeThread]

    /// - Parameter makeWorker: called once on each thread; what it returns does one piece of work, and says
    ///   whether there was one. It may keep things of its own from piece to piece.
    /// - Throws: when the system gives no thread; those already made are ended first.
    package init(
        name: String, threads count: Int, makeWorker: @escaping @Sendable () -> () -> Bool
    ) throws(SystemError) {
        var threads: [NativeThread] = []
        let state = state
        for number in 0..<count {
            do {
                threads.append(
                    try NativeThread(name: "\(name)-\(number)") { Self.work(state, makeWorker()) })
            } catch {
                Self.stop(state)
                for thread in threads { thread.join() }
                throw error
            }
        }
        self.threads = threads
    }

    /// There are `pieces` more of work: so many threads look, and one at least after this call. Any thread;
    /// never blocks.
    package func wake(for pieces: Int) {
        let sleepers = state.withLock { state in
            state.wanted = min(state.wanted + pieces, threads.count)
            return state.idle
        }
        for _ in 0..<min(pieces, sleepers) { state.signal() }
    }

    /// Ends the threads after the pieces they are at. Any thread; never blocks.
    package func stop() { Self.stop(state) }

    /// Waits for the threads to end. Once, after `stop`, on none of them.
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

    /// Waits; false at the end.
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

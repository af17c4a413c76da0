/// A fixed number of threads that take jobs, the most urgent first. Owned by whoever makes it, who stops
/// and joins it. Jobs still waiting at `stop` are dropped.
package final class WorkerPool<Job: Sendable>: Sendable {
    private struct State {
        var jobs = PriorityBuckets<Job>()
        var idleWorkers = 0
        var stopped = false
    }

    private let state = Monitor(State())
    private let threads: [NativeThread]

    /// - Parameters:
    ///   - makeWorker: called once on each thread; what it returns runs that thread's jobs, one after the
    ///     other, and may keep things of its own from job to job.
    /// - Throws: when the system gives no thread; those already made are ended first.
    package init(
        name: String, threads count: Int, makeWorker: @escaping @Sendable () -> (Job) -> Void
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

    /// Any thread; never blocks for longer than the queue's lock.
    package func submit(_ job: Job, priority: Priority) {
        let wakes = state.withLock { state in
            guard !state.stopped else { return false }
            _ = state.jobs.append(job, priority: priority)
            return state.idleWorkers > 0
        }
        if wakes { state.signal() }
    }

    /// Ends the threads after the jobs they are at. Any thread; never blocks.
    package func stop() { Self.stop(state) }

    /// Waits for the threads to end. Once, after `stop`, on none of them.
    package func join() {
        for thread in threads { thread.join() }
    }

    private static func stop(_ state: Monitor<State>) {
        state.withLock { $0.stopped = true }
        state.broadcast()
    }

    private static func work(_ state: Monitor<State>, _ run: (Job) -> Void) {
        while let job = next(state) { run(job) }
    }

    private static func next(_ state: Monitor<State>) -> Job? {
        var idle = false
        return state.wait { state -> Job?? in
            if state.stopped { return .some(nil) }
            if let job = state.jobs.popFirst() {
                if idle { state.idleWorkers -= 1 }
                return job
            }
            if !idle {
                idle = true
                state.idleWorkers += 1
            }
            return nil
        }
    }
}

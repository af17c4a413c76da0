/// Threads that pull work from their owner: once woken, a thread does one piece of work after another until there is no
/// more. Threads that have had none for a while end, but for one, and are started again when there is enough work. The
/// owner stops and joins the pool.
package final class WorkerPool: Sendable {
    fileprivate struct State {
        /// The number of threads that should look for work again, at most as many as the pool may have.
        var wanted = 0
        var idle = 0
        var stopped = false
        /// The living threads by number. One that ends for lack of work removes itself.
        var threads: [Int: NativeThread] = [:]
        /// The number of threads that still work, or look for work.
        var running = 0
        /// The last thread calls it before it ends.
        var conclusion: (@Sendable () -> Void)?
    }

    private let state = Monitor(State())
    private let name: String
    private let most: Int
    private let idleMilliseconds: Int64
    private let atEnd: @Sendable () -> Void
    private let makeWorker: @Sendable () -> () -> Bool

    /// - Parameters:
    ///   - count: the number of threads: all are started now.
    ///   - idleMilliseconds: the time without work after which a thread ends, if there is another one.
    ///   - atEnd: called on each thread before it ends.
    ///   - makeWorker: called once on each thread. The closure it returns does one piece of work and returns whether
    ///     there was one; it may keep state between pieces.
    /// - Throws: if the system cannot create a thread; threads already created are ended first.
    package init(
        name: String, threads count: Int, idleMilliseconds: Int64 = 10_000, atEnd: @escaping @Sendable () -> Void = {},
        makeWorker: @escaping @Sendable () -> () -> Bool
    ) throws(SystemError) {
        self.name = name
        most = count
        self.idleMilliseconds = idleMilliseconds
        self.atEnd = atEnd
        self.makeWorker = makeWorker
        do throws(SystemError) {
            try state.withLock { (state) throws(SystemError) in
                for _ in 0..<count { try start(&state) }
            }
        } catch {
            stop()
            join()
            throw error
        }
    }

    /// Starts a thread. Called under the lock, so that no thread is started once the pool is stopped, and the new one is
    /// known before it does anything.
    private func start(_ state: inout State) throws(SystemError) {
        guard let number = (0..<most).first(where: { state.threads[$0] == nil }) else { return }
        let (shared, limit, makeWorker, atEnd) = (self.state, idleMilliseconds, makeWorker, atEnd)
        state.threads[number] = try NativeThread(name: "\(name)-\(number)") {
            guard Self.work(shared, number, limit, makeWorker()) else { return }
            atEnd()
            Self.conclude(shared)
        }
        state.idle += 1
        state.running += 1
    }

    /// Announces `pieces` more pieces of work: up to that many threads look for work, at least one of them after this
    /// call. Callable from any thread; never blocks.
    package func wake(for pieces: Int) {
        let sleepers = state.withLock { state in
            state.wanted = min(state.wanted + pieces, most)
            // If the system gives no thread, there is still one that does the work.
            while state.wanted > state.idle, state.threads.count < most, !state.stopped {
                if (try? start(&state)) == nil { break }
            }
            return state.idle
        }
        for _ in 0..<min(pieces, sleepers) { state.signal() }
    }

    /// The number of living threads.
    package var threadCount: Int { state.withLock { $0.threads.count } }

    /// Stops the threads once they finish their current pieces. Callable from any thread; never blocks.
    /// - Parameter conclusion: run by the last thread that ends. Only the first call may have one: after it perhaps no
    ///   thread is left.
    package func stop(conclusion: (@Sendable () -> Void)? = nil) {
        state.withLock { state in
            state.stopped = true
            if let conclusion { state.conclusion = conclusion }
        }
        state.broadcast()
    }

    /// Whether the calling thread is one of these threads.
    package var isOwnThread: Bool { state.withLock { $0.threads.values.contains { $0.isCurrent } } }

    /// Waits for the threads to end, but not for the calling one. Call it once, after `stop`; on one of these threads
    /// only in the conclusion.
    package func join() {
        let threads = state.withLock { state in
            defer { state.threads = [:] }
            return state.threads
        }
        for thread in threads.values {
            if thread.isCurrent { thread.detach() } else { thread.join() }
        }
    }

    /// Counts a thread that ends because the pool is stopped.
    private static func conclude(_ state: Monitor<State>) {
        let conclusion = state.withLock { state -> (@Sendable () -> Void)? in
            state.running -= 1
            return state.running == 0 ? state.conclusion.take() : nil
        }
        conclusion?()
    }

    /// The body of a thread.
    /// - Returns: whether it ends because the pool is stopped, and not for lack of work.
    private static func work(_ state: Monitor<State>, _ number: Int, _ limit: Int64, _ doPiece: () -> Bool) -> Bool {
        while true {
            switch waitForWork(state, number, limit) {
            case .works: while !state.withLock({ $0.stopped }), doPiece() {}
            case .stops: return true
            case .isSpare: return false
            }
            state.withLock { $0.idle += 1 }
        }
    }

    fileprivate enum Outcome { case works, stops, isSpare }

    /// Waits until this thread should look for work, or end. The last thread waits without a limit.
    private static func waitForWork(_ state: Monitor<State>, _ number: Int, _ limit: Int64) -> Outcome {
        while true {
            let isOnlyOne = state.withLock { $0.threads.count <= 1 }
            if let outcome = state.wait(milliseconds: isOnlyOne ? -1 : limit, until: { $0.next() }) { return outcome }
            let outcome = state.withLock { state -> Outcome? in
                if let outcome = state.next() { return outcome }
                guard state.threads.count > 1 else { return nil }
                state.idle -= 1
                state.running -= 1
                state.threads.removeValue(forKey: number)?.detach()
                return .isSpare
            }
            if let outcome { return outcome }
        }
    }
}

extension WorkerPool.State {
    /// What an idle thread does now; `nil` if it has to wait.
    fileprivate mutating func next() -> WorkerPool.Outcome? {
        guard stopped || wanted > 0 else { return nil }
        idle -= 1
        if stopped { return .stops }
        wanted -= 1
        return .works
    }
}

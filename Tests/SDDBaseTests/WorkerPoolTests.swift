import Glibc
import SDDBase
import TestSupport
import Testing

@Suite struct WorkerPoolTests {
    /// Jobs that the threads of a pool take, in the order in which they were added.
    private final class Jobs: Sendable {
        private let waiting = Monitor<[@Sendable () -> Void]>([])

        func add(_ job: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(job) } }

        /// Runs one job, as a worker of a pool does. Returns false if there was none.
        func doOne() -> Bool {
            guard let job = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
            job()
            return true
        }
    }

    private let jobs = Jobs()

    private func makePool(threads: Int) throws -> WorkerPool {
        try WorkerPool(name: "pool", threads: threads) { [jobs] in { jobs.doOne() } }
    }

    private func end(_ pool: WorkerPool) {
        pool.stop()
        pool.join()
    }

    @Test func runsEveryJobOnce() throws {
        // given
        let done = Recorder<Int>()
        let pool = try makePool(threads: 3)
        // when
        for number in 0..<500 {
            jobs.add { done.record(number) }
            pool.wake(for: 1)
        }
        // then
        let numbers = try #require(done.wait(count: 500))
        end(pool)
        #expect(numbers.sorted() == Array(0..<500))
        #expect(done.all.count == 500)
    }

    @Test func runsAllJobsThoughWokenForOne() throws {
        // given
        let done = Expectation(count: 100)
        for _ in 0..<100 { jobs.add { done.fulfil() } }
        let pool = try makePool(threads: 1)
        // when
        pool.wake(for: 1)
        // then
        #expect(done.wait())
        end(pool)
    }

    @Test("threads without work end, but for one, and come back when there is work for them")
    func idleThreadsEnd() throws {
        // given
        let ends = Monitor(0)
        let pool = try WorkerPool(
            name: "pool", threads: 3, idleMilliseconds: 1, atEnd: { ends.withLock { $0 += 1 } }
        ) { [jobs] in { jobs.doOne() } }
        while pool.threadCount > 1 { sched_yield() }
        for _ in 0..<20 {
            // when: each job waits for the other two, so that three threads are needed
            let met = Monitor(0), done = Expectation(count: 3)
            for _ in 0..<3 {
                jobs.add {
                    met.withLock { $0 += 1 }
                    met.broadcast()
                    met.wait { $0 >= 3 ? () : nil }
                    done.fulfil()
                }
            }
            pool.wake(for: 3)
            // then
            #expect(done.wait())
        }
        #expect(ends.withLock { $0 } == 0)
        end(pool)
        // Only those that the end of the pool has found are told of it.
        #expect((1...3).contains(ends.withLock { $0 }))
    }

    @Test("a thread of the pool may stop it; the last one that ends then joins the others")
    func endsOnItsOwnThread() throws {
        // given
        let done = Expectation(count: 1)
        let pool = try makePool(threads: 3)
        // when
        jobs.add {
            #expect(pool.isOwnThread)
            pool.stop {
                pool.join()
                done.fulfil()
            }
        }
        pool.wake(for: 1)
        // then
        #expect(done.wait())
        #expect(!pool.isOwnThread && pool.threadCount == 0)
    }

    @Test func looksForWorkOnlyWhenWoken() throws {
        // given
        let asked = Recorder<Bool>()
        let pool = try WorkerPool(name: "pool", threads: 1) {
            {
                asked.record(true)
                return false
            }
        }
        // when, then: once for each wake-up, and not before
        for count in 1...3 {
            pool.wake(for: 1)
            #expect(asked.wait(count: count)?.count == count)
        }
        end(pool)
        #expect(asked.all.count == 3)
    }

    @Test func aWakeUpForNoJobsRunsNothing() throws {
        // given
        let ran = Expectation()
        jobs.add { ran.fulfil() }
        let pool = try makePool(threads: 2)
        // when
        pool.wake(for: 0)
        end(pool)
        // then
        #expect(!ran.isFulfilled)
    }

    @Test func runsAsManyJobsAtOnceAsItHasThreads() throws {
        // given
        let pool = try makePool(threads: 4)
        let areRunning = Expectation(count: 4)
        let mayEnd = Expectation()
        // when: each job waits until all four run
        for _ in 0..<4 {
            jobs.add {
                areRunning.fulfil()
                _ = mayEnd.wait()
            }
        }
        pool.wake(for: 4)
        // then
        #expect(areRunning.wait())
        mayEnd.fulfil()
        end(pool)
    }

    @Test func runsJobsAddedWhileAllThreadsAreBusy() throws {
        // given
        let pool = try makePool(threads: 1)
        let (isBusy, mayGoOn, isDone) = (Expectation(), Expectation(), Expectation(count: 20))
        jobs.add {
            isBusy.fulfil()
            _ = mayGoOn.wait()
        }
        pool.wake(for: 1)
        #expect(isBusy.wait())
        // when
        for _ in 0..<20 {
            jobs.add { isDone.fulfil() }
            pool.wake(for: 1)
        }
        mayGoOn.fulfil()
        // then
        #expect(isDone.wait())
        end(pool)
    }

    @Test func makesOneWorkerForEachThread() throws {
        // given
        let made = Recorder<ThreadIdentity>()
        let used = Recorder<Bool>()
        // when
        let pool = try WorkerPool(name: "pool", threads: 2) { [jobs] in
            let own = ThreadIdentity.current
            made.record(own)
            return {
                guard jobs.doOne() else { return false }
                used.record(own == .current)
                return true
            }
        }
        for _ in 0..<20 { jobs.add {} }
        pool.wake(for: 20)
        // then
        let isOnItsThread = try #require(used.wait(count: 20))
        #expect(isOnItsThread.allSatisfy { $0 })
        #expect(made.wait(count: 2) != nil)
        end(pool)
        #expect(made.all.count == 2)
    }

    @Test func stoppingFinishesTheRunningJobAndDropsTheWaitingOnes() throws {
        // given
        let pool = try makePool(threads: 1)
        let (isBusy, mayGoOn) = (Expectation(), Expectation())
        let ran = Recorder<String>()
        jobs.add {
            isBusy.fulfil()
            _ = mayGoOn.wait()
            ran.record("running")
        }
        jobs.add { ran.record("waiting") }
        pool.wake(for: 2)
        #expect(isBusy.wait())
        // when
        pool.stop()
        pool.wake(for: 1)
        mayGoOn.fulfil()
        pool.join()
        // then
        #expect(ran.all == ["running"])
    }

    @Test func isWokenFromManyThreads() throws {
        // given
        let pool = try makePool(threads: 2)
        let done = Expectation(count: 4000)
        // when
        let threads = try (0..<4).map { number in
            try NativeThread(name: "giver-\(number)") { [jobs] in
                for _ in 0..<1000 {
                    jobs.add { done.fulfil() }
                    pool.wake(for: 1)
                }
            }
        }
        for thread in threads { thread.join() }
        // then
        #expect(done.wait())
        end(pool)
    }
}

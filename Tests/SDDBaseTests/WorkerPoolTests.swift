import SDDBase
import TestSupport
import Testing

@Suite struct WorkerPoolTests {
    private typealias Job = @Sendable () -> Void

    @Test func runsEveryJobOnce() throws {
        // given
        let done = Recorder<Int>()
        let pool = try WorkerPool<Int>(name: "pool", threads: 3) { { done.record($0) } }
        // when
        for number in 0..<500 { pool.submit(number, priority: .normal) }
        // then
        let numbers = try #require(done.wait(count: 500))
        pool.stop()
        pool.join()
        #expect(numbers.sorted() == Array(0..<500))
        #expect(done.all.count == 500)
    }

    @Test func runsTheMostUrgentOfTheWaitingFirst() throws {
        // given: the only thread is busy
        let pool = try jobPool(threads: 1)
        let isBusy = Expectation()
        let mayGoOn = Expectation()
        pool.submit(
            {
                isBusy.fulfil()
                _ = mayGoOn.wait()
            }, priority: .low)
        #expect(isBusy.wait())
        // when
        let order = Recorder<String>()
        for priority in [Priority.low, .normal, .high] {
            pool.submit({ order.record("\(priority)") }, priority: priority)
        }
        pool.submit({ order.record("high too") }, priority: .high)
        mayGoOn.fulfil()
        // then
        #expect(order.wait(count: 4) == ["high", "high too", "normal", "low"])
        pool.stop()
        pool.join()
    }

    @Test func worksOnAsManyJobsAtOnceAsItHasThreads() throws {
        // given
        let pool = try jobPool(threads: 4)
        let areRunning = Expectation(count: 4)
        let mayEnd = Expectation()
        // when: each job waits until all four run
        for _ in 0..<4 {
            pool.submit(
                {
                    areRunning.fulfil()
                    _ = mayEnd.wait()
                }, priority: .normal)
        }
        // then
        #expect(areRunning.wait())
        mayEnd.fulfil()
        pool.stop()
        pool.join()
    }

    @Test func makesOneWorkerForEachThread() throws {
        // given
        let made = Recorder<ThreadIdentity>()
        let used = Recorder<Bool>()
        // when
        let pool = try WorkerPool<Int>(name: "pool", threads: 2) {
            let own = ThreadIdentity.current
            made.record(own)
            return { _ in used.record(own == .current) }
        }
        for number in 0..<20 { pool.submit(number, priority: .normal) }
        // then
        let isOnItsThread = try #require(used.wait(count: 20))
        #expect(isOnItsThread.allSatisfy { $0 })
        #expect(made.wait(count: 2) != nil)
        pool.stop()
        pool.join()
        #expect(made.all.count == 2)
    }

    @Test func dropsWhatWaitsWhenItStopsAndEndsTheJobItIsAt() throws {
        // given
        let pool = try jobPool(threads: 1)
        let isBusy = Expectation()
        let mayGoOn = Expectation()
        let ran = Recorder<String>()
        pool.submit(
            {
                isBusy.fulfil()
                _ = mayGoOn.wait()
                ran.record("running")
            }, priority: .normal)
        #expect(isBusy.wait())
        pool.submit({ ran.record("waiting") }, priority: .high)
        // when
        pool.stop()
        pool.submit({ ran.record("late") }, priority: .high)
        mayGoOn.fulfil()
        pool.join()
        // then
        #expect(ran.all == ["running"])
    }

    @Test func takesJobsFromManyThreads() throws {
        // given
        let pool = try jobPool(threads: 2)
        let done = Expectation(count: 4000)
        // when
        let threads = try (0..<4).map { number in
            try NativeThread(name: "giver-\(number)") {
                for count in 0..<1000 { pool.submit({ done.fulfil() }, priority: count % 2 == 0 ? .low : .high) }
            }
        }
        for thread in threads { thread.join() }
        // then
        #expect(done.wait())
        pool.stop()
        pool.join()
    }

    private func jobPool(threads: Int) throws -> WorkerPool<Job> {
        try WorkerPool(name: "pool", threads: threads) { { job in job() } }
    }
}

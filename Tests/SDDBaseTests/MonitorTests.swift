import SDDBase
import Testing

@Suite struct MonitorTests {
    @Test func handsAValueFromOneThreadToAnother() throws {
        // given
        let monitor = Monitor<Int?>(nil)
        let received = Monitor<Int?>(nil)
        let thread = try NativeThread(name: "taker") {
            let value = monitor.wait { $0 }
            received.withLock { $0 = value }
        }
        // when
        monitor.withLock { $0 = 42 }
        monitor.signal()
        thread.join()
        // then
        #expect(received.withLock { $0 } == 42)
    }

    @Test func checksTheConditionBeforeItWaits() {
        // given: no thread ever signals
        let monitor = Monitor(1)
        // when, then
        #expect(monitor.wait { $0 == 1 ? "there" : nil } == "there")
        #expect(monitor.wait(milliseconds: 0) { $0 == 1 ? "there" : nil } == "there")
        #expect(monitor.wait(milliseconds: -1) { $0 == 1 ? "there" : nil } == "there")
    }

    @Test(arguments: [0, 1, 20] as [Int64])
    func timesOutAfterTheLimitAndNotBefore(limit: Int64) {
        // given
        let monitor = Monitor(0)
        let start = SystemTime().monotonicMicroseconds()
        // when
        let result: Int? = monitor.wait(milliseconds: limit) { _ in nil }
        // then
        #expect(result == nil)
        #expect(SystemTime().monotonicMicroseconds() - start >= limit * 1000)
    }

    @Test func takesLimitsBeyondTheClocksRange() throws {
        // given
        let monitor = Monitor(false)
        let thread = try NativeThread(name: "setter") {
            monitor.withLock { $0 = true }
            monitor.broadcast()
        }
        // when
        let result = monitor.wait(milliseconds: .max) { $0 ? true : nil }
        thread.join()
        // then
        #expect(result == true)
    }

    @Test func wakesEveryWaitingThreadByBroadcast() throws {
        // given
        let monitor = Monitor((waiting: 0, isOpen: false))
        let threads = try (0..<8).map { number in
            try NativeThread(name: "waiter-\(number)") {
                monitor.withLock { $0.waiting += 1 }
                monitor.broadcast()
                monitor.wait { $0.isOpen ? () : nil }
            }
        }
        // when
        monitor.wait { $0.waiting == 8 ? () : nil }
        monitor.withLock { $0.isOpen = true }
        monitor.broadcast()
        // then: join returns
        for thread in threads { thread.join() }
    }

    @Test func letsOneThreadInAtATime() throws {
        // given
        let monitor = Monitor(0)
        // when
        let threads = try (0..<4).map { number in
            try NativeThread(name: "adder-\(number)") {
                for _ in 0..<5000 { monitor.withLock { $0 += 1 } }
            }
        }
        for thread in threads { thread.join() }
        // then
        #expect(monitor.withLock { $0 } == 20_000)
    }

    @Test func unlocksWhenTheBodyThrows() {
        // given
        struct Refused: Error {}
        let monitor = Monitor(0)
        // when
        #expect(throws: Refused.self) { try monitor.withLock { _ throws(Refused) in throw Refused() } }
        // then: if the lock were still held, this would wait forever
        #expect(monitor.withLock { $0 } == 0)
    }
}

import Testing

@testable import SDDEngine

/// Row Z7: which failed transfers have another attempt, and when.
@Suite struct RetryQueueTests {
    private static let policy = RetryPolicy(maxAttempts: 4, budget: 2, delay: 1000, maxDelay: 5_000_000)

    private var queue = RetryQueue(policy, seed: 1)

    @Test mutating func pausesAreThoseOfThePolicy() throws {
        // given
        queue = RetryQueue(RetryPolicy(maxAttempts: 4, budget: nil, delay: 1000, maxDelay: 5_000_000), seed: 1)
        #expect(queue.maxAttempts == 4)
        for attempts in 1...3 as ClosedRange<Int32> {
            // when
            let pause = queue.takeRetry(for: 1, after: attempts, asked: nil)
            // then
            let longest = Int64(1000) << Int64(attempts - 1)
            #expect((longest / 2...longest).contains(try #require(pause)))
        }
        #expect(queue.takeRetry(for: 1, after: 1, asked: 3) == 3_000_000)
    }

    @Test mutating func equalSeedsGiveEqualPauses() {
        func pauses(seed: UInt64) -> [Int64?] {
            var queue = RetryQueue(RetryPolicy(budget: nil), seed: seed)
            return (0..<8).map { _ in queue.takeRetry(for: 1, after: 3, asked: nil) }
        }
        #expect(pauses(seed: 5) == pauses(seed: 5) && pauses(seed: 5) != pauses(seed: 6))
    }

    @Test mutating func hostHasSoManyRetriesUntilTransfersSucceed() {
        // given
        for _ in 0..<2 { #expect(queue.takeRetry(for: 1, after: 1, asked: nil) != nil) }
        #expect(queue.takeRetry(for: 1, after: 1, asked: nil) == nil)
        #expect(queue.takeRetry(for: 2, after: 1, asked: nil) != nil)
        // when
        for _ in 0..<RetryBudget.price { queue.succeeded(at: 1) }
        // then
        #expect(queue.takeRetry(for: 1, after: 1, asked: nil) != nil)
        #expect(queue.takeRetry(for: 1, after: 1, asked: nil) == nil)
    }

    @Test mutating func tooLongAPauseTakesNoRetry() {
        // when
        for _ in 0..<5 { #expect(queue.takeRetry(for: 1, after: 1, asked: 6) == nil) }
        // then
        #expect(queue.takeRetry(for: 1, after: 1, asked: 5) == 5_000_000)
    }

    @Test mutating func pausesEndTheSoonestFirst() {
        // given
        for (number, pause) in [(1, 30), (2, 10), (3, 20)] as [(UInt64, Int64)] {
            queue.insert(number, for: pause, from: 100)
        }
        #expect(queue.count == 3 && queue.nextEnd() == 110)
        // when, then
        #expect(queue.popEnded(at: 109) == nil)
        #expect([queue.popEnded(at: 120), queue.popEnded(at: 120), queue.popEnded(at: 120)] == [2, 3, nil])
        #expect(queue.count == 1 && queue.nextEnd() == 130)
    }

    @Test mutating func removedJobIsNotReturnedNorWaitedFor() {
        // given
        queue.insert(1, for: 10, from: 0)
        queue.insert(2, for: 20, from: 0)
        // when
        queue.remove(1)
        // then
        #expect(queue.count == 1 && queue.nextEnd() == 20)
        #expect(queue.popEnded(at: 100) == 2 && queue.popEnded(at: 100) == nil)
        #expect(queue.count == 0 && queue.nextEnd() == .max)
    }

    @Test mutating func pauseOfNothingIsOverLater() {
        // given
        queue.insert(1, for: 0, from: 100)
        // then
        #expect(queue.popEnded(at: 100) == nil && queue.popEnded(at: 101) == 1)
    }

    @Test mutating func endsOfRemovedJobsAreForgotten() {
        // when
        for number in 0..<10_000 as Range<UInt64> {
            queue.insert(number, for: 1 << 40, from: 0)
            queue.remove(number)
        }
        // then
        #expect(queue.count == 0 && queue.endCount <= 1025)
        #expect(queue.nextEnd() == .max && queue.endCount == 0)
    }
}

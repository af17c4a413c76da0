import TestSupport
import Testing

@testable import SDDEngine

@Suite struct DeadlinesTests {
    private let everything: (UInt64) -> Bool = { _ in true }

    @Test func returnsTheSoonestFirstAndOnlyWhenDue() {
        // given
        var deadlines = Deadlines<RequestLimit>()
        #expect(deadlines.isEmpty)
        deadlines.add(.total, of: 1, after: 300, from: 1000, isAlive: everything)
        deadlines.add(.queue, of: 1, after: 100, from: 1000, isAlive: everything)
        deadlines.add(.queue, of: 2, after: 50, from: 1100, isAlive: everything)
        // when, then
        #expect(deadlines.next(isAlive: everything) == 1100)
        #expect(deadlines.popExpired(at: 1099) == nil)
        #expect(deadlines.popExpired(at: 1200)?.kind == .queue)
        #expect(deadlines.popExpired(at: 1200)?.token == 2)
        #expect(deadlines.popExpired(at: 1200) == nil)
        #expect(deadlines.next(isAlive: everything) == 1300)
        #expect(deadlines.popExpired(at: 1300)?.kind == .total)
        #expect(deadlines.isEmpty)
        #expect(deadlines.next(isAlive: everything) == .max)
    }

    @Test func doesNotKeepAnInfiniteLimit() {
        // given
        var deadlines = Deadlines<RequestLimit>()
        // when
        for limit in [0, -1, Int64.max] { deadlines.add(.total, of: 1, after: limit, from: 5, isAlive: everything) }
        // then
        #expect(deadlines.isEmpty)
    }

    @Test func dropsEndedRequestsWhenTheyAreNext() {
        // given
        var deadlines = Deadlines<RequestLimit>()
        for token in 1...4 as ClosedRange<UInt64> {
            deadlines.add(.total, of: token, after: Int64(token), from: 0, isAlive: everything)
        }
        // when, then
        #expect(deadlines.next { $0 == 3 } == 3)
        #expect(deadlines.popExpired(at: 10)?.token == 3)
        #expect(deadlines.next { $0 == 3 } == .max)
        #expect(deadlines.isEmpty)
    }

    @Test func doesNotGrowWithEndedRequests() {
        // given: distant limits, of which ten are alive at any time
        var deadlines = Deadlines<RequestLimit>()
        // when
        for token in 1...20_000 as ClosedRange<UInt64> {
            deadlines.add(.total, of: token, after: 1 << 40, from: Int64(token)) { $0 + 10 > token }
        }
        // then: few are left
        var left = 0
        while deadlines.popExpired(at: .max) != nil { left += 1 }
        #expect((10...2048).contains(left))
    }

    @Test func losesNoLiveLimit() {
        // given
        var deadlines = Deadlines<RequestLimit>()
        var random = SeededRandom(seed: 3)
        for token in (1...5000 as ClosedRange<UInt64>).shuffled(using: &random) {
            deadlines.add(.queue, of: token, after: Int64(token), from: 0, isAlive: everything)
        }
        // when, then
        for token in 1...5000 as ClosedRange<UInt64> { #expect(deadlines.popExpired(at: .max)?.token == token) }
        #expect(deadlines.isEmpty)
    }
}

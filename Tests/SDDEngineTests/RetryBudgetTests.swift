import Testing

@testable import SDDEngine

/// Row Z7: the number of retries of a host.
@Suite struct RetryBudgetTests {
    private func take(_ count: Int, of budget: inout RetryBudget, for host: UInt64 = 1) -> [Bool] {
        (0..<count).map { _ in budget.take(for: host) }
    }

    @Test("Z7: the number is limited; each host has its own")
    func theNumberOfRetriesIsLimited() {
        var budget = RetryBudget(most: 2)
        #expect(take(4, of: &budget) == [true, true, false, false])
        #expect(take(1, of: &budget, for: 2) == [true])
        #expect(budget.inHand(of: 2) == 1 && budget.inHand(of: 1) == 0)
    }

    @Test("Z7: five successful transfers earn one back, up to the limit")
    func successesEarnRetriesBack() {
        var budget = RetryBudget(most: 2)
        for _ in 0..<2 { _ = budget.take(for: 1) }
        for _ in 0..<4 { budget.succeeded(at: 1) }
        #expect(take(1, of: &budget) == [false])
        budget.succeeded(at: 1)
        #expect(take(2, of: &budget) == [true, false])
        for _ in 0..<100 { budget.succeeded(at: 1) }
        #expect(take(3, of: &budget) == [true, true, false])
    }

    @Test("Z7: a budget of none, and no limit")
    func noBudgetAndNoLimit() {
        var (none, all) = (RetryBudget(most: 0), RetryBudget(most: nil))
        #expect(take(1, of: &none) == [false])
        #expect(take(10_000, of: &all).allSatisfy { $0 })
        #expect(none.hostCount == 0 && all.hostCount == 0)
    }

    @Test("Z7: hosts with all retries left are not remembered, and of others at most 1024")
    func remembersOnlyHostsThatHaveUsedRetries() {
        var budget = RetryBudget(most: 3)
        _ = budget.take(for: 7)
        for _ in 0..<5 { budget.succeeded(at: 7) }
        #expect(budget.hostCount == 0)
        // when
        for _ in 0..<3 { _ = budget.take(for: 1) }
        for host in 100..<10_000 as Range<UInt64> { _ = budget.take(for: host) }
        // then: the host that has used most is not forgotten
        #expect(budget.hostCount == 1024)
        #expect(take(1, of: &budget) == [false])
    }
}

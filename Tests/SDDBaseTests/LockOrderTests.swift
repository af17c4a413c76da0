import SDDBase
import Testing

@Suite struct LockOrderTests {
    private func bits(_ ranks: [LockRank]) -> UInt { ranks.reduce(0) { $0 | 1 << $1.rawValue } }

    @Test func allowsHigherRanksOnly() {
        #expect(LockOrder.isInOrder(.inner, after: 0))
        #expect(LockOrder.isInOrder(.inner, after: bits([.loaders, .caches, .table])))
        #expect(!LockOrder.isInOrder(.table, after: bits([.inner])))
        #expect(!LockOrder.isInOrder(.caches, after: bits([.table])))
        for rank in LockRank.allCases { #expect(!LockOrder.isInOrder(rank, after: bits([rank]))) }
    }

    @Test func forgetsALockThatWasGivenBack() {
        let (table, inner) = (Monitor(0, rank: .table), Monitor(0))
        // A debug build ends the process if these are not in order.
        let sum = table.withLock { first in inner.withLock { first + $0 } }
        let again = inner.withLock { $0 } + table.withLock { $0 }
        #expect(sum == 0 && again == 0)
        LockOrder.checkThatNoneIsHeld()
    }
}

import SDDBase
import SDDCoders
import Testing

@testable import SDDEngine

/// The memory limit for all pictures together, as the accounts of downloaders see it.
@Suite struct DecodeMemoryTests {
    let memory = DecodeMemory()

    init() { memory.setLimit(100) }

    /// Counts the rings of an account's bell.
    private final class Rings: Sendable {
        private let count = Monitor(0)
        var total: Int { count.withLock { $0 } }

        init(_ account: DecodeAccount) { account.setBell { [count] in count.withLock { $0 += 1 } } }
    }

    @Test func grantsMemoryUpToTheLimit() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let first = one.reserve(60, isArriving: false)
        let second = other.reserve(40, isArriving: false)
        #expect(first?.bytes == 60 && second?.bytes == 40 && memory.used == 100)
        #expect(one.reserve(1, isArriving: false) == nil && other.reserve(1, isArriving: true) == nil)
    }

    @Test func theLastReferenceReturnsTheMemory() {
        let account = memory.makeAccount()
        var first = account.reserve(60, isArriving: false)
        first?.shrink(to: 10)
        #expect(memory.used == 10)
        // The memory is returned only once.
        first?.shrink(to: 50)
        #expect(memory.used == 10)
        first = nil
        #expect(memory.used == 0)
    }

    @Test func anAccountWithoutMemoryIsAlwaysGranted() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let large = one.reserve(1000, isArriving: false)
        let alone = other.reserve(500, isArriving: false)
        #expect(large != nil && alone != nil)
        #expect(one.reserve(1, isArriving: false) == nil)
    }

    @Test("memory of an arriving picture does not block a complete one, of the same downloader or another")
    func arrivingPicturesDoNotBlockCompleteOnes() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let arriving = one.reserve(1000, isArriving: true)
        let complete = one.reserve(50, isArriving: false)
        let others = other.reserve(50, isArriving: false)
        #expect(arriving != nil && complete != nil && others != nil)
        #expect(memory.used == 1100)
    }

    @Test("a waiting body rings for arriving pictures to be dropped, and its bell rings when they are gone")
    func arrivingPicturesAreAskedToFreeTheirMemory() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let rings = (Rings(one), Rings(other))
        var arriving = one.reserve(90, isArriving: true)
        let complete = other.reserve(10, isArriving: false)
        // when
        #expect(other.ask(for: 20) == nil)
        // then
        #expect(one.isWanted && rings.0.total == 1 && rings.1.total == 0)
        #expect(one.reserve(1, isArriving: true) == nil)
        // when
        arriving = nil
        // then
        #expect(rings.1.total == 1)
        let second = other.ask(for: 20)
        #expect(second != nil && !other.isWanted)
        withExtendedLifetime((complete, arriving)) {}
    }

    @Test("a refusal that changes nothing rings no bell: the thread that asked would wake itself again and again")
    func aRefusalAgainRingsNothing() {
        let account = memory.makeAccount()
        let rings = Rings(account)
        let held = account.reserve(50, isArriving: false)
        var arriving = account.reserve(50, isArriving: true)
        // The first refusal asks the account itself for the room of its arriving picture.
        #expect(account.ask(for: 60) == nil && rings.total == 1)
        for _ in 0..<100 { #expect(account.ask(for: 60) == nil) }
        #expect(account.reserve(1, isArriving: true) == nil && account.reserve(60, isArriving: false) == nil)
        #expect(rings.total == 1)
        // It is rung when there is news.
        arriving = nil
        #expect(rings.total == 1 && account.ask(for: 50) != nil)
        withExtendedLifetime((held, arriving)) {}
    }

    @Test("a picture whose body has arrived keeps its memory")
    func settledPicturesKeepTheirMemory() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let rings = Rings(one)
        let settled = one.reserve(90, isArriving: true)
        settled?.settle()
        let complete = other.reserve(10, isArriving: false)
        #expect(other.ask(for: 20) == nil)
        #expect(rings.total == 0)
        settled?.shrink(to: 0)
        #expect(memory.used == 10 && complete != nil)
    }

    @Test("freed memory is reserved for the account that has waited longest")
    func noAccountOvertakesAnother() {
        let accounts = (0..<3).map { _ in memory.makeAccount() }
        let held = accounts.map { $0.reserve(30, isArriving: false) }
        #expect(accounts[0].ask(for: 40) == nil)
        #expect(accounts[1].ask(for: 20) == nil)
        // when
        held[2]?.shrink(to: 0)
        // then: of 40 bytes none are left for the second account, which is not the only one
        #expect(accounts[1].ask(for: 20) == nil)
        #expect(accounts[0].ask(for: 40) != nil)
        withExtendedLifetime(held) {}
    }

    @Test("decoded pictures of an account for prompt requests do not count")
    func promptPicturesCountOnlyDuringTheDecode() {
        let (kept, prompt) = (memory.makeAccount(), memory.makeAccount(keepsUndelivered: false))
        let (first, second) = (kept.reserve(40, isArriving: false), prompt.reserve(40, isArriving: false))
        first?.decoded(keeping: 30)
        second?.decoded(keeping: 30)
        #expect(memory.used == 30 && second?.bytes == 0)
    }

    @Test func anEndedDownloaderLeavesTheLine() {
        let (one, other) = (memory.makeAccount(), memory.makeAccount())
        let held = (one.reserve(80, isArriving: false), other.reserve(20, isArriving: false))
        #expect(one.ask(for: 30) == nil && other.ask(for: 80) == nil)
        let rings = Rings(other)
        // when
        one.close()
        #expect(one.ask(for: 1) == nil)
        held.0?.shrink(to: 0)
        // then
        #expect(rings.total == 1 && other.ask(for: 80) != nil && !other.isWanted)
        withExtendedLifetime(held) {}
    }

    @Test func aHigherLimitRings() {
        let account = memory.makeAccount()
        let rings = Rings(account)
        let first = account.reserve(80, isArriving: false)
        #expect(account.ask(for: 30) == nil)
        memory.setLimit(110)
        #expect(rings.total == 1 && account.ask(for: 30) != nil)
        withExtendedLifetime(first) {}
    }
}

import SDDBase
import Testing

@testable import SDDCaches

@Suite struct LRUStoreTests {
    @Test func findsTheLatestValueByTheKeysBytes() {
        // given
        var store = LRUStore(limits: MemoryLimits())
        let (a, b, c) = (Witness(1), Witness(2), Witness(3))
        // when
        store.store("key", a)
        store.store("key\0", b)
        store.store("", c)
        store.store("key", c)
        // then
        #expect(store.find("key") === c && store.find("key\0") === b && store.find("") === c)
        #expect(store.find("ke") == nil && store.find("kez") == nil)
        #expect(store.count == 3 && store.totalCost == 3)
    }

    @Test func theLeastRecentlyUsedIsEvictedFirst() {
        // given
        var store = LRUStore(limits: MemoryLimits(cost: 30, findsLive: false))
        for key in ["a", "b", "c"] { store.store(key, Witness(0), cost: 10) }
        // when
        _ = store.find("a")
        store.store("d", Witness(0), cost: 15)
        // then: b and c both had to be evicted
        #expect(store.find("a") != nil && store.find("d") != nil)
        #expect(store.find("b") == nil && store.find("c") == nil)
        #expect(store.totalCost == 25 && store.evictions == 2)
    }

    @Test func theCountHasALimitToo() {
        // given
        var store = LRUStore(limits: MemoryLimits(count: 2, findsLive: false))
        // when
        for key in ["a", "b", "c"] { store.store(key, Witness(0)) }
        // then
        #expect(store.count == 2 && store.find("a") == nil && store.find("b") != nil)
    }

    @Test func newLimitsApplyAtOnce() {
        // given
        var store = LRUStore(limits: MemoryLimits(findsLive: false))
        for key in ["a", "b", "c", "d"] { store.store(key, Witness(0), cost: 10) }
        // when, then
        store.limitsChanged(to: MemoryLimits(cost: 39, findsLive: false))
        #expect(store.count == 3 && store.totalCost == 30)
        store.limitsChanged(to: MemoryLimits(count: 1, findsLive: false))
        #expect(store.count == 1 && store.totalCost == 10)
        store.limitsChanged(to: MemoryLimits(cost: 0, findsLive: false))
        #expect(store.count == 0 && store.totalCost == 0)
        store.release()
        #expect(store.find("d") == nil && store.slotCount == 0)
    }

    @Test func aValueOverTheWholeLimitEvictsNothing() {
        // given
        var store = LRUStore(limits: MemoryLimits(cost: 100))
        store.store("small", Witness(1), cost: 100)
        // when
        let large = Witness(2)
        store.store("large", large, cost: 101)
        // then: it is found while it lives, and does not count against the limit
        #expect(store.find("large") === large && store.find("large") === large)
        #expect(store.count == 1 && store.totalCost == 100 && store.find("small") != nil)
    }

    @Test func aValueOverTheWholeLimitReplacesTheOldOne() {
        // given
        var store = LRUStore(limits: MemoryLimits(cost: 100, findsLive: false))
        store.store("key", Witness(1), cost: 1)
        // when
        store.store("key", Witness(2), cost: 101)
        // then
        #expect(store.find("key") == nil && store.count == 0 && store.totalCost == 0)
    }

    @Test func costsNearTheLargestNumberDoNotOverflow() {
        // given
        var store = LRUStore(limits: MemoryLimits())
        // when
        for key in ["a", "b", "c"] { store.store(key, Witness(0), cost: .max) }
        store.store("d", Witness(0), cost: .min)
        // then
        #expect(store.totalCost == .max && store.count == 2)
        // when
        store.store("e", Witness(0), cost: 1)
        // then
        #expect(store.totalCost == 1)
    }

    @Test func aValueThatTheApplicationHoldsIsFoundAndKeptAgain() {
        // given
        var store = LRUStore(limits: MemoryLimits(count: 1))
        let held = Witness(1)
        store.store("held", held)
        store.store("let go", Witness(2))
        #expect(store.count == 1)
        // when
        let found = store.find("held")
        // then: it replaces the other, which is not held
        #expect(found === held && store.count == 1)
        #expect(store.find("let go") == nil && store.slotCount == 1)
    }

    @Test func aValueThatIsNotHeldIsFreedWhenEvicted() {
        // given
        weak var gone: Witness?
        var store = LRUStore(limits: MemoryLimits())
        do {
            let object = Witness(1)
            gone = object
            store.store("a", object)
        }
        #expect(gone != nil)
        // when
        store.trim(toCost: 0, count: 0)
        // then: the store itself releases nothing
        #expect(gone != nil && store.hasEvicted)
        store.release()
        #expect(gone == nil && store.find("a") == nil)
    }

    @Test func isFoundBetweenEvictionAndRelease() {
        // given
        var store = LRUStore(limits: MemoryLimits(findsLive: false))
        store.store("a", Witness(1))
        store.trim(toCost: 0, count: 0)
        // when, then
        #expect(store.find("a")?.number == 1)
        #expect(store.count == 1 && !store.hasEvicted)
    }

    @Test func withoutTheTableOfLiveValuesNothingIsFoundAgain() {
        // given
        var store = LRUStore(limits: MemoryLimits(count: 1))
        let (a, b) = (Witness(1), Witness(2))
        store.store("a", a)
        store.store("b", b)
        // when
        store.limitsChanged(to: MemoryLimits(count: 1, findsLive: false))
        // then
        #expect(store.find("a") == nil && store.find("b") === b && store.slotCount == 1)
    }

    @Test func removesKeptAndLiveValues() {
        // given
        var store = LRUStore(limits: MemoryLimits(count: 1))
        let (a, b) = (Witness(1), Witness(2))
        store.store("a", a)
        store.store("b", b)
        // when
        let removed = ["a", "b", "c"].map { key in withKey(key) { store.remove($0) } != nil }
        // then
        #expect(removed == [true, true, false])
        #expect(store.find("a") == nil && store.find("b") == nil)
        #expect(store.count == 0 && store.totalCost == 0 && store.slotCount == 0)
    }

    @Test func removesAllAtOnce() {
        // given
        var store = LRUStore(limits: MemoryLimits(count: 1))
        let (a, b) = (Witness(1), Witness(2))
        store.store("a", a)
        store.store("b", b)
        // when
        _ = store.removeAll()
        // then
        #expect(store.find("a") == nil && store.find("b") == nil)
        #expect(store.count == 0 && store.slotCount == 0 && store.limits.count == 1 && store.evictions == 1)
    }

    @Test func slotsOfFreedValuesAreReused() {
        // given: 50 values that the application holds, among others that it does not
        var store = LRUStore(limits: MemoryLimits(count: 10))
        let held = (0..<50).map { Witness($0) }
        for object in held { store.store("held \(object.number)", object) }
        // when
        for number in 0..<10_000 {
            store.store("\(number)", Witness(number))
            // then
            #expect(store.slotCount <= 10 + 2 * 50 + 10)
        }
        #expect(held.allSatisfy { store.find("held \($0.number)") === $0 })
    }
}

extension LRUStore {
    /// Stores a value and releases the evicted ones, as a cache does outside its lock.
    mutating func store(_ key: String, _ object: Witness, cost: Int = 1) {
        _ = withKey(key) { set(object, cost: cost, for: $0) }
        release()
    }

    mutating func find(_ key: String) -> Witness? {
        let object = withKey(key) { self.object(for: $0) }
        release()
        return object as? Witness
    }

    mutating func release() { while takeEvicted() != nil {} }
}

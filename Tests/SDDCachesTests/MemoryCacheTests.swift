import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct MemoryCacheTests {
    @Test func countsHitsMissesAndEvictions() {
        // given
        let cache = MemoryCache(limits: MemoryLimits(count: 1))
        // when
        cache.store("a", Witness(1))
        cache.store("b", Witness(2))
        _ = cache.find("a")
        _ = cache.find("b")
        _ = cache.find("b")
        // then
        #expect(cache.counts == MemoryCache.Counts(hits: 2, misses: 1, evictions: 1))
        #expect(cache.count == 1 && cache.totalCost == 1)
    }

    @Test func containsDoesNotCountAsUse() {
        // given
        let cache = MemoryCache(limits: MemoryLimits(count: 2))
        let held = Witness(0)
        cache.store("held", held)
        for key in ["a", "b"] { cache.store(key, Witness(1)) }
        // when, then
        #expect(withKey("a", cache.contains) && withKey("held", cache.contains) && !withKey("c", cache.contains))
        cache.store("c", Witness(2))
        #expect(!withKey("a", cache.contains) && withKey("b", cache.contains))
        #expect(cache.counts.hits == 0 && cache.counts.misses == 0)
    }

    @Test func removesOneOrAll() {
        // given
        let cache = MemoryCache(limits: MemoryLimits(count: 2))
        let held = (0..<3).map { Witness($0) }
        for object in held { cache.store("\(object.number)", object) }
        // when, then: both kept and merely live values are removed
        #expect(withKey("0", cache.remove) && withKey("1", cache.remove) && !withKey("1", cache.remove))
        #expect(cache.count == 1)
        cache.removeAll()
        #expect(cache.find("2") == nil && cache.count == 0 && cache.totalCost == 0)
    }

    @Test func evictsHalfUnderModeratePressure() {
        // given
        let cache = MemoryCache(limits: MemoryLimits())
        for number in 0..<10 { cache.store("\(number)", Witness(number), cost: 10) }
        // when
        cache.trim(.moderate)
        // then: the older ones are evicted
        #expect(cache.totalCost == 50 && cache.find("4") == nil && cache.find("5") != nil)
    }

    @Test func freesAllThatIsNotHeldUnderCriticalPressure() {
        // given
        let cache = MemoryCache(limits: MemoryLimits())
        let held = Witness(1)
        cache.store("held", held)
        cache.store("other", Witness(2))
        // when
        cache.trim(.critical)
        // then
        #expect(cache.count == 0 && cache.totalCost == 0)
        #expect(cache.find("other") == nil && cache.find("held") === held)
    }

    @Test func limitsMayBeChanged() {
        // given
        let cache = MemoryCache(limits: MemoryLimits())
        for number in 0..<10 { cache.store("\(number)", Witness(number), cost: 10) }
        // when
        cache.limits.cost = 35
        // then
        #expect(cache.count == 3 && cache.limits == MemoryLimits(cost: 35))
    }

    /// Freeing an image may take long, and the application's function that it calls may call the cache.
    @Test func releasesNothingUnderItsLock() {
        // given
        let cache = MemoryCache(limits: MemoryLimits(count: 4))
        let gone = Monitor(0)
        // If the lock were held here, this would deadlock and the test would never end.
        let make = {
            Witness($0) {
                _ = cache.count
                gone.withLock { $0 += 1 }
            }
        }
        // when: by replacing, by eviction, by removing, by limits, by trimming, by clearing
        for number in 0..<100 { cache.store("\(number % 7)", make(number)) }
        for number in 100..<110 { cache.store("again", make(number)) }
        withKey("1") { _ = cache.remove($0) }
        cache.limits.count = 2
        cache.trim(.moderate)
        cache.trim(.critical)
        for number in 110..<120 { cache.store("\(number % 7)", make(number)) }
        cache.removeAll()
        // then
        #expect(gone.withLock { $0 } == 120)
    }

    /// Memory and limit in MiB: the limit is an eighth, within bounds.
    @Test(arguments: [(0, 16), (128, 16), (256, 32), (4096, 512), (65_536, 512)])
    func theDefaultLimitIsAShareOfTheMemory(memory: Int, cost: Int) {
        #expect(MemoryLimits.defaultCost(ofMemory: memory << 20) == cost << 20)
    }

    @Test func theDefaultLimitIsBoundedForAnyMemorySize() {
        #expect(MemoryLimits.defaultCost(ofMemory: .max) == 512 << 20)
        #expect(MemoryLimits.defaultCost(ofMemory: .min) == 16 << 20)
        #expect((16 << 20...512 << 20).contains(MemoryCache().limits.cost))
    }

    @Test func survivesManyThreads() throws {
        // given: few keys, a small limit, and objects that the application frees at any time
        let cache = MemoryCache(limits: MemoryLimits(cost: 200, count: 20))
        let alive = Monitor(0)
        let make = { @Sendable (number: Int) in
            alive.withLock { $0 += 1 }
            return Witness(number) { alive.withLock { $0 -= 1 } }
        }
        // when
        let threads = try (0..<4 as Range<UInt64>).map { seed in
            try NativeThread(name: "stress") { use(cache, seed: seed, make) }
        }
        for thread in threads { thread.join() }
        // then
        #expect(cache.count <= 20 && cache.totalCost <= 200)
        #expect(alive.withLock { $0 } == cache.count)
        cache.removeAll()
        #expect(alive.withLock { $0 } == 0)
    }
}

// Runs on each of several threads.
private func use(_ cache: MemoryCache, seed: UInt64, _ make: @Sendable (Int) -> Witness) {
    var random = SeededRandom(seed: seed)
    var held: [Witness] = []
    for step in 0..<10_000 {
        let number = Int.random(in: 0..<60, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50:
            guard let found = cache.find("\(number)") else { continue }
            if found.number != number { Issue.record("\(found.number) under the key of \(number)") }
            held.append(found)
        case 50..<90: cache.store("\(number)", make(number), cost: number % 20)
        case 90..<94: _ = withKey("\(number)", cache.remove)
        case 94..<96: _ = withKey("\(number)", cache.contains)
        case 96..<98: cache.limits.cost = 100 + number
        case 98: cache.trim(step % 2 == 0 ? .moderate : .critical)
        default: cache.removeAll()
        }
        if held.count > 10 { held.remove(at: Int.random(in: held.indices, using: &random)) }
    }
}

extension MemoryCache {
    fileprivate func store(_ key: String, _ object: Witness, cost: Int = 1) {
        withKey(key) { set(object, cost: cost, for: $0) }
    }

    fileprivate func find(_ key: String) -> Witness? { withKey(key) { object(for: $0) } as? Witness }
}

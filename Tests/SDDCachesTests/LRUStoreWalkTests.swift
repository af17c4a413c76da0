import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// Random calls, compared with a naive model: an array in the order of use, searched from end to end.
@Suite struct LRUStoreWalkTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func behavesAsAListInTheOrderOfUse(seed: UInt64) {
        var walk = StoreWalk(seed: seed)
        for step in 0..<TestLength.count(1500, short: 500) {
            let call = walk.step()
            #expect(walk.isAgreed, "seed \(seed), step \(step): \(call)")
            if !walk.isAgreed { return }
        }
        walk.letGoOfAll()
        #expect(walk.isAgreed, "seed \(seed), at the end")
    }
}

private struct StoreWalk {
    private struct Model {
        var limits = MemoryLimits(cost: 100, count: 8)
        /// The least recently used first.
        var kept: [(key: String, number: Int, cost: Int)] = []
        /// Evicted, but found while the application holds them.
        var evicted: [(key: String, number: Int, cost: Int)] = []

        mutating func keep(_ key: String, _ number: Int, _ cost: Int) {
            if cost <= limits.cost && limits.count > 0 {
                kept.append((key, number, cost))
            } else {
                evicted.append((key, number, cost))
            }
            shrink(limits.cost, limits.count)
        }

        mutating func shrink(_ cost: Int, _ count: Int) {
            while kept.count > count || kept.reduce(0, { $0 + $1.cost }) > cost { evicted.append(kept.removeFirst()) }
            if !limits.findsLive { evicted = [] }
        }

        mutating func remove(_ key: String) {
            kept.removeAll { $0.key == key }
            evicted.removeAll { $0.key == key }
        }

        mutating func changeCost(_ key: String, _ cost: Int) {
            if let index = evicted.firstIndex(where: { $0.key == key }) { evicted[index].cost = cost }
            guard let index = kept.firstIndex(where: { $0.key == key }) else { return }
            let entry = kept.remove(at: index)
            keep(key, entry.number, cost)
        }

        mutating func find(_ key: String, held: Set<Int>) -> Int? {
            guard let entry = (kept + evicted.filter { held.contains($0.number) }).first(where: { $0.key == key })
            else { return nil }
            remove(key)
            keep(entry.key, entry.number, entry.cost)
            return entry.number
        }
    }

    private var random: SeededRandom
    private var store: LRUStore
    private var model = Model()
    /// The values that the application holds.
    private var held: [Int: Witness] = [:]
    private let alive = Monitor<Set<Int>>([])
    private var last = 0
    private(set) var isAgreed = true

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        model.limits.findsLive = seed % 4 != 0
        store = LRUStore(limits: model.limits)
    }

    /// - Returns: A description of the call.
    mutating func step() -> String {
        let key = "key \(Int.random(in: 0..<25, using: &random))"
        let call = Int.random(in: 0..<100, using: &random)
        switch call {
        case 0..<35: set(key)
        case 35..<40: changeCost(key)
        case 40..<75: get(key)
        case 75..<80: remove(key)
        case 80..<95: free()
        case 95..<97: changeLimits()
        case 97..<99: trim()
        default: removeAll()
        }
        check()
        return "\(call) \(key)"
    }

    private mutating func set(_ key: String) {
        last += 1
        let (number, alive) = (last, alive)
        let cost = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 60...120, using: &random) : number % 20
        alive.withLock { _ = $0.insert(number) }
        let object = Witness(number) { alive.withLock { _ = $0.remove(number) } }
        if Bool.random(using: &random) { held[number] = object }
        store.store(key, object, cost: cost)
        model.remove(key)
        model.keep(key, number, cost)
    }

    /// Changes the cost of a stored value, or of another one, which has no effect.
    private mutating func changeCost(_ key: String) {
        let cost = Int.random(in: 0...120, using: &random)
        guard let object = withKey(key, { store.peek($0) }) as? Witness else { return }
        withKey(key) { store.costChanged(of: Witness(0), for: $0) { 1 } }
        withKey(key) { store.costChanged(of: object, for: $0) { cost } }
        store.release()
        model.changeCost(key, cost)
    }

    private mutating func get(_ key: String) {
        let found = store.find(key)?.number
        agree(found == model.find(key, held: Set(held.keys)))
    }

    private mutating func remove(_ key: String) {
        _ = withKey(key) { store.remove($0) }
        model.remove(key)
    }

    private mutating func free() {
        if let number = held.keys.sorted().randomElement(using: &random) { held[number] = nil }
    }

    mutating func letGoOfAll() {
        held = [:]
        store.sweep(store.slotCount)
        store.release()
        check()
        agree(store.slotCount == store.count)
    }

    private mutating func changeLimits() {
        model.limits = MemoryLimits(
            cost: Int.random(in: 0...200, using: &random), count: Int.random(in: 0...12, using: &random),
            findsLive: model.limits.findsLive)
        store.limitsChanged(to: model.limits)
        store.release()
        model.shrink(model.limits.cost, model.limits.count)
    }

    private mutating func trim() {
        let (cost, count) = (Int.random(in: 0...100, using: &random), Int.random(in: 0...8, using: &random))
        store.trim(toCost: cost, count: count)
        store.release()
        model.shrink(cost, count)
    }

    private mutating func removeAll() {
        _ = store.removeAll()
        (model.kept, model.evicted) = ([], [])
    }

    private mutating func check() {
        agree(store.count == model.kept.count)
        agree(store.totalCost == model.kept.reduce(0) { $0 + $1.cost })
        // Exactly the values of the model are held.
        agree(alive.withLock { $0 } == Set(model.kept.map { $0.number }).union(held.keys))
        // In particular, no key has two slots.
        agree(store.slotCount >= store.count && store.slotCount <= 25)
    }

    private mutating func agree(_ isSo: Bool) { if !isSo { isAgreed = false } }
}

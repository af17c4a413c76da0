internal import Glibc

/// Gives each key, some bytes, a slot: a small number, good until the key is removed. Finding one allocates nothing.
/// Keys come from hosts and servers: Swift's `Hasher` is keyed, other in each process, so that nobody can choose keys
/// whose hashes meet. A value; the memory cache has one, under its lock.
struct KeyTable {
    private struct Slot {
        var key: [UInt8]
        var hash: Int
        /// The next slot of the same bucket, or the next that is free.
        var next: Int
    }

    private static let none = -1

    private var slots = ContiguousArray<Slot>()
    /// The first slot of each bucket; as many as a power of two.
    private var buckets = ContiguousArray(repeating: KeyTable.none, count: 16)
    private var free = KeyTable.none
    private(set) var count = 0

    func slot(of key: UnsafeRawBufferPointer) -> Int? { slot(of: key, Self.hash(key)) }

    /// The slot of a key that may have one already. A new one is one that was free, or else the number of slots so far.
    mutating func insert(_ key: UnsafeRawBufferPointer) -> (slot: Int, isNew: Bool) {
        let hash = Self.hash(key)
        if let slot = slot(of: key, hash) { return (slot, false) }
        if count == buckets.count { grow() }
        count += 1
        let bucket = hash & (buckets.count - 1)
        let new = Slot(key: Array(key), hash: hash, next: buckets[bucket])
        let slot = free == Self.none ? slots.count : free
        if slot == slots.count {
            slots.append(new)
        } else {
            free = slots[slot].next
            slots[slot] = new
        }
        buckets[bucket] = slot
        return (slot, true)
    }

    mutating func remove(_ slot: Int) {
        let bucket = slots[slot].hash & (buckets.count - 1)
        var place = buckets[bucket]
        if place == slot {
            buckets[bucket] = slots[slot].next
        } else {
            while slots[place].next != slot { place = slots[place].next }
            slots[place].next = slots[slot].next
        }
        slots[slot] = Slot(key: [], hash: 0, next: free)
        free = slot
        count -= 1
    }

    private func slot(of key: UnsafeRawBufferPointer, _ hash: Int) -> Int? {
        var slot = buckets[hash & (buckets.count - 1)]
        while slot != Self.none {
            if slots[slot].hash == hash, Self.isSame(slots[slot].key, key) { return slot }
            slot = slots[slot].next
        }
        return nil
    }

    private mutating func grow() {
        buckets = ContiguousArray(repeating: Self.none, count: buckets.count * 2)
        // All have a key: it grows only when none is free.
        for slot in slots.indices {
            let bucket = slots[slot].hash & (buckets.count - 1)
            slots[slot].next = buckets[bucket]
            buckets[bucket] = slot
        }
    }

    private static func hash(_ key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize()
    }

    private static func isSame(_ key: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        key.count == other.count
            && key.withUnsafeBytes { key in
                guard let a = key.baseAddress, let b = other.baseAddress else { return true }
                return memcmp(a, b, key.count) == 0
            }
    }
}

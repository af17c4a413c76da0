internal import Glibc

/// Maps each key, a byte string, to a slot: a small number, valid until the key is removed. A lookup allocates nothing.
/// Keys come from applications and servers; Swift's `Hasher` is seeded differently in each process, so that an attacker
/// cannot choose keys whose hashes collide. A value type; the memory cache has one, under its lock.
struct KeyTable {
    private struct Slot {
        var key: [UInt8]
        var hash: Int
        /// The next slot of the same bucket, or the next free one.
        var next: Int
    }

    private static let none = -1

    private var slots = ContiguousArray<Slot>()
    /// The first slot of each bucket. The number of buckets is a power of two.
    private var buckets = ContiguousArray(repeating: KeyTable.none, count: 16)
    private var free = KeyTable.none
    private(set) var count = 0

    func slot(of key: UnsafeRawBufferPointer) -> Int? { slot(of: key, Self.hash(key)) }

    /// Returns the slot of a key and adds one if the key has none. A new slot is a free one if there is any, or else
    /// the number of slots so far.
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
        // All slots have a key, since the table grows only when none is free.
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

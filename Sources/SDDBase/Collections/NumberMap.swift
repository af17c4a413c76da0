/// A dictionary with keys that no attacker chooses, such as ids and hashes. It avoids the keyed hash that `Dictionary`
/// needs against an adversary, which would cost more than all other work of an event. Open addressing. A value type.
public struct NumberMap<Value> {
    /// Two arrays of equal length, a power of two. A place is vacant if it has no value.
    @usableFromInline var keys: [UInt64]
    @usableFromInline var entries: [Value?]
    @usableFromInline var size = 0

    @inlinable public init() { (keys, entries) = Self.vacant(16) }

    @inlinable static func vacant(_ size: Int) -> ([UInt64], [Value?]) {
        (Array(repeating: 0, count: size), Array(repeating: nil, count: size))
    }

    @inlinable public var count: Int { size }
    @inlinable public var isEmpty: Bool { size == 0 }

    @inlinable public subscript(key: UInt64) -> Value? {
        get { entries[place(of: key)] }
        set {
            if let newValue { set(newValue, for: key) } else { remove(key) }
        }
    }

    @inlinable public var values: [Value] { entries.compactMap { $0 } }

    /// The values in the order of their keys. Keys are sorted instead of values, as moving keys costs no reference
    /// counting.
    @inlinable public var sortedValues: [Value] {
        keys.indices.filter { !isVacant($0) }.map { keys[$0] }.sorted().compactMap { self[$0] }
    }

    @inlinable mutating func set(_ value: Value, for key: UInt64) {
        if 4 * (size + 1) > 3 * entries.count { grow() }
        let place = place(of: key)
        if isVacant(place) { size += 1 }
        keys[place] = key
        entries[place] = value
    }

    @inlinable mutating func remove(_ key: UInt64) {
        var hole = place(of: key)
        guard !isVacant(hole) else { return }
        size -= 1
        entries[hole] = nil
        // Move up later entries that could be in the hole, so that no search stops too early.
        var place = next(hole)
        while !isVacant(place) {
            if distance(from: home(of: keys[place]), to: place) >= distance(from: hole, to: place) {
                keys[hole] = keys[place]
                entries.swapAt(hole, place)
                hole = place
            }
            place = next(place)
        }
    }

    @inlinable mutating func grow() {
        let (oldKeys, oldEntries) = (keys, entries)
        (keys, entries) = Self.vacant(oldEntries.count * 2)
        for case (let key, let entry?) in zip(oldKeys, oldEntries) {
            let place = place(of: key)
            keys[place] = key
            entries[place] = entry
        }
    }

    /// Returns the place of a key, or the vacant place where it would be inserted.
    @inlinable func place(of key: UInt64) -> Int {
        var place = home(of: key)
        while !isVacant(place), keys[place] != key { place = next(place) }
        return place
    }

    @inlinable func isVacant(_ place: Int) -> Bool { if case nil = entries[place] { true } else { false } }

    /// A multiplicative hash, which spreads consecutive numbers.
    @inlinable func home(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 32) & (entries.count - 1)
    }

    @inlinable func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }

    @inlinable func distance(from: Int, to: Int) -> Int { (to - from) & (entries.count - 1) }
}

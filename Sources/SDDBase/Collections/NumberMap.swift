/// A dictionary with keys that no attacker chooses, such as ids and hashes. It avoids the keyed hash that `Dictionary`
/// needs against an adversary, which would cost more than all other work of an event. Open addressing. A value type.
///
/// Values that change their place are moved, not copied: a copy would count a reference, and that reads the object's
/// memory, which is in no cache for most of 100,000 objects.
public struct NumberMap<Value> {
    @usableFromInline
    struct Slot {
        @usableFromInline var key: UInt64
        /// Nil if the slot is vacant.
        @usableFromInline var value: Value?

        @inlinable
        init(key: UInt64 = 0, value: Value? = nil) { (self.key, self.value) = (key, value) }

        @inlinable var isVacant: Bool { if case nil = value { true } else { false } }
    }

    /// A power of two of slots.
    @usableFromInline var slots = Array(repeating: Slot(), count: 16)
    @usableFromInline var size = 0

    @inlinable public init() {}

    @inlinable public var count: Int { size }
    @inlinable public var isEmpty: Bool { size == 0 }

    @inlinable public subscript(key: UInt64) -> Value? {
        get { slots.withUnsafeBufferPointer { $0[Self.place(of: key, in: $0)].value } }
        set {
            if let newValue { set(newValue, for: key) } else { remove(key) }
        }
    }

    @inlinable public var values: [Value] { slots.compactMap { $0.value } }

    /// The values in the order of their keys. Keys are sorted instead of values, as moving keys costs no reference
    /// counting.
    @inlinable public var sortedValues: [Value] {
        slots.lazy.filter { !$0.isVacant }.map { $0.key }.sorted().compactMap { self[$0] }
    }

    @inlinable mutating func set(_ value: Value, for key: UInt64) {
        if 4 * (size + 1) > 3 * slots.count { grow() }
        let isNew = slots.withUnsafeMutableBufferPointer { slots in
            let place = Self.place(of: key, in: UnsafeBufferPointer(slots))
            let isNew = slots[place].isVacant
            slots[place].key = key
            slots[place].value = value
            return isNew
        }
        if isNew { size += 1 }
    }

    @inlinable mutating func remove(_ key: UInt64) {
        let removed: Value? = slots.withUnsafeMutableBufferPointer { slots in
            var hole = Self.place(of: key, in: UnsafeBufferPointer(slots))
            guard let removed = slots[hole].value.take() else { return nil }
            // Move up later values that could be in the hole, so that no search stops too early.
            let mask = slots.count - 1
            var place = (hole + 1) & mask
            while !slots[place].isVacant {
                let home = Self.home(of: slots[place].key, mask)
                if (place - home) & mask >= (place - hole) & mask {
                    Self.move(from: &slots[place], to: &slots[hole])
                    hole = place
                }
                place = (place + 1) & mask
            }
            return removed
        }
        if removed != nil { size -= 1 }
    }

    @inlinable mutating func grow() {
        var old = Array(repeating: Slot(), count: slots.count * 2)
        swap(&old, &slots)
        old.withUnsafeMutableBufferPointer { old in
            slots.withUnsafeMutableBufferPointer { slots in
                for index in old.indices where !old[index].isVacant {
                    let place = Self.place(of: old[index].key, in: UnsafeBufferPointer(slots))
                    Self.move(from: &old[index], to: &slots[place])
                }
            }
        }
    }

    /// Moves a value into a vacant slot.
    @inlinable
    static func move(from: UnsafeMutablePointer<Slot>, to: UnsafeMutablePointer<Slot>) {
        // Safety: a vacant slot holds nothing that would have to be released.
        to.moveInitialize(from: from, count: 1)
        from.initialize(to: Slot())
    }

    /// Returns the place of a key, or the vacant place where it would be inserted.
    @inlinable
    static func place(of key: UInt64, in slots: UnsafeBufferPointer<Slot>) -> Int {
        let mask = slots.count - 1
        var place = home(of: key, mask)
        while !slots[place].isVacant, slots[place].key != key { place = (place + 1) & mask }
        return place
    }

    /// A multiplicative hash, which spreads consecutive numbers.
    @inlinable
    static func home(of key: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 32) & mask
    }
}

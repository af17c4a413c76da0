/// A dictionary from numbers that nobody outside chooses, such as ids and hashes: without the keyed hash that
/// `Dictionary` needs against an adversary, which costs more than all the rest of an event. Open addressing. A value;
/// no thread of its own.
struct NumberMap<Value> {
    private struct Entry {
        var key: UInt64
        var value: Value
    }

    private var entries: [Entry?]
    private(set) var count = 0

    init() { entries = Array(repeating: nil, count: 16) }

    var isEmpty: Bool { count == 0 }

    subscript(key: UInt64) -> Value? {
        get {
            var place = home(of: key)
            while let entry = entries[place] {
                if entry.key == key { return entry.value }
                place = next(place)
            }
            return nil
        }
        set {
            if let newValue { set(newValue, for: key) } else { remove(key) }
        }
    }

    var values: [Value] { entries.compactMap { $0?.value } }

    private mutating func set(_ value: Value, for key: UInt64) {
        if 4 * (count + 1) > 3 * entries.count { grow() }
        var place = home(of: key)
        while let entry = entries[place], entry.key != key { place = next(place) }
        if entries[place] == nil { count += 1 }
        entries[place] = Entry(key: key, value: value)
    }

    private mutating func remove(_ key: UInt64) {
        var hole = home(of: key)
        while let entry = entries[hole], entry.key != key { hole = next(hole) }
        guard entries[hole] != nil else { return }
        count -= 1
        entries[hole] = nil
        // What stands behind and could have stood in the hole moves up, so that no search stops too early.
        var place = next(hole)
        while let entry = entries[place] {
            if distance(from: home(of: entry.key), to: place) >= distance(from: hole, to: place) {
                entries[hole] = entry
                entries[place] = nil
                hole = place
            }
            place = next(place)
        }
    }

    private mutating func grow() {
        let old = entries
        entries = Array(repeating: nil, count: old.count * 2)
        count = 0
        for case let entry? in old { set(entry.value, for: entry.key) }
    }

    /// Multiplicative: spreads numbers that follow one another.
    private func home(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 32) & (entries.count - 1)
    }

    private func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }

    private func distance(from: Int, to: Int) -> Int { (to - from) & (entries.count - 1) }
}

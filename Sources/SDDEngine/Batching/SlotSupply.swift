/// The slots of a tensor that are handed out and come back, the lowest of the new ones and the latest of the old ones
/// first. A value. It grows with the slots that were in use, and not with those there are.
struct SlotSupply {
    private let count: Int
    /// Those from here on were never taken.
    private var firstNew = 0
    private var returned: [Int] = []
    private var taken: Set<Int> = []

    init(count: Int = 0) { self.count = count }

    var hasFree: Bool { !returned.isEmpty || firstNew < count }

    mutating func take() -> Int? {
        guard hasFree else { return nil }
        let slot = returned.popLast() ?? firstNew
        if slot == firstNew { firstNew += 1 }
        taken.insert(slot)
        return slot
    }

    /// - Returns: false for one that is not taken.
    mutating func release(_ slot: Int) -> Bool {
        guard taken.remove(slot) != nil else { return false }
        returned.append(slot)
        return true
    }
}

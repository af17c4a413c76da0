/// The slots of a tensor that are handed out and returned. Returned slots are reused first, the latest first; then new
/// ones follow from the lowest. A value type. Its size grows with the slots that were used, not with the slots that
/// exist.
struct SlotSupply {
    private let count: Int
    /// Slots from here on were never taken.
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

    /// Returns a slot to the supply.
    /// - Returns: false if the slot is not taken.
    mutating func release(_ slot: Int) -> Bool {
        guard taken.remove(slot) != nil else { return false }
        returned.append(slot)
        return true
    }
}

import SDDBase

/// Decides for one batch which item may begin, which may be taken, and into which slot it goes. A state machine without
/// threads or clock, as a value type: `Batch` keeps it under its lock and carries out its decisions. `Outcome` is the
/// result of a request.
struct BatchTable<Outcome> {
    struct Rules {
        /// Most items that are under way or wait to be taken; at least 1.
        var lookAhead = 64
        /// Items are taken in the order in which they were given.
        var isOrdered = false
        var slots = Slots.none
        /// The number of items; `nil` if the input reports when there are no more.
        var count: Int?
    }

    enum Slots: Equatable {
        case none
        /// Item i has slot i; the value is the number of slots.
        case ofIndex(Int)
        /// An item that succeeded gets a slot when it is taken, and keeps it until the slot is released.
        case next(Int)
    }

    /// The reasons why a batch ends early.
    enum Stop { case cancelled, deadline }

    enum End {
        case succeeded(Outcome)
        case failed(Outcome)
        case stopped(Stop)

        var needsSlot: Bool { if case .succeeded = self { true } else { false } }
    }

    struct Taken {
        let index: Int
        let id: UInt64
        let host: String
        let slot: Int?
        let end: End
    }

    private enum Phase {
        /// Its request has no token yet.
        case beginning
        case underWay(UInt64)
        case ended(End)
    }

    private struct Ended {
        let index: Int
        /// Its position in the order in which items ended.
        let order: Int
    }

    private struct Item {
        let id: UInt64
        let host: String
        var phase = Phase.beginning
    }

    private let rules: Rules
    /// Items that were given and not yet taken, by index.
    private var items: [Int: Item] = [:]
    /// The number of `items` that have ended.
    private var endedCount = 0
    /// Ended items in the order in which they ended: those that need a slot, and the others. Unused if items are taken
    /// in order.
    private var endedForSlots = LinkedList<Ended>()
    private var endedWithoutSlot = LinkedList<Ended>()
    private var lastEnd = 0
    private var givenCount = 0
    /// Index of the first item not taken; used only if items are taken in order.
    private var nextTaken = 0
    private var slots = SlotSupply()
    private var isExhausted = false
    private(set) var isAsking = false
    private(set) var stop: Stop?

    init(rules: Rules) {
        self.rules = rules
        if case .next(let count) = rules.slots { slots = SlotSupply(count: count) }
        updateExhausted()
    }
}

// MARK: - Adding items

extension BatchTable {
    /// Whether one more item may be asked for.
    private var hasRoom: Bool { !isExhausted && items.count < rules.lookAhead }

    /// Returns true if the caller should ask for an item: there is room, and no other thread is asking. The caller then
    /// reports with `given` or `exhausted`, and calls `goesOnAsking`.
    mutating func beginsAsking() -> Bool {
        guard !isAsking, hasRoom else { return false }
        isAsking = true
        return true
    }

    mutating func goesOnAsking() -> Bool {
        isAsking = hasRoom
        return isAsking
    }

    /// Adds an item.
    /// - Returns: its index, and whether its request is to be made; otherwise the item has ended already.
    mutating func given(id: UInt64, host: String = "") -> (index: Int, begins: Bool) {
        let index = givenCount
        givenCount += 1
        items[index] = Item(id: id, host: host)
        updateExhausted()
        if let stop { end(index, .stopped(stop)) }
        return (index, stop == nil)
    }

    /// Records that the input has no more items.
    mutating func exhausted() {
        isExhausted = true
        isAsking = false
    }

    private mutating func updateExhausted() {
        if let count = rules.count, givenCount >= count { isExhausted = true }
        if case .ofIndex(let count) = rules.slots, givenCount >= count { isExhausted = true }
    }
}

// MARK: - Events of items

extension BatchTable {
    /// Records that the request of an item was made.
    /// - Returns: whether it is to be cancelled at once.
    mutating func began(_ index: Int, token: UInt64) -> Bool {
        guard case .beginning? = items[index]?.phase else { return false }
        items[index]?.phase = .underWay(token)
        return stop != nil
    }

    /// Records the end of an item's request, which may come before `began`.
    /// - Parameter wasCancelled: the request was cancelled and has no outcome of its own.
    mutating func ended(_ index: Int, _ outcome: Outcome, succeeded: Bool, wasCancelled: Bool) {
        switch items[index]?.phase {
        case .beginning, .underWay: break
        case .ended, nil: return
        }
        if let stop, wasCancelled {
            end(index, .stopped(stop))
        } else {
            end(index, succeeded ? .succeeded(outcome) : .failed(outcome))
        }
    }

    private mutating func end(_ index: Int, _ end: End) {
        items[index]?.phase = .ended(end)
        endedCount += 1
        if rules.isOrdered { return }
        lastEnd += 1
        let ended = Ended(index: index, order: lastEnd)
        if needsSlot(end) { endedForSlots.append(ended) } else { endedWithoutSlot.append(ended) }
    }

    private func needsSlot(_ end: End) -> Bool {
        if case .next = rules.slots { end.needsSlot } else { false }
    }

    /// Stops the batch: no more requests begin. Items that a list still has end as soon as they are given; an input
    /// without a count is not asked any more. Only the first reason counts.
    /// - Returns: the requests to be cancelled.
    mutating func stopped(_ reason: Stop) -> [UInt64] {
        guard stop == nil else { return [] }
        stop = reason
        if rules.count == nil { isExhausted = true }
        return items.values.compactMap { if case .underWay(let token) = $0.phase { token } else { nil } }
    }

    /// Lets a slot be filled again.
    /// - Returns: false if the slot is not taken.
    mutating func released(_ slot: Int) -> Bool { slots.release(slot) }
}

// MARK: - Taking items

extension BatchTable {
    /// True if some item can be taken.
    var isTakeable: Bool {
        if rules.isOrdered { return canTake(nextTaken) }
        return !endedWithoutSlot.isEmpty || (slots.hasFree && !endedForSlots.isEmpty)
    }

    /// True if all items have been taken.
    var isOver: Bool { isExhausted && !isAsking && items.isEmpty }

    /// The number of items whose requests have not ended.
    var underWayCount: Int { items.count - endedCount }

    private func canTake(_ index: Int) -> Bool {
        guard case .ended(let end)? = items[index]?.phase else { return false }
        return !needsSlot(end) || slots.hasFree
    }

    /// Takes at most `most` of the items that can be taken.
    mutating func take(most: Int) -> [Taken] { rules.isOrdered ? takeInOrder(most) : takeAsEnded(most) }

    private mutating func takeInOrder(_ most: Int) -> [Taken] {
        var taken: [Taken] = []
        while taken.count < most, let item = take(nextTaken) {
            taken.append(item)
            nextTaken += 1
        }
        return taken
    }

    private mutating func takeAsEnded(_ most: Int) -> [Taken] {
        var taken: [Taken] = []
        while taken.count < most, let next = nextEnded(), let item = take(next.index) { taken.append(item) }
        return taken
    }

    /// Returns the first to have ended of the items that can be taken, without scanning those that wait for a slot.
    private mutating func nextEnded() -> Ended? {
        guard slots.hasFree, let forSlot = endedForSlots.first else { return endedWithoutSlot.popFirst() }
        if let other = endedWithoutSlot.first, other.order < forSlot.order { return endedWithoutSlot.popFirst() }
        return endedForSlots.popFirst()
    }

    private mutating func take(_ index: Int) -> Taken? {
        guard canTake(index), let item = items[index], case .ended(let end) = item.phase else { return nil }
        items[index] = nil
        endedCount -= 1
        return Taken(index: index, id: item.id, host: item.host, slot: slot(for: index, end), end: end)
    }

    private mutating func slot(for index: Int, _ end: End) -> Int? {
        switch rules.slots {
        case .none: nil
        case .ofIndex: index
        case .next: end.needsSlot ? slots.take() : nil
        }
    }
}

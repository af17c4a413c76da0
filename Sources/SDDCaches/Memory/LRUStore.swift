/// What a memory cache keeps: objects by key, the last used ones strongly, as far as the limits go. What was evicted
/// stays to be found, weakly, as long as somebody else holds it. A value without lock or clock; `object(for:)` allocates
/// nothing.
///
/// No object is released in here, where a lock is held, since that may free all its pixels: what is not kept is given
/// back, or waits for `takeEvicted()`.
struct LRUStore {
    typealias Object = AnyObject & Sendable

    private struct Item {
        var cost = 0
        var state = State.free
        /// nil if and only if it is live or free.
        var object: (any Object)?
        /// Set when it is stored: a weak reference to an object costs it an allocation, which finding it must not.
        weak var live: (any Object)?
    }

    /// The raw values are rings, but for the last.
    private enum State: Int {
        /// Held strongly, in the order of use.
        case kept
        /// Still held, until `takeEvicted`.
        case evicted
        /// Held weakly, in the order in which they were last looked at.
        case live
        case free
    }

    private var keys = KeyTable()
    private var rings = SlotRings(count: State.free.rawValue)
    private var items = ContiguousArray<Item>()

    private(set) var limits: MemoryLimits
    /// Of what is kept.
    private(set) var totalCost = 0
    private(set) var count = 0
    private(set) var evictions: UInt64 = 0

    init(limits: MemoryLimits) { self.limits = limits }

    /// Whether there is something for `takeEvicted`.
    var hasEvicted: Bool { rings.first(of: State.evicted.rawValue) != nil }

    /// Of all states: what the table takes memory for.
    var slotCount: Int { keys.count }
}

// MARK: - In and out

extension LRUStore {
    /// The object becomes the last used one.
    mutating func object(for key: UnsafeRawBufferPointer) -> (any Object)? {
        guard let slot = keys.slot(of: key) else { return nil }
        switch items[slot].state {
        case .kept:
            rings.move(slot, to: State.kept.rawValue)
            return items[slot].object
        case .evicted:
            let object = items[slot].object
            keep(slot)
            return object
        case .live:
            guard let object = items[slot].live else {
                forget(slot)
                return nil
            }
            sweep(2)
            // The sweep has looked at it, perhaps, and holds it already.
            items[slot].object = object
            keep(slot)
            return object
        case .free: return nil
        }
    }

    /// The same without being used.
    func peek(_ key: UnsafeRawBufferPointer) -> (any Object)? {
        guard let slot = keys.slot(of: key) else { return nil }
        return items[slot].object ?? items[slot].live
    }

    /// - Parameter cost: what it takes of the limit, in bytes. Over all of that, it is at most found while it lives.
    /// - Returns: what was there under the key, for the caller to release.
    mutating func set(_ object: any Object, cost: Int, for key: UnsafeRawBufferPointer) -> (any Object)? {
        sweep(2)
        let (slot, isNew) = keys.insert(key)
        if isNew && slot == items.count { items.append(Item()) }
        let old = items[slot].object
        leave(slot)
        items[slot].cost = max(cost, 0)
        items[slot].object = object
        items[slot].live = limits.findsLive ? object : nil
        keep(slot)
        return old
    }

    /// What an object takes has changed, since it has been used. If it is not what is there under the key, nothing happens.
    /// Others make room; over all of the limit, it is evicted itself.
    mutating func costChanged(of object: AnyObject, for key: UnsafeRawBufferPointer, to cost: () -> Int) {
        guard let slot = keys.slot(of: key), items[slot].state != .free else { return }
        if let held = items[slot].object {
            guard held === object else { return }
        } else {
            guard items[slot].live === object else { return }
        }
        let cost = max(cost(), 0)
        guard items[slot].state == .kept else { return items[slot].cost = cost }
        leave(slot)
        items[slot].cost = cost
        keep(slot)
    }

    /// - Returns: what was there, for the caller to release.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> (any Object)? {
        guard let slot = keys.slot(of: key) else { return nil }
        let old = items[slot].object ?? items[slot].live
        forget(slot)
        return old
    }

    /// Also what is only live.
    /// - Returns: all of it, for the caller to release.
    mutating func removeAll() -> LRUStore {
        let old = self
        self = LRUStore(limits: limits)
        evictions = old.evictions
        return old
    }
}

// MARK: - Limits

extension LRUStore {
    mutating func limitsChanged(to limits: MemoryLimits) {
        self.limits = limits
        if !limits.findsLive {
            while let slot = rings.first(of: State.live.rawValue) { forget(slot) }
        }
        trim(toCost: limits.cost, count: limits.count)
    }

    /// The least recently used ones go, until neither is more.
    mutating func trim(toCost cost: Int, count: Int) {
        while self.count > 0 && (totalCost > cost || self.count > count) { evictOldest() }
    }

    /// One of the objects that have been evicted, for the caller to release: to be asked until there is none.
    mutating func takeEvicted() -> (any Object)? {
        guard let slot = rings.first(of: State.evicted.rawValue) else { return nil }
        let object = items[slot].object
        if limits.findsLive && items[slot].live != nil {
            // `object` holds it: asking whether it lives releases nothing.
            items[slot].object = nil
            enter(slot, .live)
        } else {
            forget(slot)
        }
        return object
    }

    /// Looks at some of those that are live, those first that it has not looked at for longest, and forgets the dead.
    /// Two for each that is stored, or found again, are enough, for no more than one is evicted for each.
    mutating func sweep(_ count: Int) {
        for _ in 0..<count {
            guard let slot = rings.first(of: State.live.rawValue) else { return }
            if let object = items[slot].live {
                // By now this may be the last reference.
                items[slot].object = object
                enter(slot, .evicted)
            } else {
                forget(slot)
            }
        }
    }

    private mutating func evictOldest() {
        guard let slot = rings.first(of: State.kept.rawValue) else { return }
        evictions &+= 1
        enter(slot, .evicted)
    }
}

// MARK: - States

extension LRUStore {
    /// With what is in the slot; others make room. What is over the limit itself is evicted at once.
    private mutating func keep(_ slot: Int) {
        let cost = items[slot].cost
        guard cost <= limits.cost, limits.count > 0 else { return enter(slot, .evicted) }
        leave(slot)
        // So the sum is never more than the limit, nor than an Int.
        trim(toCost: limits.cost - cost, count: limits.count - 1)
        enter(slot, .kept)
    }

    private mutating func enter(_ slot: Int, _ state: State) {
        leave(slot)
        items[slot].state = state
        rings.append(slot, to: state.rawValue)
        guard state == .kept else { return }
        totalCost += items[slot].cost
        count += 1
    }

    private mutating func leave(_ slot: Int) {
        let state = items[slot].state
        guard state != .free else { return }
        rings.remove(slot)
        items[slot].state = .free
        guard state == .kept else { return }
        totalCost -= items[slot].cost
        count -= 1
    }

    /// Whoever calls has a reference to the object, if it is held here.
    private mutating func forget(_ slot: Int) {
        leave(slot)
        items[slot] = Item()
        keys.remove(slot)
    }
}

/// The contents of a memory cache: objects by key. The most recently used ones are held strongly within the limits. An
/// evicted object can still be found, through a weak reference, as long as something else holds it. A value type
/// without lock or clock; `object(for:)` allocates nothing.
///
/// No object is released in here, since a lock is held and a release may free all pixels of an image: objects that are
/// dropped are returned to the caller or wait for `takeEvicted()`.
struct LRUStore {
    typealias Object = AnyObject & Sendable

    private struct Item {
        var cost = 0
        var state = State.free
        /// nil if and only if the item is live or free.
        var object: (any Object)?
        /// Set when the object is stored: the first weak reference to an object allocates memory, which a lookup must
        /// not do.
        weak var live: (any Object)?
    }

    /// The raw values are indexes of rings, except for the last.
    private enum State: Int {
        /// Held strongly, in order of use.
        case kept
        /// Still held strongly, until `takeEvicted`.
        case evicted
        /// Held weakly, in the order in which the items were last checked.
        case live
        case free
    }

    private var keys = KeyTable()
    private var rings = SlotRings(count: State.free.rawValue)
    private var items = ContiguousArray<Item>()

    private(set) var limits: MemoryLimits
    /// The cost of all kept objects.
    private(set) var totalCost = 0
    private(set) var count = 0
    private(set) var evictions: UInt64 = 0

    init(limits: MemoryLimits) { self.limits = limits }

    /// Whether `takeEvicted` has an object to return.
    var hasEvicted: Bool { rings.first(of: State.evicted.rawValue) != nil }

    /// The number of slots in use, whatever their state; the table's memory depends on it.
    var slotCount: Int { keys.count }
}

// MARK: - Objects

extension LRUStore {
    /// Returns the object for a key and makes it the most recently used one.
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
            // The sweep may have checked this item and already holds its object strongly.
            items[slot].object = object
            keep(slot)
            return object
        case .free: return nil
        }
    }

    /// Returns the object for a key without counting as a use.
    func peek(_ key: UnsafeRawBufferPointer) -> (any Object)? {
        guard let slot = keys.slot(of: key) else { return nil }
        return items[slot].object ?? items[slot].live
    }

    /// - Parameter cost: the object's cost in bytes. An object that costs more than the whole limit can only be found
    ///   while something else holds it.
    /// - Returns: the object that was stored under the key, for the caller to release.
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

    /// Updates the cost of an object, which has changed during its use. Does nothing if another object is stored under
    /// the key. Other objects are evicted to make room; an object over the whole limit is evicted itself.
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

    /// - Returns: the removed object, for the caller to release.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> (any Object)? {
        guard let slot = keys.slot(of: key) else { return nil }
        let old = items[slot].object ?? items[slot].live
        forget(slot)
        return old
    }

    /// Removes all objects, including the ones held only weakly.
    /// - Returns: the previous contents, for the caller to release.
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

    /// Evicts the least recently used objects until neither limit is exceeded.
    mutating func trim(toCost cost: Int, count: Int) {
        while self.count > 0 && (totalCost > cost || self.count > count) { evictOldest() }
    }

    /// Returns one of the evicted objects, for the caller to release. Call it until it returns nil.
    mutating func takeEvicted() -> (any Object)? {
        guard let slot = rings.first(of: State.evicted.rawValue) else { return nil }
        let object = items[slot].object
        if limits.findsLive && items[slot].live != nil {
            // `object` holds the object, so reading the weak reference releases nothing.
            items[slot].object = nil
            enter(slot, .live)
        } else {
            forget(slot)
        }
        return object
    }

    /// Checks some of the live items, beginning with the ones not checked for longest, and forgets the dead ones.
    /// Checking two for each object that is stored or found again is enough, since on average each of these evicts no
    /// more than one.
    mutating func sweep(_ count: Int) {
        for _ in 0..<count {
            guard let slot = rings.first(of: State.live.rawValue) else { return }
            if let object = items[slot].live {
                // This may be the last reference by now.
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
    /// Keeps the object in the slot and evicts others to make room. An object over the whole limit is evicted at once.
    private mutating func keep(_ slot: Int) {
        let cost = items[slot].cost
        guard cost <= limits.cost, limits.count > 0 else { return enter(slot, .evicted) }
        leave(slot)
        // The sum therefore exceeds neither the limit nor the range of Int.
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

    /// Frees the slot. If the slot holds an object strongly, the caller must have a reference to it.
    private mutating func forget(_ slot: Int) {
        leave(slot)
        items[slot] = Item()
        keys.remove(slot)
    }
}

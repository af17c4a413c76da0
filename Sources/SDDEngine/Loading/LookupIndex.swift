import SDDBase
import SDDCaches

/// The loads that wait for a cache lookup, so that an entry is read once for all loads that ask for the same. A value,
/// part of the `LoadTable`.
struct LookupIndex {
    /// The first load of each group, by the hash key of its lookup. Groups with the same hash key form a chain,
    /// `Load.nextGroup`.
    private var groups = NumberMap<Load>()

    var isEmpty: Bool { groups.isEmpty }

    /// Adds a load to those that make the same lookup.
    /// - Returns: the load that has started the same lookup; `load` itself if there is none, so that the lookup must be
    ///   started.
    mutating func join(_ load: Load, _ lookup: ImageCacheLookup) -> Load {
        load.isInLookup = true
        if let first = first(of: lookup) {
            first.companions.append(load)
            first.waitingCount += 1
            return first
        }
        (load.wish, load.waitingCount) = (DiskRead(priority: load.priority), 1)
        load.nextGroup = groups[lookup.hashKey]
        groups[lookup.hashKey] = load
        return load
    }

    /// Returns the load that has started a lookup; `nil` if none has.
    func first(of lookup: ImageCacheLookup) -> Load? {
        var group = groups[lookup.hashKey]
        while let first = group, first.plan.lookup?.isSame(as: lookup) != true { group = first.nextGroup }
        return group
    }

    /// Takes out a load that has ended. The lookup of a group in which no load waits any more is withdrawn.
    /// - Returns: the loads of such a group, to be released without the lock.
    mutating func leave(_ load: Load) -> [Load] {
        guard load.isInLookup, let lookup = load.plan.lookup, let first = first(of: lookup) else { return [] }
        load.isInLookup = false
        first.waitingCount -= 1
        guard first.waitingCount == 0, let started = first.plan.lookup else { return [] }
        first.wish?.withdraw()
        return remove(started)
    }

    /// Removes and returns the loads that have waited for this lookup, in the order in which they joined.
    mutating func remove(_ lookup: ImageCacheLookup) -> [Load] {
        var before: Load?
        var group = groups[lookup.hashKey]
        while let first = group, first.plan.lookup !== lookup { (before, group) = (first, first.nextGroup) }
        guard let first = group else { return [] }
        if let before { before.nextGroup = first.nextGroup } else { groups[lookup.hashKey] = first.nextGroup }
        defer { (first.nextGroup, first.companions) = (nil, []) }
        let loads = [first] + first.companions
        for load in loads { load.isInLookup = false }
        return loads
    }
}

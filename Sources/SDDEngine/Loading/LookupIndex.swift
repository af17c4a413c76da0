import SDDBase

/// The loads that wait for a cache lookup, so that an entry is read once for all loads that ask for the same. A value,
/// part of the `LoadTable`.
struct LookupIndex {
    /// The first load of each group, by the hash key of its lookup. Groups with the same hash key form a chain,
    /// `Load.nextGroup`.
    private var groups = NumberMap<Load>()

    var isEmpty: Bool { groups.isEmpty }

    /// Adds a load to those that make the same lookup.
    /// - Returns: true if there is none, so that the lookup must be started.
    mutating func join(_ load: Load, _ lookup: ImageCacheLookup) -> Bool {
        var group = groups[lookup.hashKey]
        while let first = group {
            if first.plan.lookup?.isSame(as: lookup) == true {
                first.companions.append(load)
                return false
            }
            group = first.nextGroup
        }
        load.nextGroup = groups[lookup.hashKey]
        groups[lookup.hashKey] = load
        return true
    }

    /// Removes and returns the loads that have waited for this lookup, in the order in which they joined.
    mutating func remove(_ lookup: ImageCacheLookup) -> [Load] {
        var before: Load?
        var group = groups[lookup.hashKey]
        while let first = group, first.plan.lookup !== lookup { (before, group) = (first, first.nextGroup) }
        guard let first = group else { return [] }
        if let before { before.nextGroup = first.nextGroup } else { groups[lookup.hashKey] = first.nextGroup }
        defer { (first.nextGroup, first.companions) = (nil, []) }
        return [first] + first.companions
    }
}

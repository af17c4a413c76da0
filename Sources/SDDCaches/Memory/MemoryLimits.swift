import SDDBase

/// The limits of the memory cache. A value type.
package struct MemoryLimits: Equatable, Sendable {
    /// The total cost of the strongly held objects in bytes; 0 keeps nothing.
    package var cost = Int.max
    package var count = Int.max
    /// True if an evicted object can still be found as long as the application holds it.
    package var findsLive = true

    /// The default cost when the application sets no limit: an eighth of the available memory, since the process
    /// belongs to the application and the cache is only a guest. At least 16 MiB, below which two screen-sized images
    /// evict each other; at most 512 MiB, since many programs on a large machine assume that they are alone.
    package static func defaultCost(ofMemory bytes: Int) -> Int {
        min(max(bytes / 8, 16 << 20), 512 << 20)
    }

    /// Limits with the default cost for this machine, or for the part of it that the process may use.
    package static var standard: MemoryLimits { MemoryLimits(cost: defaultCost(ofMemory: MachineMemory.limit)) }
}

import SDDBase

/// How much the memory cache keeps. A value.
package struct MemoryLimits: Equatable, Sendable {
    /// In bytes, of what it holds strongly together; 0: nothing.
    package var cost: Int
    package var count: Int
    /// What was evicted is found again as long as the host holds it.
    package var findsLive: Bool

    package init(cost: Int = .max, count: Int = .max, findsLive: Bool = true) {
        self.cost = cost
        self.count = count
        self.findsLive = findsLive
    }

    /// Where the host has not said how much: an eighth of the memory there is, for the process is the host's and a cache
    /// a guest in it. At least 16 MiB, below which two pictures of a screen's size drive each other out; at most 512 MiB,
    /// since on a large machine many programs think they are alone.
    package static func defaultCost(ofMemory bytes: Int) -> Int {
        min(max(bytes / 8, 16 << 20), 512 << 20)
    }

    /// With the default cost for this machine, or for the part of it that the process may use.
    package static var standard: MemoryLimits { MemoryLimits(cost: defaultCost(ofMemory: MachineMemory.limit)) }
}

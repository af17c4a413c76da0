/// The amount of memory that the application or the system asks the caches to free.
package enum MemoryPressure: Int32, Sendable {
    /// Frees half of what a cache holds.
    case moderate = 1
    /// Frees everything that is not in use outside the cache.
    case critical = 2
}

/// How much memory is wanted back, by the host or by the machine.
package enum MemoryPressure: Int32, Sendable {
    /// Half of what a cache holds.
    case moderate = 1
    /// All that nobody else holds.
    case critical = 2
}

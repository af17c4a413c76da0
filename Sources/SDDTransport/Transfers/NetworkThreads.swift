/// A set of a transport's network threads. A thread is the set of itself.
package struct NetworkThreads: OptionSet, Sendable {
    package let rawValue: UInt32

    /// Also makes empty sets: `[]` calls a generic initializer, which takes 250 instructions.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Most threads of one transport.
    package static let most: Int32 = 16

    /// The thread that also watches the clocks, and calls the transports of the application.
    package static let first = NetworkThreads(rawValue: 1)

    package init(number: Int) { rawValue = 1 << number }

    /// The number of a single thread.
    package var number: Int { rawValue.trailingZeroBitCount }
}

/// A set of a transport's network threads. A thread is the set of itself.
package struct NetworkThreads: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Most threads of one transport.
    package static let most: Int32 = 16

    /// The thread that also watches the clocks, and calls the transports of the application.
    package static let first = NetworkThreads(number: 0)

    package init(number: Int) { rawValue = 1 << number }

    /// The number of a single thread.
    package var number: Int { rawValue.trailingZeroBitCount }
}

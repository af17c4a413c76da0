import Synchronization

/// How many forks this process is away from the one that loaded the library. What belongs to another generation
/// is dead: its locks may be held by threads that do not exist here. Any thread.
package enum ForkGeneration {
    private static let count = Atomic<UInt>(0)

    package static var current: UInt { count.load(ordering: .relaxed) }

    /// Called in the child of a fork, before anything else.
    package static func childBegins() { count.add(1, ordering: .relaxed) }
}

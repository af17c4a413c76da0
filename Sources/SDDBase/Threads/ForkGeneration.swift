import Synchronization

/// The number of forks between this process and the one that loaded the library. Objects of another generation are
/// unusable: their locks may be held by threads that do not exist in this process. Callable from any thread.
package enum ForkGeneration {
    private static let count = Atomic<UInt>(0)

    package static var current: UInt { count.load(ordering: .relaxed) }

    /// Counts a fork. The child calls it before anything else.
    package static func childBegins() { count.add(1, ordering: .relaxed) }
}

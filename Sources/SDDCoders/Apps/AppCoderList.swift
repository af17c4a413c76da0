internal import SDDBase
internal import Synchronization

/// The application's coders for the process or for one downloader. It may change while decode threads use a coder from
/// it: each thread holds a reference, and the last reference frees the coder. Callable from any thread.
package final class AppCoderList: Sendable {
    /// The coders that every downloader uses.
    package static let process = AppCoderList()

    private let coders = Monitor<[any AppCoder]>([])
    private let changeCount = Atomic<UInt64>(0)

    package init() {}

    package var newestFirst: [any AppCoder] { coders.withLock { $0 } }

    /// Number of changes so far. Cheap to read.
    package var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    private func changed() { _ = changeCount.add(1, ordering: .releasing) }

    package func add(_ coder: any AppCoder) {
        coders.withLock { $0.insert(coder, at: 0) }
        changed()
    }

    /// Removes the most recently added coder of that name.
    /// - Returns: false if there is none.
    package func remove(named name: String) -> Bool {
        // Released without the lock, since the application's code runs when the coder is freed.
        let removed = coders.withLock { coders in
            coders.firstIndex { $0.name == name }.map { coders.remove(at: $0) }
        }
        changed()
        return removed != nil
    }

    package func removeAll() {
        let removed = coders.withLock { coders in
            defer { coders = [] }
            return coders
        }
        changed()
        withExtendedLifetime(removed) {}
    }

    // The three steps of a fork: parent and child share the list.
    package func lockForFork() { coders.lockForFork() }
    package func unlockInParent() { coders.unlockInParent() }
    package func resetInChild() { coders.resetInChild() }
}

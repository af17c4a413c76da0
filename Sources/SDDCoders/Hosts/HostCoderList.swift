internal import SDDBase
internal import Synchronization

/// Coders of the host's, of the process or of one downloader. May change while decode threads use what was in it: who
/// has a coder from here holds a reference, and the last one ends it. Any thread.
package final class HostCoderList: Sendable {
    /// Asked by every downloader.
    package static let process = HostCoderList()

    private let coders = Monitor<[any HostCoder]>([])
    private let changeCount = Atomic<UInt64>(0)

    package init() {}

    package var newestFirst: [any HostCoder] { coders.withLock { $0 } }

    /// How often it has changed. Cheap.
    package var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    private func changed() { _ = changeCount.add(1, ordering: .releasing) }

    package func add(_ coder: any HostCoder) {
        coders.withLock { $0.insert(coder, at: 0) }
        changed()
    }

    /// The newest of that name.
    /// - Returns: false when there is none.
    package func remove(named name: String) -> Bool {
        // Let go of without the lock: what ends it is the host's.
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

internal import SDDBase

/// Coders of the host's, of the process or of one downloader. May change while decode threads use what was in it: who
/// has a coder from here holds a reference, and the last one ends it. Any thread.
package final class HostCoderList: Sendable {
    /// Asked by every downloader.
    package static let process = HostCoderList()

    private let coders = Monitor<[any HostCoder]>([])

    package init() {}

    package var newestFirst: [any HostCoder] { coders.withLock { $0 } }

    package func add(_ coder: any HostCoder) { coders.withLock { $0.insert(coder, at: 0) } }

    /// The newest of that name.
    /// - Returns: false when there is none.
    package func remove(named name: String) -> Bool {
        // Let go of without the lock: what ends it is the host's.
        let removed = coders.withLock { coders in
            coders.firstIndex { $0.name == name }.map { coders.remove(at: $0) }
        }
        return removed != nil
    }

    package func removeAll() {
        let removed = coders.withLock { coders in
            defer { coders = [] }
            return coders
        }
        withExtendedLifetime(removed) {}
    }

    // The three steps of a fork: parent and child share the list.
    package func lockForFork() { coders.lockForFork() }
    package func unlockInParent() { coders.unlockInParent() }
    package func resetInChild() { coders.resetInChild() }
}

internal import Synchronization

/// Counts the living objects of one kind in the process and the bytes they hold, so that applications can find leaks.
/// Thread-safe.
package final class Living: Sendable {
    package static let images = Living()
    package static let pixels = Living()
    package static let bytes = Living()

    private let objects = Atomic<Int64>(0)
    private let held = Atomic<Int64>(0)

    package func begin(holding bytes: Int = 0) { change(1, bytes) }
    package func end(holding bytes: Int = 0) { change(-1, -bytes) }

    private func change(_ count: Int64, _ bytes: Int) {
        objects.add(count, ordering: .relaxed)
        if bytes != 0 { held.add(Int64(bytes), ordering: .relaxed) }
    }

    package var count: Int64 { objects.load(ordering: .relaxed) }
    package var heldBytes: Int64 { held.load(ordering: .relaxed) }
}

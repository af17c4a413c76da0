import SDDBase

/// The names of entries that this process has stored or removed since a count of all entries began: it is unknown what
/// the count has seen of them. Thread-safe.
final class TouchedNames: Sendable {
    private let names = Monitor<Set<String>>([])

    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }

    /// Returns all names and forgets them.
    func take() -> Set<String> {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}

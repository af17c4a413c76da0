import SDDBase

/// The names of entries that this process has stored or removed since somebody began to count them all: what the count
/// has seen of those is not known. Any thread.
final class TouchedNames: Sendable {
    private let names = Monitor<Set<String>>([])

    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }

    /// All of them, once.
    func take() -> Set<String> {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}

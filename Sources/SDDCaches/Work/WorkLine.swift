/// Pieces of work in the order in which they came. What is taken out is not kept here any longer, so that it goes where
/// its taker lets it go. A value, part of `DiskQueue`.
struct WorkLine<Element> {
    private var elements: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }
    var count: Int { elements.count - start }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard start < elements.count else { return nil }
        defer { compact() }
        start += 1
        return elements[start - 1].take()
    }

    mutating func takeAll() -> [Element] {
        defer { self = WorkLine() }
        return elements.compactMap { $0 }
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements.removeFirst(start)
        start = 0
        elements.removeAll { $0.map(isUnwanted) ?? true }
    }

    /// Forgets the places that are empty, now and then.
    private mutating func compact() {
        guard start == elements.count || (start >= 64 && start * 2 >= elements.count) else { return }
        elements.removeFirst(start)
        start = 0
    }
}

/// Pieces of work in the order in which they came. What is taken out is not kept here any longer, so that it goes where
/// its taker lets it go. A value, part of `DiskQueue`.
struct WorkLine<Element> {
    private var elements: [Element?] = []
    private var first = 0

    var isEmpty: Bool { first == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        defer { compact() }
        first += 1
        return elements[first - 1].take()
    }

    /// Forgets the places that are empty, now and then.
    private mutating func compact() {
        guard first == elements.count || (first >= 64 && first * 2 >= elements.count) else { return }
        elements.removeFirst(first)
        first = 0
    }
}

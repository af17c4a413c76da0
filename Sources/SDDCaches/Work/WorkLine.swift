/// Pieces of work in order of arrival. An element that is taken out is no longer referenced here, so that it is freed
/// where its taker releases it. A value type, part of `DiskQueue`.
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

    /// Frees empty places from time to time.
    private mutating func compact() {
        guard start == elements.count || (start >= 64 && start * 2 >= elements.count) else { return }
        elements.removeFirst(start)
        start = 0
    }
}

/// A binary min-heap: inserts and removes the smallest element in logarithmic time. A value type. `public` so that
/// other modules can specialise it, see `Monitor`.
public struct BinaryHeap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    @inlinable public var count: Int { elements.count }
    @inlinable public var first: Element? { elements.first }

    @inlinable public init(_ elements: [Element] = []) {
        self.elements = elements
        for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
    }

    @inlinable public mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable public mutating func popFirst() -> Element? {
        guard elements.count > 1 else { return elements.popLast() }
        elements.swapAt(0, elements.count - 1)
        let first = elements.popLast()
        sink(from: 0)
        return first
    }

    /// Keeps only the elements for which `isWorth` returns true.
    @inlinable public mutating func keep(where isWorth: (Element) -> Bool) {
        self = BinaryHeap(elements.filter(isWorth))
    }

    @inlinable mutating func sink(from start: Int) {
        var parent = start
        while true {
            var smallest = 2 * parent + 1
            guard smallest < elements.count else { return }
            if smallest + 1 < elements.count, elements[smallest + 1] < elements[smallest] { smallest += 1 }
            guard elements[smallest] < elements[parent] else { return }
            elements.swapAt(parent, smallest)
            parent = smallest
        }
    }
}

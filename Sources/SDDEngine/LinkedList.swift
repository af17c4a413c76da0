/// A doubly linked list in one array: appending, taking the first element and removing any element by its place take
/// constant time. A value type.
struct LinkedList<Element> {
    /// The place of an element; valid until the element is removed.
    struct Place: Equatable, Sendable {
        fileprivate let index: Int32
    }

    private struct Node {
        var element: Element?
        var previous: Int32
        var next: Int32
    }

    private static var none: Int32 { -1 }

    private var nodes: [Node] = []
    private var firstIndex = LinkedList.none
    private var lastIndex = LinkedList.none
    /// Head of the chain of unused nodes, linked by `next`.
    private var free = LinkedList.none
    private(set) var count = 0

    init() {}

    /// The remaining elements that were added first and last.
    var first: Element? { firstIndex == Self.none ? nil : nodes[Int(firstIndex)].element }
    var last: Element? { lastIndex == Self.none ? nil : nodes[Int(lastIndex)].element }

    var isEmpty: Bool { count == 0 }

    /// The first place, for a walk in the order of insertion.
    var firstPlace: Place? { place(at: firstIndex) }
    func place(after place: Place) -> Place? { self.place(at: nodes[Int(place.index)].next) }

    private func place(at index: Int32) -> Place? { index == Self.none ? nil : Place(index: index) }

    /// The element at a place, which can be changed in place; never set it to `nil`.
    subscript(place: Place) -> Element? {
        _read { yield nodes[Int(place.index)].element }
        _modify { yield &nodes[Int(place.index)].element }
    }

    @discardableResult
    mutating func append(_ element: Element) -> Place {
        let index = insert(Node(element: element, previous: lastIndex, next: Self.none))
        if lastIndex == Self.none { firstIndex = index } else { nodes[Int(lastIndex)].next = index }
        lastIndex = index
        return Place(index: index)
    }

    private mutating func insert(_ node: Node) -> Int32 {
        count += 1
        guard free != Self.none else {
            nodes.append(node)
            return Int32(nodes.count - 1)
        }
        let index = free
        free = nodes[Int(index)].next
        nodes[Int(index)] = node
        return index
    }

    @discardableResult
    mutating func remove(_ place: Place) -> Element? {
        let node = nodes[Int(place.index)]
        if node.previous == Self.none { firstIndex = node.next } else { nodes[Int(node.previous)].next = node.next }
        if node.next == Self.none { lastIndex = node.previous } else { nodes[Int(node.next)].previous = node.previous }
        nodes[Int(place.index)] = Node(element: nil, previous: Self.none, next: free)
        free = place.index
        count -= 1
        return node.element
    }

    mutating func popFirst() -> Element? {
        firstIndex == Self.none ? nil : remove(Place(index: firstIndex))
    }
}

extension LinkedList: Sequence {
    struct Iterator: IteratorProtocol {
        fileprivate let list: LinkedList
        fileprivate var place: Place?

        mutating func next() -> Element? {
            guard let current = place else { return nil }
            place = list.place(after: current)
            return list[current]
        }
    }

    func makeIterator() -> Iterator { Iterator(list: self, place: firstPlace) }
    var underestimatedCount: Int { count }
}

/// A doubly linked list in one array: appending, taking the first element and removing any element by its place take
/// constant time. A value type.
public struct LinkedList<Element> {
    /// The place of an element; valid until the element is removed.
    public struct Place: Equatable, Sendable {
        public let index: Int32

        @inlinable public init(index: Int32) { self.index = index }
    }

    @usableFromInline struct Node {
        @usableFromInline var element: Element?
        @usableFromInline var previous: Int32
        @usableFromInline var next: Int32

        @inlinable init(element: Element?, previous: Int32, next: Int32) {
            self.element = element
            self.previous = previous
            self.next = next
        }
    }

    @inlinable static var none: Int32 { -1 }

    @usableFromInline var nodes: [Node] = []
    @usableFromInline var firstIndex = LinkedList.none
    @usableFromInline var lastIndex = LinkedList.none
    /// Head of the chain of unused nodes, linked by `next`.
    @usableFromInline var free = LinkedList.none
    @usableFromInline var size = 0

    @inlinable public init() {}

    /// The remaining elements that were added first and last.
    @inlinable public var first: Element? { firstIndex == Self.none ? nil : nodes[Int(firstIndex)].element }
    @inlinable public var last: Element? { lastIndex == Self.none ? nil : nodes[Int(lastIndex)].element }

    @inlinable public var count: Int { size }
    @inlinable public var isEmpty: Bool { size == 0 }

    /// The first place, for a walk in the order of insertion.
    @inlinable public var firstPlace: Place? { place(at: firstIndex) }
    @inlinable public func place(after place: Place) -> Place? { self.place(at: nodes[Int(place.index)].next) }

    @inlinable func place(at index: Int32) -> Place? { index == Self.none ? nil : Place(index: index) }

    /// The element at a place, which can be changed in place; never set it to `nil`.
    @inlinable public subscript(place: Place) -> Element? {
        _read { yield nodes[Int(place.index)].element }
        _modify { yield &nodes[Int(place.index)].element }
    }

    @discardableResult
    @inlinable public mutating func append(_ element: Element) -> Place {
        let index = insert(Node(element: element, previous: lastIndex, next: Self.none))
        if lastIndex == Self.none { firstIndex = index } else { nodes[Int(lastIndex)].next = index }
        lastIndex = index
        return Place(index: index)
    }

    @inlinable mutating func insert(_ node: Node) -> Int32 {
        size += 1
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
    @inlinable public mutating func remove(_ place: Place) -> Element? {
        let node = nodes[Int(place.index)]
        if node.previous == Self.none { firstIndex = node.next } else { nodes[Int(node.previous)].next = node.next }
        if node.next == Self.none { lastIndex = node.previous } else { nodes[Int(node.next)].previous = node.previous }
        nodes[Int(place.index)] = Node(element: nil, previous: Self.none, next: free)
        free = place.index
        size -= 1
        return node.element
    }

    @inlinable public mutating func popFirst() -> Element? {
        firstIndex == Self.none ? nil : remove(Place(index: firstIndex))
    }
}

extension LinkedList: Sequence {
    public struct Iterator: IteratorProtocol {
        @usableFromInline let list: LinkedList
        @usableFromInline var place: Place?

        @inlinable init(list: LinkedList, place: Place?) {
            self.list = list
            self.place = place
        }

        @inlinable public mutating func next() -> Element? {
            guard let current = place else { return nil }
            place = list.place(after: current)
            return list[current]
        }
    }

    @inlinable public func makeIterator() -> Iterator { Iterator(list: self, place: firstPlace) }
    @inlinable public var underestimatedCount: Int { count }
}

/// A queue: the most urgent class first, and first in, first out within a class. All operations take constant time. A
/// value type.
public struct PriorityBuckets<Element> {
    public struct Place: Equatable, Sendable {
        @usableFromInline let bucket: Int
        @usableFromInline let place: LinkedList<Element>.Place

        @inlinable init(bucket: Int, place: LinkedList<Element>.Place) {
            self.bucket = bucket
            self.place = place
        }
    }

    @usableFromInline var buckets = Array(repeating: LinkedList<Element>(), count: Priority.allCases.count)

    @inlinable public init() {}

    @usableFromInline var size = 0
    @inlinable public var count: Int { size }
    @inlinable public var isEmpty: Bool { size == 0 }

    /// The first element, and the rank of its priority: 0 is the most urgent.
    @inlinable public var first: (element: Element, rank: Int)? {
        for bucket in 0..<buckets.count {
            if let element = buckets[bucket].first { return (element, bucket) }
        }
        return nil
    }

    @inlinable public mutating func append(_ element: Element, priority: Priority) -> Place {
        size += 1
        return Place(bucket: priority.rank, place: buckets[priority.rank].append(element))
    }

    /// - Returns: the element.
    @discardableResult
    @inlinable public mutating func remove(_ place: Place) -> Element? {
        size -= 1
        return buckets[place.bucket].remove(place.place)
    }

    @inlinable public mutating func popFirst() -> Element? {
        for bucket in 0..<buckets.count where !buckets[bucket].isEmpty {
            size -= 1
            return buckets[bucket].popFirst()
        }
        return nil
    }
}

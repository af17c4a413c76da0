import SDDBase

/// A queue: the most urgent class first, and first in, first out within a class. All operations take constant time. A
/// value type.
struct PriorityBuckets<Element> {
    struct Place: Equatable, Sendable {
        fileprivate let bucket: Int
        fileprivate let place: LinkedList<Element>.Place
    }

    private var buckets = Array(repeating: LinkedList<Element>(), count: Priority.allCases.count)

    init() {}

    private(set) var count = 0
    var isEmpty: Bool { count == 0 }

    /// The first element, and the rank of its priority: 0 is the most urgent.
    var first: (element: Element, rank: Int)? {
        for bucket in buckets.indices {
            if let element = buckets[bucket].first { return (element, bucket) }
        }
        return nil
    }

    mutating func append(_ element: Element, priority: Priority) -> Place {
        count += 1
        return Place(bucket: priority.rank, place: buckets[priority.rank].append(element))
    }

    mutating func remove(_ place: Place) {
        count -= 1
        buckets[place.bucket].remove(place.place)
    }

    mutating func popFirst() -> Element? {
        for bucket in buckets.indices where !buckets[bucket].isEmpty {
            count -= 1
            return buckets[bucket].popFirst()
        }
        return nil
    }
}

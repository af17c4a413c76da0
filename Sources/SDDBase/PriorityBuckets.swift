/// How urgent a piece of work is. Room is left between the levels for those that come later.
package enum Priority: Int32, Comparable, Sendable, CaseIterable {
    case low = 2
    case normal = 3
    case high = 4

    package static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }

    /// The bucket of this level, the most urgent first.
    fileprivate var bucket: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}

/// A queue: the most urgent class first, first come first served inside a class. All operations cost the
/// same, however long the queue. A value; no thread of its own.
package struct PriorityBuckets<Element> {
    package struct Place: Equatable, Sendable {
        fileprivate let bucket: Int
        fileprivate let place: LinkedList<Element>.Place
    }

    private var buckets = Array(repeating: LinkedList<Element>(), count: Priority.allCases.count)

    package init() {}

    package private(set) var count = 0
    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element, priority: Priority) -> Place {
        count += 1
        return Place(bucket: priority.bucket, place: buckets[priority.bucket].append(element))
    }

    package mutating func remove(_ place: Place) {
        count -= 1
        buckets[place.bucket].remove(place.place)
    }

    package mutating func popFirst() -> Element? {
        for bucket in buckets.indices where !buckets[bucket].isEmpty {
            count -= 1
            return buckets[bucket].popFirst()
        }
        return nil
    }
}

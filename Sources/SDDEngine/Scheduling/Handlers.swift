import SDDBase
import SDDCoders

/// The handlers of one job, in the order in which they joined. Adding a handler, removing one by its place, and asking
/// what any or all of them want take constant time, because each wish is counted. A value type.
struct Handlers<Listener> {
    typealias Handler = Job<Listener>.Handler
    typealias Place = LinkedList<Handler>.Place

    private var list = LinkedList<Handler>()
    private var priorities = SIMD8<Int32>(repeating: 0)
    private var wishes = Wishes()

    /// The number of handlers with each wish.
    private struct Wishes {
        var progress: Int32 = 0
        var previews: Int32 = 0
        var facts: Int32 = 0
        var earlyEnd: Int32 = 0
        /// Handlers that want only pixels, as soon as they are complete.
        var onlyEarlyPixels: Int32 = 0
        var libraryPixels: Int32 = 0
        var background: Int32 = 0

        mutating func count(_ handler: Handler, by step: Int32) {
            let isLibrarys = handler.wantsPixels && !handler.form.isCallers
            if handler.wantsProgress { progress += step }
            if handler.wantsPreviews { previews += step }
            if handler.wantsFacts { facts += step }
            if handler.endsEarly { earlyEnd += step }
            if handler.endsEarly && isLibrarys { onlyEarlyPixels += step }
            if isLibrarys && !handler.form.isLazy { libraryPixels += step }
            if handler.continuesInBackground { background += step }
        }
    }

    init(_ first: Handler) { append(first) }

    var count: Int { list.count }
    var isEmpty: Bool { list.isEmpty }

    var firstPlace: Place? { list.firstPlace }
}

// MARK: - Adding and removing

extension Handlers {
    @discardableResult
    mutating func append(_ handler: Handler) -> Place {
        count(handler, by: 1)
        return list.append(handler)
    }

    @discardableResult
    mutating func remove(_ place: Place) -> Handler? {
        guard let handler = list.remove(place) else { return nil }
        count(handler, by: -1)
        return handler
    }

    /// Removes handlers; the others keep their places.
    mutating func removeAll(where isToGo: (Handler) -> Bool) {
        var next = list.firstPlace
        while let place = next {
            next = list.place(after: place)
            if let handler = list[place], isToGo(handler) { remove(place) }
        }
    }

    mutating func removeAll() {
        list = LinkedList()
        priorities = SIMD8(repeating: 0)
        wishes = Wishes()
    }

    private mutating func count(_ handler: Handler, by step: Int32) {
        priorities[handler.priority.rank] &+= step
        wishes.count(handler, by: step)
    }
}

// MARK: - Single handlers

extension Handlers {
    subscript(place: Place) -> Handler? { list[place] }

    func place(after place: Place) -> Place? { list.place(after: place) }

    mutating func setPriority(_ priority: Priority, at place: Place) {
        guard let old = list[place]?.priority else { return }
        priorities[old.rank] &-= 1
        priorities[priority.rank] &+= 1
        list[place]?.priority = priority
    }

    mutating func setTold(_ told: (count: Int64, time: Int64), at place: Place) { list[place]?.told = told }
    mutating func setShown(at place: Place) { list[place]?.isShown = true }
}

extension Handlers: Sequence {
    func makeIterator() -> LinkedList<Handler>.Iterator { list.makeIterator() }
    var underestimatedCount: Int { list.count }
}

// MARK: - Combined wishes

extension Handlers {
    /// The priority of the most urgent handler.
    var priority: Priority {
        for rank in 0..<Priority.allCases.count where priorities[rank] > 0 {
            return Priority(rawValue: Priority.veryHigh.rawValue - Int32(rank)) ?? .veryLow
        }
        return .veryLow
    }

    var wantProgress: Bool { wishes.progress > 0 }
    var wantPreviews: Bool { wishes.previews > 0 }
    var wantFacts: Bool { wishes.facts > 0 }
    /// Whether a handler wants pixels in the library's own memory, decoded at once.
    var wantLibraryPixels: Bool { wishes.libraryPixels > 0 }
    var continueInBackground: Bool { wishes.background > 0 }
    /// Whether some handler does not need the transfer to go on after the last pixel.
    var anyEndsEarly: Bool { wishes.earlyEnd > 0 }
    /// Whether all handlers want only pixels, as soon as they are complete.
    var allEndEarly: Bool { Int(wishes.onlyEarlyPixels) == count }
}

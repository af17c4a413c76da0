import SDDBase
import SDDCoders

/// The handlers of one job, in the order in which they joined. Adding a handler, removing one by its place, and asking
/// what any or all of them want take constant time, because each wish is counted. Most jobs have only one handler,
/// which therefore needs no memory of its own. A value type.
struct Handlers<Recipient: AnyObject> {
    typealias Handler = Job<Recipient>.Handler

    /// The place of a handler; valid until the handler is removed.
    enum Place: Equatable {
        case first
        case others(LinkedList<Handler>.Place)
    }

    /// The handler that joined first; `nil` once it has been removed.
    private var first: Handler?
    /// One element with those that joined later, if there have been any. An array, as that is stored elsewhere.
    private var others: [Others] = []

    /// Handlers with the number of those that have each wish.
    private struct Others {
        var list = LinkedList<Handler>()
        var priorities = SIMD8<Int32>(repeating: 0)
        var wishes = Wishes()

        mutating func count(_ handler: Handler, by step: Int32) {
            priorities[handler.priority.rank] &+= step
            wishes.count(handler, by: step)
        }
    }

    /// The number of handlers with each wish.
    private struct Wishes {
        var progress: Int32 = 0
        var previews: Int32 = 0
        var facts: Int32 = 0
        var earlyEnd: Int32 = 0
        /// Handlers that want only pixels, as soon as they are complete.
        var onlyEarlyPixels: Int32 = 0
        var pixels: Int32 = 0
        var libraryPixels: Int32 = 0
        var keepers: Int32 = 0
        var background: Int32 = 0

        mutating func count(_ handler: Handler, by step: Int32) {
            if handler.wantsProgress { progress += step }
            if handler.wantsPreviews { previews += step }
            if handler.wantsFacts { facts += step }
            if handler.endsEarly { earlyEnd += step }
            if handler.wantsOnlyEarlyPixels { onlyEarlyPixels += step }
            if handler.wantsPixels { pixels += step }
            if handler.wantsLibraryPixels { libraryPixels += step }
            if handler.hasKeeper { keepers += step }
            if handler.continuesInBackground { background += step }
        }
    }

    init(_ first: consuming Handler) { self.first = first }

    private init() {}

    var count: Int { (first == nil ? 0 : 1) + otherCount }
    var isEmpty: Bool { count == 0 }

    private var otherCount: Int { others.isEmpty ? 0 : others[0].list.count }

    var firstPlace: Place? { first == nil ? firstOther : .first }

    private var firstOther: Place? { others.isEmpty ? nil : others[0].list.firstPlace.map { .others($0) } }
}

extension Job.Handler {
    fileprivate var wantsOnlyEarlyPixels: Bool { endsEarly && wantsPixels && !form.isCallers }
    fileprivate var hasKeeper: Bool { keeper != nil }
    fileprivate var wantsLibraryPixels: Bool { wantsPixels && !form.isCallers && !form.isLazy }
}

// MARK: - Adding and removing

extension Handlers {
    @discardableResult
    mutating func append(_ handler: Handler) -> Place {
        if isEmpty {
            first = handler
            return .first
        }
        if others.isEmpty { others.append(Others()) }
        others[0].count(handler, by: 1)
        return .others(others[0].list.append(handler))
    }

    @discardableResult
    mutating func remove(_ place: Place) -> Handler? {
        switch place {
        case .first:
            defer { first = nil }
            return first
        case .others(let place):
            guard let handler = others[0].list.remove(place) else { return nil }
            others[0].count(handler, by: -1)
            return handler
        }
    }

    /// Removes handlers; the others keep their places.
    mutating func removeAll(where isToGo: (Handler) -> Bool) {
        var next = firstPlace
        while let place = next {
            next = self.place(after: place)
            if let handler = self[place], isToGo(handler) { remove(place) }
        }
    }

    mutating func removeAll() { (first, others) = (nil, []) }

    /// Removes and returns all handlers.
    mutating func takeAll() -> Handlers {
        var all = Handlers()
        swap(&all, &self)
        return all
    }
}

// MARK: - Single handlers

extension Handlers {
    private(set) subscript(place: Place) -> Handler? {
        get {
            switch place {
            case .first: first
            case .others(let place): others[0].list[place]
            }
        }
        _modify {
            switch place {
            case .first: yield &first
            case .others(let place): yield &others[0].list[place]
            }
        }
    }

    func place(after place: Place) -> Place? {
        switch place {
        case .first: firstOther
        case .others(let place): others[0].list.place(after: place).map { .others($0) }
        }
    }

    mutating func setPriority(_ priority: Priority, at place: Place) {
        if case .others = place, let old = self[place]?.priority {
            others[0].priorities[old.rank] &-= 1
            others[0].priorities[priority.rank] &+= 1
        }
        self[place]?.priority = priority
    }

    mutating func setTold(_ told: (count: Int64, time: Int64), at place: Place) { self[place]?.told = told }
    mutating func setShown(at place: Place) { self[place]?.isShown = true }
}

extension Handlers: Sequence {
    struct Iterator: IteratorProtocol {
        fileprivate let handlers: Handlers
        fileprivate var place: Place?

        mutating func next() -> Handler? {
            guard let current = place else { return nil }
            place = handlers.place(after: current)
            return handlers[current]
        }
    }

    func makeIterator() -> Iterator { Iterator(handlers: self, place: firstPlace) }
    var underestimatedCount: Int { count }
}

/// As of any sequence, but without a copy of all handlers.
extension Handlers {
    @inline(__always) func forEach(_ body: (Handler) -> Void) {
        if let first { body(first) }
        if !others.isEmpty { others[0].list.forEach(body) }
    }

    @inline(__always) func contains(where isWanted: (Handler) -> Bool) -> Bool {
        if let first, isWanted(first) { return true }
        return !others.isEmpty && others[0].list.contains(where: isWanted)
    }

    func allSatisfy(_ isWanted: (Handler) -> Bool) -> Bool { !contains { !isWanted($0) } }
}

// MARK: - Combined wishes

extension Handlers {
    /// The priority of the most urgent handler.
    var priority: Priority { Swift.max(first?.priority ?? .veryLow, priorityOfOthers) }

    private var priorityOfOthers: Priority {
        guard !others.isEmpty else { return .veryLow }
        for rank in 0..<Priority.allCases.count where others[0].priorities[rank] > 0 {
            return Priority(rawValue: Priority.veryHigh.rawValue - Int32(rank)) ?? .veryLow
        }
        return .veryLow
    }

    private func any(_ isWanted: (Handler) -> Bool, _ wish: (Wishes) -> Int32) -> Bool {
        if let first, isWanted(first) { return true }
        return !others.isEmpty && wish(others[0].wishes) > 0
    }

    var wantProgress: Bool { any({ $0.wantsProgress }, { $0.progress }) }
    var wantPreviews: Bool { any({ $0.wantsPreviews }, { $0.previews }) }
    var wantFacts: Bool { any({ $0.wantsFacts }, { $0.facts }) }
    var wantPixels: Bool { any({ $0.wantsPixels }, { $0.pixels }) }
    /// Whether an original is to be stored for a handler.
    var haveKeepers: Bool { any({ $0.hasKeeper }, { $0.keepers }) }
    /// Whether a handler wants pixels in the library's own memory, decoded at once.
    var wantLibraryPixels: Bool { any({ $0.wantsLibraryPixels }, { $0.libraryPixels }) }
    var continueInBackground: Bool { any({ $0.continuesInBackground }, { $0.background }) }
    /// Whether some handler does not need the transfer to go on after the last pixel.
    var anyEndsEarly: Bool { any({ $0.endsEarly }, { $0.earlyEnd }) }
    /// Whether all handlers want only pixels, as soon as they are complete.
    var allEndEarly: Bool {
        first?.wantsOnlyEarlyPixels ?? true
            && (others.isEmpty || Int(others[0].wishes.onlyEarlyPixels) == others[0].list.count)
    }
}

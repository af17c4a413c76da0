import SDDBase

/// The times at which queue and total limits of requests, or pauses of jobs, run out, the soonest first. Entries of
/// requests that have ended stay until they reach the front or a sweep removes them. A value; it knows no clock.
struct Deadlines<Kind> {
    struct Deadline: Comparable {
        let time: Int64
        /// The token of the request, or for a pause the number of its job's id.
        let token: UInt64
        let kind: Kind

        static func < (a: Deadline, b: Deadline) -> Bool { (a.time, a.token) < (b.time, b.token) }
        static func == (a: Deadline, b: Deadline) -> Bool { (a.time, a.token) == (b.time, b.token) }
    }

    private var heap = BinaryHeap<Deadline>()
    private var sweepAt = 1024

    var count: Int { heap.count }
    var isEmpty: Bool { heap.count == 0 }

    mutating func add(_ kind: Kind, of token: UInt64, after limit: Int64, from now: Int64, isAlive: (UInt64) -> Bool) {
        let (time, overflow) = now.addingReportingOverflow(limit)
        guard limit > 0, !overflow else { return }
        heap.insert(Deadline(time: time, token: token, kind: kind))
        // Each sweep removes at least half of the entries or raises the threshold, so its cost per insertion is
        // bounded.
        guard heap.count > sweepAt else { return }
        heap.keep { isAlive($0.token) }
        sweepAt = max(1024, 2 * heap.count)
    }

    /// Returns the time of the soonest entry that is still alive, or `Int64.max` if there is none.
    mutating func next(isAlive: (UInt64) -> Bool) -> Int64 {
        while let first = heap.first {
            if isAlive(first.token) { return first.time }
            _ = heap.popFirst()
        }
        return .max
    }

    mutating func popExpired(at now: Int64) -> Deadline? {
        guard let first = heap.first, first.time <= now else { return nil }
        return heap.popFirst()
    }
}

/// The time limits of a request that its table enforces.
enum RequestLimit { case queue, total }

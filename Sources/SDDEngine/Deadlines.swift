import SDDBase

/// When the limits of requests on queue and total time run out, or the pauses of jobs, the soonest first. Those of
/// requests that have ended stay until they are looked at, or until they are the most. A value; it knows no clock.
struct Deadlines {
    enum Kind: Int { case queue, total, pause }

    struct Deadline: Comparable {
        let time: Int64
        /// Of a pause the number of its job.
        let token: UInt64
        let kind: Kind

        static func < (a: Deadline, b: Deadline) -> Bool { (a.time, a.token) < (b.time, b.token) }
    }

    private var heap = BinaryHeap<Deadline>()
    private var sweepAt = 1024

    var count: Int { heap.count }
    var isEmpty: Bool { heap.count == 0 }

    mutating func add(_ kind: Kind, of token: UInt64, after limit: Int64, from now: Int64, isAlive: (UInt64) -> Bool) {
        let (time, overflow) = now.addingReportingOverflow(limit)
        guard limit > 0, !overflow else { return }
        heap.insert(Deadline(time: time, token: token, kind: kind))
        // Each sweep halves it at least, or doubles the time to the next one.
        guard heap.count > sweepAt else { return }
        heap.keep { isAlive($0.token) }
        sweepAt = max(1024, 2 * heap.count)
    }

    /// The soonest one that still counts; `Int64.max` for none.
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

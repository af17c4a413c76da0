internal import SDDBase

/// When to look at the clocks of each transfer, the soonest first: however many transfers there are, a turn looks at
/// those alone whose time has come. An entry may be out of date, because its transfer has ended or is to be looked at
/// sooner: the transfer knows the time of the one that counts. A value; it knows no clock.
struct LookAgenda {
    private struct Entry: Comparable {
        let time: Int64
        let id: TransferID

        static func < (a: Entry, b: Entry) -> Bool { (a.time, a.id.number) < (b.time, b.id.number) }
    }

    private var entries = BinaryHeap<Entry>()
    private var sweepAt = Self.leastSweep
    private static let leastSweep = 1024

    var count: Int { entries.count }

    /// - Parameters:
    ///   - time: `Int64.max` for never.
    ///   - planned: the time that counts for this transfer so far, `Int64.max` for none. A later look is planned when
    ///     that has come.
    ///   - counts: whether another transfer's time is that one.
    /// - Returns: the time that counts from now on.
    mutating func plan(
        _ id: TransferID, at time: Int64, planned: Int64, counts: (TransferID, Int64) -> Bool
    ) -> Int64 {
        guard time < planned else { return planned }
        entries.insert(Entry(time: time, id: id))
        // Each sweep halves it at least, or doubles the time to the next one.
        if entries.count > sweepAt {
            entries.keep { $0.id == id ? $0.time == time : counts($0.id, $0.time) }
            sweepAt = max(Self.leastSweep, 2 * entries.count)
        }
        return time
    }

    /// The next transfer whose time has come. Nothing is planned for it then.
    mutating func popDue(at now: Int64, counts: (TransferID, Int64) -> Bool) -> TransferID? {
        while let first = entries.first, first.time <= now {
            _ = entries.popFirst()
            if counts(first.id, first.time) { return first.id }
        }
        return nil
    }

    /// `Int64.max` for never.
    mutating func next(counts: (TransferID, Int64) -> Bool) -> Int64 {
        while let first = entries.first {
            if counts(first.id, first.time) { return first.time }
            _ = entries.popFirst()
        }
        return .max
    }

    mutating func removeAll() { self = LookAgenda() }
}

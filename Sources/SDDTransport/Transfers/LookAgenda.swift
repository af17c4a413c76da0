internal import SDDBase

/// The times at which the clocks of each transfer are looked at, the soonest first. A turn looks only at the transfers
/// that are due, however many there are. An entry may be out of date, because its transfer has ended or is looked at
/// sooner; the transfer knows the time of its valid entry. It has no clock of its own.
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
    ///   - time: `Int64.max` means never.
    ///   - planned: The valid time of this transfer so far, `Int64.max` if there is none. A later `time` is ignored,
    ///     and planned again when `planned` has come.
    ///   - counts: Whether a time is the valid one of another transfer.
    /// - Returns: The valid time of this transfer from now on.
    mutating func plan(
        _ id: TransferID, at time: Int64, planned: Int64, counts: (TransferID, Int64) -> Bool
    ) -> Int64 {
        guard time < planned else { return planned }
        entries.insert(Entry(time: time, id: id))
        // After a sweep, the number of entries must at least double before the next one.
        if entries.count > sweepAt {
            entries.keep { $0.id == id ? $0.time == time : counts($0.id, $0.time) }
            sweepAt = max(Self.leastSweep, 2 * entries.count)
        }
        return time
    }

    /// Removes and returns the next transfer that is due. Nothing is planned for it afterwards.
    mutating func popDue(at now: Int64, counts: (TransferID, Int64) -> Bool) -> TransferID? {
        while let first = entries.first, first.time <= now {
            _ = entries.popFirst()
            if counts(first.id, first.time) { return first.id }
        }
        return nil
    }

    /// Returns the next time at which a transfer is due; `Int64.max` means never.
    mutating func next(counts: (TransferID, Int64) -> Bool) -> Int64 {
        while let first = entries.first {
            if counts(first.id, first.time) { return first.time }
            _ = entries.popFirst()
        }
        return .max
    }

    mutating func removeAll() { self = LookAgenda() }
}

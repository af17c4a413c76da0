import SDDBase
import Synchronization

/// Trimming: when, and by whom. One thread of the process at a time; in pieces, so that other work of the disk threads
/// goes on between them.
extension DiskCache {
    struct Trimming {
        var isBusy = false
        var isWantedAgain = false
    }

    /// Removes what is too old or too much. Waits for it, and for a trim that is under way; any thread.
    /// - Returns: false after a failure.
    @discardableResult
    package func trim() -> Bool {
        // A disk thread would wait for itself.
        if isOwnThread { return beginTrimming() ? trimNow() : true }
        waitToTrim()
        return trimNow()
    }

    private func waitToTrim() {
        trimming.wait { state -> Void? in
            guard !state.isBusy else { return nil }
            state.isBusy = true
            return ()
        }
    }

    private func trimNow() -> Bool {
        defer { endTrimming() }
        return counting { () throws(CacheError) in
            guard let trim = try store.beginTrim() else { return }
            while !isOutOfTime, try trim.step() {}
            count(trim)
        } != nil
    }

    /// Trims on the disk threads, soon, and after a trim that is under way.
    package func trimSoon() {
        let mustWait = trimming.withLock { state in
            if state.isBusy { state.isWantedAgain = true }
            return state.isBusy
        }
        if !mustWait { read { [self] in trimInPieces() } }
    }

    /// The sums over the entries of all processes; nil if the disk does not tell. Waits until they are known.
    package var totals: DiskTotals? {
        if !isOwnThread, !store.knowsTotals { trimming.wait { state -> Void? in state.isBusy ? nil : () } }
        return counting { () throws(CacheError) in try store.totals() }
    }

    /// Thread: sdd-disk.
    func trimIfDue() {
        // Where nothing is removed for its age, what there is has to be known first.
        if trimInterval == nil, !store.knowsTotals { return countInPieces() }
        if counting({ () throws(CacheError) in try store.isTrimDue() }) ?? false { trimInPieces() }
    }

    /// A trim in pieces that is under way ends first, because it sees that the cache stops.
    func trimAtTheEnd() {
        guard !isOutOfTime, counting({ () throws(CacheError) in try store.isTrimDue() }) ?? false else { return }
        waitToTrim()
        _ = trimNow()
    }

    /// A cache in use will have something to trim; an idle one does not wake a thread for it.
    func planTrim() {
        guard let trimInterval else { return }
        if isTrimPlanned.exchange(true, ordering: .relaxed) || isStopping { return }
        read(afterMilliseconds: max(1, trimInterval / 1000)) { [self] in
            isTrimPlanned.store(false, ordering: .relaxed)
            if isStopping { return }
            flushUses()
            trimIfDue()
        }
    }

    /// Asks for a trim when enough has been written. Each look at the disk has a cost, so not every write causes one.
    func lookAtLimit(after bytes: Int64) {
        guard let most = store.limits.maxBytes else { return }
        let mustLook = written.withLock { written in
            written += bytes + 4096
            guard written > most / 64 else { return false }
            written = 0
            return true
        }
        if mustLook { read { [self] in trimIfDue() } }
    }

    /// Writes down when entries were used, as long as there is time.
    package func flushUses() { store.flushUses { [self] in isOutOfTime } }
}

// MARK: - In pieces

extension DiskCache {
    private func beginTrimming() -> Bool {
        trimming.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    private func endTrimming() {
        let mustGoOn = trimming.withLock { state in
            defer { state = Trimming() }
            return state.isWantedAgain
        }
        trimming.broadcast()
        if mustGoOn, !isStopping { read { [self] in trimInPieces() } }
    }

    /// Thread: sdd-disk.
    private func trimInPieces() {
        guard !isStopping, beginTrimming() else { return }
        guard let trim = counting({ () throws(CacheError) in try store.beginTrim() }) ?? nil else {
            return endTrimming()
        }
        goOn(with: trim)
    }

    /// Counts the first entries; in a small folder those are all. Later calls report a disk that fails.
    func countFirstPieces() {
        guard beginTrimming() else { return }
        defer { endTrimming() }
        guard let count = try? store.beginCount() else { return }
        for _ in 0..<2 {
            guard (try? count.step()) == true else { return }
        }
    }

    private func countInPieces() {
        guard !isStopping, beginTrimming() else { return }
        guard let count = counting({ () throws(CacheError) in try store.beginCount() }) else { return endTrimming() }
        goOn(with: count)
    }

    /// One piece; the next one stands in line behind the reads that have come meanwhile, and the other thread writes.
    private func goOn(with trim: DiskTrim) {
        guard !isStopping, counting({ () throws(CacheError) in try trim.step() }) ?? false else {
            trim.close()
            count(trim)
            endTrimming()
            if trim.countsOnly, trim.outcome != nil { trimIfDue() }
            return
        }
        read { [self] in goOn(with: trim) }
    }

    private func count(_ trim: DiskTrim) {
        guard let outcome = trim.outcome, !trim.countsOnly else { return }
        counters.add(.trims, 1)
        counters.add(.entriesTrimmed, outcome.removed.count)
        counters.add(.trimmedBytes, outcome.removed.bytes)
    }
}

import SDDBase
import Synchronization

/// Trimming, on one thread of the process at a time, in steps between which the disk threads do other work.
extension DiskCache {
    struct Trimming {
        var isBusy = false
        var isWantedAgain = false
    }

    /// Removes expired entries and entries over the limit, and waits for that and for a trim that is under way.
    /// Callable from any thread.
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

    /// Schedules a trim on the disk threads, after a trim that is under way.
    package func trimSoon() {
        let mustWait = trimming.withLock { state in
            if state.isBusy { state.isWantedAgain = true }
            return state.isBusy
        }
        if !mustWait { read { [self] in trimInPieces() } }
    }

    /// The totals of the entries of all processes; nil after an error. Waits for a count that is under way.
    package var totals: DiskTotals? {
        if !isOwnThread, !store.knowsTotals { trimming.wait { state -> Void? in state.isBusy ? nil : () } }
        return counting { () throws(CacheError) in try store.totals() }
    }

    /// Trims if a trim is due. Runs on a disk thread.
    func trimIfDue() {
        // Without a trim interval, the totals must be known before a trim can be due.
        if trimInterval == nil, !store.knowsTotals { return countInPieces() }
        if counting({ () throws(CacheError) in try store.isTrimDue() }) ?? false { trimInPieces() }
    }

    /// A trim in steps that is under way ends first, since it sees that the cache is stopping.
    func trimAtTheEnd() {
        guard !isOutOfTime, counting({ () throws(CacheError) in try store.isTrimDue() }) ?? false else { return }
        waitToTrim()
        _ = trimNow()
    }

    /// Schedules the next look for expired entries, after which another one follows: entries expire also while the cache
    /// is not used.
    func planTrim() {
        guard let trimInterval, !isStopping else { return }
        read(afterMilliseconds: max(1, trimInterval / 1000)) { [self] in
            if isStopping { return }
            flushUses()
            trimIfDue()
            planTrim()
        }
    }

    /// Checks the size limit once enough has been written. The check accesses the disk, so not every write causes one.
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

    /// Stores the times at which entries were used, as long as there is time.
    package func flushUses() { store.flushUses { [self] in isOutOfTime } }
}

// MARK: - Steps

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

    /// Begins a trim in steps. Runs on a disk thread.
    private func trimInPieces() {
        guard !isStopping, beginTrimming() else { return }
        guard let trim = counting({ () throws(CacheError) in try store.beginTrim() }) ?? nil else {
            return endTrimming()
        }
        goOn(with: trim)
    }

    /// Counts the first entries, which are all entries of a small directory. Errors are ignored here, since later calls
    /// report them.
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

    /// Does one step and queues the next one behind the reads that have arrived; the other thread can write meanwhile.
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

import SDDBase
import Synchronization

/// Trimming: when, and by whom.
extension DiskCache {
    /// Removes what is too old or too much. Waits for it; any thread.
    /// - Returns: false after a failure.
    @discardableResult
    package func trim() -> Bool {
        guard let outcome = counting({ () throws(CacheError) in try store.trim() }) else { return false }
        guard let trimmed = outcome else { return true }
        counters.add(.trims, 1)
        counters.add(.entriesTrimmed, trimmed.removed.count)
        counters.add(.trimmedBytes, trimmed.removed.bytes)
        return true
    }

    /// Of all processes; nil if the disk does not tell.
    package var totals: DiskTotals? { counting { () throws(CacheError) in try store.totals() } }

    func trimIfDue() { if counting({ () throws(CacheError) in try store.isTrimDue() }) ?? false { trim() } }

    /// Where something happens, there will be something to trim; where nothing does, nobody wakes up for it.
    func planTrim() {
        guard let trimInterval else { return }
        if isTrimPlanned.exchange(true, ordering: .relaxed) || isStopping { return }
        read(afterMilliseconds: max(1, trimInterval / 1000)) { [self] in
            isTrimPlanned.store(false, ordering: .relaxed)
            store.flushUses()
            if !isStopping { change { [self] in trimIfDue() } }
        }
    }

    /// Not after each write: it costs a look at the disk.
    func lookAtLimit(after bytes: Int64) {
        guard let most = store.limits.maxBytes else { return }
        let mustLook = written.withLock { written in
            written += bytes + 4096
            guard written > most / 64 else { return false }
            written = 0
            return true
        }
        if mustLook { trimIfDue() }
    }
}

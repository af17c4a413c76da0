internal import Glibc
internal import SDDBase

// Only one process trims at a time; the others continue to read and write meanwhile.
extension DiskStore {
    /// True if a ledger with the totals of all entries exists.
    package var knowsTotals: Bool { ledger.summary() != nil }

    /// Returns the current totals, including the changes of other processes. Counts all entries if there is no ledger.
    package func totals() throws(CacheError) -> DiskTotals {
        if let foreign { return try foreign.store.totals() ?? DiskTotals() }
        if let summary = ledger.summary() { return summary.totals }
        let count = try beginCount()
        while try count.step() {}
        return ledger.summary()?.totals ?? count.outcome?.left ?? DiskTotals()
    }

    /// Begins a count of all entries for a new ledger.
    package func beginCount() throws(CacheError) -> DiskTrim { try DiskTrim(self, limits: nil, lock: nil) }

    /// Whether the cache exceeds its limit, the last trim is too long ago, or there is no ledger.
    package func isTrimDue() throws(CacheError) -> Bool {
        guard let summary = ledger.summary() else { return true }
        let limits = limits
        if try foreign?.mostBytes(within: limits) != nil { return true }
        let (since, overflow) = time.wallMicroseconds().subtractingReportingOverflow(summary.lastTrim)
        // If the clock was set back, the interval might never be over.
        return summary.isLong || overflow || since < 0 || since >= limits.trimInterval
            || limits.maxBytes.map { summary.totals.bytes > $0 } ?? false
    }

    /// Begins to remove expired entries, entries over the limit, and files that dead writers have left.
    /// - Returns: nil if another process or thread is trimming, or the directory was removed.
    package func beginTrim() throws(CacheError) -> DiskTrim? {
        guard let lock = try takeTrimLock() else { return nil }
        try? makePartsAgain()
        flushUses()
        try foreign?.trim(limits)
        return try DiskTrim(self, limits: limits, lock: lock)
    }

    /// Trims the cache to the end.
    /// - Returns: nil if another process or thread is trimming.
    package func trim() throws(CacheError) -> DiskTrimmed? {
        guard let trim = try beginTrim() else { return nil }
        while try trim.step() {}
        return trim.outcome
    }

    /// Removes every entry and part. A process that has one open keeps it; entries that other processes store meanwhile
    /// may stay.
    package func clear() throws(CacheError) {
        // This may run beside a trim, which checks each file again before it removes it.
        let lock = try takeTrimLock()
        defer { withExtendedLifetime(lock) {} }
        try foreign?.store.clear()
        try removeAll()
    }

    /// Returns nil if another process or thread has the lock, or the directory was removed: it has no entries, and only a
    /// store makes it again.
    private func takeTrimLock() throws(CacheError) -> TrimLock? {
        do throws(CacheError) {
            return try TrimLock.take(directory)
        } catch {
            guard error.isOfRemovedDirectory else { throw error }
        }
        if hasFiles { return nil }
        try makeAgain()
        return try TrimLock.take(directory)
    }

    private func removeAll() throws(CacheError) {
        uses.withLock { _ = $0.take() }
        let now = time.wallMicroseconds()
        let scan = try DirectoryScan.whole(directory)
        let mark = ledger.mark()
        var left = DiskTotals()
        var failure: CacheError?
        for entry in scan.entries {
            do throws(SystemError) {
                try directory.files.removeIfThere(entry.name, in: directory.descriptor)
                touched(entry.name)
            } catch {
                failure = .system(.remove, errno: error.errno)
                left = left + DiskTotals(bytes: entry.allocated, count: 1)
            }
        }
        for file in scan.temporaries
        where TemporaryName.isAbandoned(file.name, age: DiskAge.of(file.modified, at: now)) {
            do throws(SystemError) {
                try directory.files.removeIfThere(file.name, in: directory.descriptor)
            } catch {
                failure = .system(.remove, errno: error.errno)
            }
        }
        try ledger.replace(left, lastTrim: now, since: mark)
        try parts.clear()
        if let failure { throw failure }
    }

    /// Removes an entry, unless it has been used or stored again since the scan.
    /// - Returns: whether it was removed.
    func removeUnchanged(_ entry: DirectoryScan.Entry) throws(SystemError) -> Bool {
        guard let status = try directory.files.statusIfThere(of: entry.name, in: directory.descriptor),
            DirectoryScan.Entry(entry.name, status) == entry, uses.withLock({ $0[entry.name] }) == nil
        else { return false }
        return try directory.files.removeIfThere(entry.name, in: directory.descriptor)
    }
}

internal import Glibc
internal import SDDBase

/// What a trim did.
package struct DiskTrimmed: Equatable, Sendable {
    package let removed: DiskTotals
    package let left: DiskTotals
}

// One process trims at a time; the others go on reading and writing meanwhile.
extension DiskStore {
    /// For a file that is being written; a large body comes from a memory that is full already.
    private static let longestWrite: Int64 = 10 * 60 * 1_000_000
    private static let lockName = "trim.lock"

    /// Whether there is more than there may be, or the last trim is too long ago.
    package func isTrimDue() throws(CacheError) -> Bool {
        let summary = try ledger.summary()
        let limits = limits
        let (since, overflow) = time.wallMicroseconds().subtractingReportingOverflow(summary.lastTrim)
        // A clock that was set back would put it off for ever.
        return summary.isLong || overflow || since < 0 || since >= limits.trimInterval
            || limits.maxBytes.map { summary.totals.bytes > $0 } ?? false
    }

    /// Removes what is too old, what is too much, and what dead writers have left.
    /// - Returns: nil when another process, or thread, is at it.
    package func trim() throws(CacheError) -> DiskTrimmed? {
        try withTrimLock { () throws(CacheError) in
            flushUses()
            let now = time.wallMicroseconds()
            let limits = limits
            let scan = try DirectoryScan(directory)
            let mark = ledger.mark()
            removeTemporaries(scan, now: now)
            var removed = DiskTotals()
            for index in TrimPlan(scan.entries, limits: limits, now: now).victims {
                let entry = scan.entries[index]
                if removeUnchanged(entry) { removed = removed + DiskTotals(bytes: entry.allocated, count: 1) }
            }
            let left = scan.totals + -removed
            ledger.replace(left, lastTrim: now, since: mark)
            parts.trim(limits: limits, now: now)
            downloads.trim(now: now)
            return DiskTrimmed(removed: removed, left: left)
        }
    }

    /// Removes every entry and part. Who has one open keeps it; what others store meanwhile may stay.
    package func clear() throws(CacheError) {
        let isDone = try withTrimLock { () throws(CacheError) in
            try removeAll()
            return true
        }
        // Beside a trim that is under way: it looks at each file again before it removes it.
        if isDone == nil { try removeAll() }
    }

    private func removeAll() throws(CacheError) {
        uses.withLock { _ = $0.take() }
        let now = time.wallMicroseconds()
        let scan = try DirectoryScan(directory)
        let mark = ledger.mark()
        var left = DiskTotals()
        var failure: CacheError?
        for entry in scan.entries {
            do throws(SystemError) {
                try directory.files.remove(entry.name, in: directory.descriptor)
            } catch {
                if error.errno == ENOENT { continue }
                failure = .system(.remove, errno: error.errno)
                left = left + DiskTotals(bytes: entry.allocated, count: 1)
            }
        }
        removeTemporaries(scan, now: now)
        ledger.replace(left, lastTrim: now, since: mark)
        parts.clear()
        if let failure { throw failure }
    }

    /// Not what has been used or stored anew since it was looked at.
    private func removeUnchanged(_ entry: DirectoryScan.Entry) -> Bool {
        guard let status = try? directory.files.status(of: entry.name, in: directory.descriptor),
            DirectoryScan.Entry(entry.name, status) == entry, uses.withLock({ $0[entry.name] }) == nil
        else { return false }
        return (try? directory.files.remove(entry.name, in: directory.descriptor)) != nil
    }

    private func removeTemporaries(_ scan: DirectoryScan, now: Int64) {
        for file in scan.temporaries {
            let isOld = DiskAge.of(file.modified, at: now) >= Self.longestWrite
            guard isOld || TemporaryName.isOrphan(file.name) else { continue }
            try? directory.files.remove(file.name, in: directory.descriptor)
        }
    }

    private func withTrimLock<Result>(_ body: () throws(CacheError) -> Result) throws(CacheError) -> Result? {
        let files = directory.files
        let descriptor = try CacheError.during(.lock) { () throws(SystemError) in
            try files.open(Self.lockName, in: directory.descriptor, flags: O_RDWR | O_CREAT)
        }
        defer { try? files.close(descriptor) }
        let isLocked = try CacheError.during(.lock) { () throws(SystemError) in try files.lock(descriptor) }
        guard isLocked else { return nil }
        // A child that the host has forked meanwhile has the lock too, until it is given back for both.
        defer { try? files.unlock(descriptor) }
        return try body()
    }
}

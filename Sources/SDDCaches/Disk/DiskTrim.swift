internal import Glibc
internal import SDDBase

/// The outcome of a trim.
package struct DiskTrimmed: Equatable, Sendable {
    package let removed: DiskTotals
    package let left: DiskTotals
}

/// A scan of all entries that is under way, in steps of some milliseconds. It counts the entries for a new ledger and,
/// if it is a trim, removes expired entries, entries over the limit, and files that dead writers have left. Other
/// threads and processes read and write meanwhile. Use it on one thread at a time; its owner closes it or releases the
/// last reference.
package final class DiskTrim: @unchecked Sendable {
    // Safety: passed from thread to thread, and used by one at a time.
    private enum Phase {
        case scanning
        case removing([Int])
        case over
    }

    private let store: DiskStore
    private let touched = TouchedNames()
    private let began: Int64
    /// nil if nothing is to be removed.
    private let limits: DiskLimits?
    private var lock: TrimLock?
    private var scan: DirectoryScan
    private var phase = Phase.scanning
    /// The next index in the list of victims in `phase`.
    private var next = 0
    /// The indexes of removed entries in the scan.
    private var removed: Set<Int> = []
    private var removedTotals = DiskTotals()
    /// True if this only counts and removes nothing.
    package var countsOnly: Bool { limits == nil }
    /// The last failure to remove a file. It does not keep the other files from being removed.
    private var failure: CacheError?
    /// The result; nil until the end.
    package private(set) var outcome: DiskTrimmed?

    private static let namesInPiece = 512
    private static let removalsInPiece = 128

    /// - Parameter limits: the limits of a trim; nil to count only.
    init(_ store: DiskStore, limits: DiskLimits?, lock: TrimLock?) throws(CacheError) {
        self.store = store
        self.limits = limits
        self.lock = lock
        began = store.time.wallMicroseconds()
        store.countings.withLock { [touched] in $0.append(touched) }
        // Changes that had begun before; their files may appear behind the scan.
        for name in store.changes.underWay { touched.insert(name) }
        do throws(CacheError) {
            scan = try DirectoryScan(store.directory)
        } catch {
            store.countings.withLock { [touched] countings in countings.removeAll { $0 === touched } }
            throw error
        }
    }

    deinit { close() }

    /// Stops the trim; the ledger stays as it is.
    package func close() {
        store.countings.withLock { [touched] countings in countings.removeAll { $0 === touched } }
        lock = nil
        phase = .over
    }

    /// Does one step.
    /// - Returns: false when the trim is complete. After an error it is over too.
    package func step() throws(CacheError) -> Bool {
        do throws(CacheError) {
            switch phase {
            case .scanning: if try !scan.read(most: Self.namesInPiece) { plan() }
            case .removing(let victims): try remove(victims)
            case .over: return false
            }
        } catch {
            close()
            throw error
        }
        if case .over = phase { return false }
        return true
    }

    private func plan() {
        guard let limits else {
            phase = .removing([])
            return
        }
        removeTemporaries()
        let victims = TrimPlan(scan.entries, limits: limits, now: began).victims
        setBackDates(except: Set(victims), limits)
        phase = .removing(victims)
    }

    /// Sets dates in the future to that of the last trim, a little while ago: such an entry would stay good until then, and
    /// must not be younger than what was stored since. Not if the clock has gone back since the last trim: it may be the
    /// one that is wrong. On a machine without a clock of its own it is behind until the network is up, and all entries
    /// are from the future.
    private func setBackDates(except victims: Set<Int>, _ limits: DiskLimits) {
        guard let last = store.ledger.summary()?.lastTrim, last > 0, last <= began else { return }
        let date = max(last, began - limits.trimInterval)
        for (index, entry) in scan.entries.enumerated()
        where (entry.used > began || entry.modified > began) && !victims.contains(index) {
            try? store.directory.files.setTimes(
                of: entry.name, in: store.directory.descriptor, used: entry.used > began ? date : nil,
                modified: entry.modified > began ? date : nil)
        }
    }

    private func remove(_ victims: [Int]) throws(CacheError) {
        for index in victims[next...].prefix(Self.removalsInPiece) {
            next += 1
            let entry = scan.entries[index]
            noting { () throws(SystemError) in
                guard try store.removeUnchanged(entry) else { return }
                removed.insert(index)
                removedTotals = removedTotals + DiskTotals(bytes: entry.allocated, count: 1)
            }
        }
        if next == victims.count { try finish() }
    }

    private func finish() throws(CacheError) {
        let left = try store.changes.between { () throws(CacheError) in
            let mark = store.ledger.mark()
            let left = counted(touched.take())
            try store.ledger.replace(left, lastTrim: limits == nil ? 0 : began, since: mark)
            return left
        }
        if let limits { removeOthers(limits) }
        close()
        if let failure { throw failure }
        outcome = DiskTrimmed(removed: removedTotals, left: left)
    }

    /// Counts the remaining entries. Entries that this process has changed meanwhile are looked up again.
    private func counted(_ touched: Set<String>) -> DiskTotals {
        var totals = DiskTotals()
        for (index, entry) in scan.entries.enumerated()
        where !removed.contains(index) && (touched.isEmpty || !touched.contains(entry.name)) {
            totals = totals + DiskTotals(bytes: entry.allocated, count: 1)
        }
        for name in touched {
            guard let size = try? store.allocated(name) else { continue }
            totals = totals + DiskTotals(bytes: size, count: 1)
        }
        return totals
    }

    private func removeOthers(_ limits: DiskLimits) {
        do throws(CacheError) {
            try store.parts.trim(limits: limits, now: began)
        } catch {
            failure = error
        }
        store.downloads.trim(now: began)
    }

    private func removeTemporaries() {
        for file in scan.temporaries
        where TemporaryName.isAbandoned(file.name, age: DiskAge.of(file.modified, at: began)) {
            noting { () throws(SystemError) in
                try store.directory.files.removeIfThere(file.name, in: store.directory.descriptor)
            }
        }
    }

    private func noting(_ body: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try body()
        } catch {
            failure = .system(.remove, errno: error.errno)
        }
    }
}

/// The exclusive right to trim a directory, among all processes and threads. Released with the last reference.
final class TrimLock: Sendable {
    private let descriptor: Int32
    private let files: any FileCalls
    static let name = "trim.lock"

    /// Takes the lock; returns nil if another process or thread has it.
    static func take(_ directory: CacheDirectory) throws(CacheError) -> TrimLock? {
        let files = directory.files
        let descriptor = try CacheError.during(.lock) { () throws(SystemError) in
            try files.open(name, in: directory.descriptor, flags: O_RDWR | O_CREAT)
        }
        do throws(SystemError) {
            if try files.lock(descriptor) { return TrimLock(descriptor, files) }
        } catch {
            try? files.close(descriptor)
            throw .system(.lock, errno: error.errno)
        }
        try? files.close(descriptor)
        return nil
    }

    private init(_ descriptor: Int32, _ files: any FileCalls) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit {
        // A child that the application has forked meanwhile shares the lock, so it is released explicitly for both.
        try? files.unlock(descriptor)
        try? files.close(descriptor)
    }
}

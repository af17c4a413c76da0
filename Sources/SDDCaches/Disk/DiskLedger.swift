internal import Glibc
internal import SDDBase

/// The totals of all entries, kept without scanning them: a file to which every process that changes the cache appends
/// a record (`LedgerRecord`), and from which each process reads the records it has not seen. A process that is killed
/// between a change and its record leaves the totals slightly wrong, until the next trim scans everything and begins a
/// new ledger. Blocking; several threads at a time; no lock is held while a file is read or written.
final class DiskLedger: Sendable {
    /// An open ledger file. By now its name may mean a newer one.
    fileprivate final class File: Sendable {
        let descriptor: Int32
        private let files: any FileCalls

        init(_ descriptor: Int32, _ files: any FileCalls) {
            self.descriptor = descriptor
            self.files = files
        }

        deinit { try? files.close(descriptor) }
    }

    private struct State {
        /// nil if the ledger has not been opened yet.
        var file: File?
        var reading = LedgerReading()
        /// True if no ledger could be created, so that this process keeps its own count.
        var isAlone = false
    }

    /// The state of a ledger at some moment.
    struct Mark {
        fileprivate let file: File?
        fileprivate let reading: LedgerReading
    }

    static let name = "ledger"
    /// The length in bytes at which the ledger is replaced; reading this much takes some milliseconds.
    static let longest: Int64 = 4 << 20
    /// The most attempts. Each one fails only because another process has just begun a new ledger.
    private static let attempts = 8

    private let directory: CacheDirectory
    private let state = Monitor(State())
    private var files: any FileCalls { directory.files }

    /// Opens no file; that happens on the first call that needs it.
    init(_ directory: CacheDirectory) { self.directory = directory }

    /// Forgets the ledger of a directory that was removed: the new one has none yet, or that of another process.
    func forget() { state.withLock { $0 = State() } }

    // MARK: Reading

    struct Summary {
        var totals: DiskTotals
        var lastTrim: Int64
        /// True if the ledger is long enough to be replaced.
        var isLong: Bool
    }

    /// Returns the current totals, including the changes of other processes; nil if there is no ledger, so that the
    /// entries must be counted.
    func summary() -> Summary? {
        guard read() else { return nil }
        let reading = state.withLock { $0.reading }
        return Summary(
            totals: DiskTotals(bytes: max(reading.totals.bytes, 0), count: max(reading.totals.count, 0)),
            lastTrim: reading.lastTrim, isLong: reading.offset > Self.longest)
    }

    /// - Returns: false if there is no ledger, or it cannot be read.
    private func read() -> Bool {
        for _ in 0..<Self.attempts {
            let before = state.withLock { $0 }
            if before.isAlone { return true }
            var after = before
            if before.file.map({ isGone($0, offset: before.reading.offset) }) ?? true {
                guard let descriptor = try? files.open(Self.name, in: directory.descriptor, flags: O_RDWR | O_APPEND)
                else { return false }
                after = State(file: File(descriptor, files))
            }
            guard let file = after.file, readOn(file, &after.reading), after.reading.offset > 0 else { return false }
            let isDone = state.withLock { state in
                guard state.file === before.file, state.reading.offset == before.reading.offset else { return false }
                state = after
                return true
            }
            if isDone { return true }
        }
        return true
    }

    private func readOn(_ file: File, _ reading: inout LedgerReading) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 256 * LedgerRecord.length)
        while true {
            let before = reading.offset
            let isGood = buffer.withUnsafeMutableBytes { place in
                guard let count = try? files.read(file.descriptor, at: reading.offset, into: place) else {
                    return false
                }
                return reading.take(UnsafeRawBufferPointer(rebasing: place[..<min(max(count, 0), place.count)]))
            }
            if !isGood { return false }
            if reading.offset == before { return true }
        }
    }

    /// Whether the file has been replaced or truncated.
    private func isGone(_ file: File, offset: Int64) -> Bool {
        guard let status = try? files.status(of: file.descriptor) else { return true }
        return status.links == 0 || status.size < offset
    }

    // MARK: Writing

    /// Records that entries were added or removed. A record that cannot be written leaves the totals wrong until the
    /// next trim.
    func add(_ change: DiskTotals) {
        for _ in 0..<Self.attempts {
            guard let file = state.withLock({ $0.file }) else {
                // There is either a new ledger to write to, or none at all.
                if read(), state.withLock({ $0.file != nil }) { continue }
                return state.withLock { $0.reading.count(change) }
            }
            LedgerRecord.change(change).bytes.withUnsafeBytes { line in
                _ = try? files.write(file.descriptor, [line])
            }
            // A ledger that has been replaced is not read any more, so the record must go to the new one.
            if !isGone(file, offset: 0) { return }
            if !read() { return }
        }
    }

    /// Returns the current position, to be taken after a scan: the scan has not seen any change that is added after it.
    func mark() -> Mark {
        _ = read()
        return state.withLock { Mark(file: $0.file, reading: $0.reading) }
    }

    /// Begins a new ledger once all entries have been scanned.
    func replace(_ totals: DiskTotals, lastTrim: Int64, since mark: Mark?) throws(CacheError) {
        var totals = totals
        // The changes that this process has counted itself while there was no ledger to write to.
        var alone: DiskTotals?
        if let mark, let file = mark.file {
            var reading = mark.reading
            let before = reading.totals
            if readOn(file, &reading) { totals = totals + reading.totals + -before }
        } else if let mark {
            let now = state.withLock { $0.file == nil ? $0.reading.totals : mark.reading.totals }
            totals = totals + now + -mark.reading.totals
            alone = now
        }
        let line = LedgerRecord.opening(totals, lastTrim: lastTrim).bytes
        var new = State()
        defer {
            // Changes that were made while the new ledger was written are added to it.
            let late = state.withLock { state in
                let late = state.file == nil ? alone.map { state.reading.totals + -$0 } : nil
                state = new
                return late
            }
            if let late, late != DiskTotals() { add(late) }
        }
        do throws(CacheError) {
            guard let line = Bytes(line) else { throw .noMemory }
            _ = try FileWriter(directory: directory).write([line.pointer], as: Self.name)
        } catch {
            line.withUnsafeBytes { new.isAlone = new.reading.take($0) }
            // The old ledger is wrong now. If it cannot be removed, other processes trust it until the next trim.
            do throws(SystemError) {
                try files.removeIfThere(Self.name, in: directory.descriptor)
            } catch {
                throw .system(.remove, errno: error.errno)
            }
        }
    }
}

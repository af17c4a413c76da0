/// The options of a disk cache. Times are in microseconds.
package struct DiskOptions: Sendable {
    /// The directory of the cache. Created for this user alone if it is missing.
    package var directory: String
    /// Read-only directories that are searched in this order after `directory`. They belong to this user or the system
    /// and contain entries in this library's format; their age does not matter.
    package var secondaryDirectories: [String] = []
    package var limits = DiskLimits()
    /// The body size in bytes from which a body is mapped from its file instead of read into memory; nil means never.
    /// If another process truncates a mapped file, reading the body ends the process with SIGBUS.
    package var mapFrom: Int?
    package var sync = SyncPolicy.none

    package init(directory: String) { self.directory = directory }

    /// The guarantee that a write gives. With any of these, a crash of the program alone loses nothing.
    package enum SyncPolicy: Sendable {
        /// Waits for nothing. A crash of the system may leave a damaged entry, which is then detected and treated as a
        /// miss.
        case none
        /// Waits until the entry's bytes are on disk.
        case data
        /// Waits until the entry's bytes and its name are on disk.
        case full
    }
}

/// The limits of a disk cache: how much it keeps, and for how long. Changeable at any time; a new limit applies from
/// the next lookup or trim on. Times are in microseconds.
package struct DiskLimits: Equatable, Sendable {
    package enum DateKind: Sendable { case used, stored }

    /// The most bytes that all entries may take on disk before a trim is due; nil means no limit.
    package var maxBytes: Int64? = 512 << 20
    /// The percentage of `maxBytes` that a trim leaves once they are exceeded.
    package var lowWaterPercent: Int64 = 50
    /// The age at which entries expire. nil or negative means never; 0 means at once.
    package var maxAge: Int64? = 7 * 86_400 * 1_000_000
    /// The date that an entry's age and the order of removal are based on.
    package var dates = DateKind.used
    package var trimInterval: Int64 = 10 * 60 * 1_000_000
    /// The most bytes that interrupted downloads may take on disk.
    package var maxPartBytes: Int64 = 64 << 20
    package var maxPartAge: Int64 = 86_400 * 1_000_000

    package init() {}

    /// The shortest time between two uses for which the access time is written again.
    var shortestUse: Int64 {
        let minute: Int64 = 60 * 1_000_000
        guard let maxAge, maxAge >= 0 else { return minute }
        return min(minute, maxAge / 64)
    }

    /// The bytes that a trim leaves. Dividing first prevents an overflow.
    var lowWater: Int64? { maxBytes.map { $0 / 100 * lowWaterPercent + $0 % 100 * lowWaterPercent / 100 } }

    /// Whether an entry used or stored at `date` is expired at `now`. A date in the future, from before a clock was set
    /// back, counts as now.
    func isExpired(_ date: Int64, at now: Int64) -> Bool {
        guard let maxAge, maxAge >= 0 else { return false }
        return DiskAge.of(date, at: now) >= maxAge
    }

    func date(used: Int64, stored: Int64) -> Int64 {
        switch dates {
        // Storing an entry is a use: on a file system without access times there is only the modification time.
        case .used: max(used, stored)
        case .stored: stored
        }
    }
}

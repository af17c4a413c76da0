/// What a cache on disk is made with. Times are microseconds.
package struct DiskOptions: Sendable {
    /// Made if it is missing, for this user alone.
    package var directory: String
    /// Looked into after that one, in this order, and never written to: of this user or the system's, with entries as
    /// this library writes them, of any age.
    package var secondaryDirectories: [String] = []
    package var limits = DiskLimits()
    /// From how many bytes on a body is a mapping of its file, instead of memory; nil: never. A mapping reads as the
    /// file does: somebody who cuts it short ends the process by SIGBUS.
    package var mapFrom: Int?
    package var sync = SyncPolicy.none

    package init(directory: String) { self.directory = directory }

    /// What a write waits for. A crash of the program alone loses nothing with any of them.
    package enum SyncPolicy: Sendable {
        /// Nothing: after a crash of the system an entry may be damaged, which is then found, and a miss.
        case none
        /// The entry's bytes.
        case data
        /// The entry, with its name.
        case full
    }
}

/// What is kept, and for how long. Changeable at any time; it counts from the next look or trim on. Times are
/// microseconds.
package struct DiskLimits: Equatable, Sendable {
    package enum DateKind: Sendable { case used, stored }

    /// What all entries may take of the disk; over it a trim is due. nil: any.
    package var maxBytes: Int64? = 512 << 20
    /// What a trim leaves then, of `maxBytes`.
    package var lowWaterPercent: Int64 = 50
    /// nil or negative: for ever. 0: none is good.
    package var maxAge: Int64? = 7 * 86_400 * 1_000_000
    /// What age and order are counted from.
    package var dates = DateKind.used
    package var trimInterval: Int64 = 10 * 60 * 1_000_000
    /// For bodies that were cut off.
    package var maxPartBytes: Int64 = 64 << 20
    package var maxPartAge: Int64 = 86_400 * 1_000_000

    package init() {}

    /// A use so soon after the last that the file tells of is not worth a write.
    var shortestUse: Int64 {
        let minute: Int64 = 60 * 1_000_000
        guard let maxAge, maxAge >= 0 else { return minute }
        return min(minute, maxAge / 64)
    }

    /// In this order, so that nothing overflows.
    var lowWater: Int64? { maxBytes.map { $0 / 100 * lowWaterPercent + $0 % 100 * lowWaterPercent / 100 } }

    /// Whether what was used, or stored, then is too old now. Times in the future, from before a clock was set back,
    /// count as now.
    func isExpired(_ date: Int64, at now: Int64) -> Bool {
        guard let maxAge, maxAge >= 0 else { return false }
        return DiskAge.of(date, at: now) >= maxAge
    }

    func date(used: Int64, stored: Int64) -> Int64 {
        switch dates {
        // Whoever stores it uses it: a file system without access times has only the other.
        case .used: max(used, stored)
        case .stored: stored
        }
    }
}

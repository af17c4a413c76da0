/// The size and number of all entries. Bytes are those taken on disk, here and wherever this library reports the size
/// of a cache.
package struct DiskTotals: Equatable, Sendable {
    package var bytes: Int64
    package var count: Int64

    package init(bytes: Int64 = 0, count: Int64 = 0) {
        self.bytes = bytes
        self.count = count
    }

    /// Adds without overflow, since sizes come from files and may have any value.
    static func + (a: DiskTotals, b: DiskTotals) -> DiskTotals {
        DiskTotals(bytes: sum(a.bytes, b.bytes), count: sum(a.count, b.count))
    }

    static prefix func - (a: DiskTotals) -> DiskTotals {
        DiskTotals(bytes: sum(0, -max(a.bytes, -.max)), count: sum(0, -max(a.count, -.max)))
    }

    private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? (a < 0 ? .min : .max) : sum
    }
}

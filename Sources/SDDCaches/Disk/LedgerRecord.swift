internal import SDDBase

/// A record of the ledger: 40 bytes, written by a single write, so that the records of several processes follow one
/// another. Pure.
enum LedgerRecord: Equatable {
    /// The first record: the totals when the ledger was begun, and the time of the last trim in microseconds.
    case opening(DiskTotals, lastTrim: Int64)
    /// Entries were added or removed.
    case change(DiskTotals)

    static let length = 40
    private static let magic: UInt32 = 0x7364_646c  // "sddl"

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.length)
        bytes.append(number: Self.magic)
        let (kind, totals, time): (UInt32, DiskTotals, Int64) =
            switch self {
            case .opening(let totals, let lastTrim): (1, totals, lastTrim)
            case .change(let totals): (2, totals, 0)
            }
        bytes.append(number: kind)
        bytes.append(number: totals.bytes)
        bytes.append(number: totals.count)
        bytes.append(number: time)
        bytes.append(number: bytes.withUnsafeBytes { XXH64.sum(of: $0) })
        return bytes
    }

    /// Decodes a record; returns nil if the bytes are not one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.length else { return nil }
        var reading = BytesReading(bytes)
        guard reading.number() == Self.magic, let kind: UInt32 = reading.number(),
            let size: Int64 = reading.number(), let count: Int64 = reading.number(),
            let time: Int64 = reading.number(),
            reading.number() == XXH64.sum(of: UnsafeRawBufferPointer(rebasing: bytes[..<(Self.length - 8)]))
        else { return nil }
        let totals = DiskTotals(bytes: size, count: count)
        switch kind {
        case 1: self = .opening(totals, lastTrim: time)
        case 2: self = .change(totals)
        default: return nil
        }
    }
}

/// The totals of a ledger as far as it has been read. Pure: takes its bytes in order.
struct LedgerReading: Equatable {
    private(set) var totals = DiskTotals()
    private(set) var lastTrim: Int64 = 0
    /// The offset of the next record.
    private(set) var offset: Int64 = 0

    /// Counts a change that is not recorded in the ledger.
    mutating func count(_ change: DiskTotals) { totals = totals + change }

    /// - Returns: false if these are not records of a ledger. The last one may be incomplete, and is then read again
    ///   later.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while start + LedgerRecord.length <= bytes.count {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + LedgerRecord.length)])
            start += LedgerRecord.length
            switch LedgerRecord(line) {
            case .opening(let totals, let lastTrim) where offset == 0:
                self.totals = totals
                self.lastTrim = lastTrim
            case .change(let change) where offset > 0:
                totals = totals + change
            case nil where start == bytes.count && offset > 0:
                return true
            default:
                return false
            }
            offset += Int64(LedgerRecord.length)
        }
        return true
    }
}

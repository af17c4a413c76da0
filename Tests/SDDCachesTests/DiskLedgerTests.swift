import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct DiskLedgerTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private func expected(_ fixture: DiskFixture) throws -> DiskTotals {
        let blocks = try fixture.entries().map { try fixture.stat($0, "%b") * 512 }
        return DiskTotals(bytes: blocks.reduce(0, +), count: Int64(blocks.count))
    }

    @Test func countsTheChangesOfAllStores() throws {
        // given
        let stores = [try fixture.store(), try fixture.soundStore()]
        var random = SeededRandom(seed: 7)
        // when
        for step in 0..<60 {
            let store = try #require(stores.randomElement(using: &random))
            let key = "k\(Int.random(in: 0..<8, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: try store.write(key, randomBytes(Int.random(in: 0..<20_000, using: &random)))
            case 6..<8: try store.remove(key)
            case 8: _ = try store.trim()
            default: _ = try store.read(key)
            }
            // then
            let expected = try expected(fixture)
            for store in stores { #expect(try store.totals() == expected, "step \(step)") }
        }
        #expect(try fixture.store().totals() == expected(fixture))
    }

    @Test func openingExaminesNoEntry() throws {
        for number in 0..<50 { try fixture.soundStore().write("k\(number)", [1]) }
        // One directory and two subdirectories, each of which is created, opened and checked, and the file with the
        // secret key.
        _ = try fixture.store()
        #expect(fixture.files.calls < 20)
        #expect(try fixture.names().contains("ledger") == false)
        #expect(try fixture.store().totals().count == 50)
    }

    @Test func changesDuringACountAreCountedOnce() throws {
        // given
        let store = try fixture.store()
        for number in 0..<2000 { try store.write("k\(number)", [1]) }
        let count = try store.beginCount()
        var random = SeededRandom(seed: 3)
        var pieces = 0
        // when
        while try count.step() {
            pieces += 1
            for _ in 0..<20 {
                let key = "k\(Int.random(in: 0..<2400, using: &random))"
                if Bool.random(using: &random) {
                    try store.write(key, randomBytes(5000))
                } else {
                    try store.remove(key)
                }
            }
        }
        // then
        #expect(pieces > 2)
        let blocks = "stat -c %b [0-9a-f]*[0-9a-f] | awk '{ n += $1 } END { print n }'"
        let expected = DiskTotals(
            bytes: Int64(
                try run(["sh", "-c", "cd \(fixture.directory); \(blocks)"])
                    .text.filter { $0 != "\n" }) ?? 0, count: 0)
        #expect(try store.totals().bytes == expected.bytes * 512)
        #expect(try store.totals().count == Int64(fixture.entries().count))
    }

    @Test func openingDoesNotRebuildIt() throws {
        let store = try fixture.store()
        #expect(try store.totals() == DiskTotals())
        try store.write("k", [1])
        fixture.files.plan = .init(kind: .list)
        #expect(try fixture.store().totals().count == 1)
    }

    @Test(arguments: ["rm", "truncate -s 0", "truncate -s 39", "cp /etc/passwd"])
    func isRebuiltWhenMissingOrDamaged(command: String) throws {
        let store = try fixture.store()
        _ = try store.totals()
        for index in 0..<5 { try store.write("k\(index)", randomBytes(5000)) }
        _ = try run(["sh", "-c", command + " " + fixture.directory + "/ledger"])
        let expected = try expected(fixture)
        #expect(try fixture.store().totals() == expected)
        #expect(try store.totals() == expected)
        try store.write("new", [1])
        #expect(try fixture.store().totals().count == 6)
    }

    @Test func anIncompleteRecordIsDetectedWithTheNext() throws {
        let store = try fixture.store()
        _ = try store.totals()
        for index in 0..<5 { try store.write("k\(index)", randomBytes(5000)) }
        _ = try run(["truncate", "-s", "90", fixture.directory + "/ledger"])
        try fixture.store().write("new", [1])
        let expected = try expected(fixture)
        #expect(try store.totals() == expected)
        #expect(try fixture.store().totals() == expected)
    }

    @Test func aChangedBitIsDetectedAndTheLedgerRebuilt() throws {
        let store = try fixture.store()
        _ = try store.totals()
        for index in 0..<3 { try store.write("k\(index)", randomBytes(5000)) }
        let ledger = try fixture.content("ledger")
        #expect(ledger.count == 4 * 40)
        let expected = try expected(fixture)
        for byte in 0..<120 {
            var damaged = ledger
            damaged[byte] ^= 4
            try fixture.put("ledger", damaged)
            #expect(try fixture.soundStore().totals() == expected, "byte \(byte)")
        }
    }

    @Test func anIncompleteRecordIsLeftForLater() throws {
        var reading = LedgerReading()
        let lines =
            LedgerRecord.opening(DiskTotals(bytes: 5, count: 1), lastTrim: 9).bytes
            + LedgerRecord.change(DiskTotals(bytes: -2, count: 3)).bytes
        for end in [39, 40, 79] {
            reading = LedgerReading()
            #expect(lines[..<end].withUnsafeBytes { reading.take($0) })
            #expect(reading.offset == (end < 40 ? 0 : 40))
        }
        #expect(lines[40...].withUnsafeBytes { reading.take($0) })
        #expect(reading.totals == DiskTotals(bytes: 3, count: 4))
        #expect(reading.lastTrim == 9)
        // A second opening record, or a change before the first opening, makes a ledger invalid.
        #expect(!lines.withUnsafeBytes { reading.take($0) })
        var other = LedgerReading()
        #expect(!lines[40...].withUnsafeBytes { other.take($0) })
    }

    @Test func sumsNeverTrap() {
        var reading = LedgerReading()
        let most = LedgerRecord.change(DiskTotals(bytes: .max, count: .min)).bytes
        let lines = LedgerRecord.opening(DiskTotals(bytes: .max, count: .min), lastTrim: .min).bytes + most + most
        #expect(lines.withUnsafeBytes { reading.take($0) })
        #expect(reading.totals == DiskTotals(bytes: .max, count: .min))
        #expect(-DiskTotals(bytes: .min, count: .max) == DiskTotals(bytes: .max, count: -.max))
    }

    @Test func withoutALedgerAStoreCountsForItself() throws {
        fixture.files.plan = .init(kind: .rename, errno: ENOSPC)
        let store = try fixture.store()
        #expect(try store.totals() == DiskTotals())
        fixture.files.plan = .init()
        try store.write("k", [1])
        #expect(try store.totals().count == 1)
        _ = try store.trim()
        #expect(try fixture.store().totals().count == 1)
    }
}

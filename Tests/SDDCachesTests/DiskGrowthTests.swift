import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// The number of system calls that an operation makes does not depend on the number of entries.
@Suite struct DiskGrowthTests {
    /// Returns the number of calls that each operation makes per hundred entries, among `count` entries.
    private func calls(among count: Int) throws -> [String: Int] {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        _ = try store.totals()
        var calls: [String: Int] = [:]
        func measure(_ name: String, _ body: () throws -> Void) rethrows {
            let before = fixture.files.calls
            try body()
            calls[name] = (fixture.files.calls - before) * 100 / count
        }
        try measure("store") { for number in 0..<count { try store.write("k\(number)", [1]) } }
        try measure("find") { for number in 0..<count { _ = try store.read("k\(number)") } }
        try measure("miss") { for number in 0..<count { _ = try store.read("m\(number)") } }
        try measure("trim that keeps all") { _ = try #require(try store.trim()) }
        try measure("remove a half") { for number in 0..<(count / 2) { try store.remove("k\(number)") } }
        store.limits.maxAge = 0
        fixture.time.advance(microseconds: 1)
        try measure("trim that keeps nothing") { _ = try #require(try store.trim()) }
        #expect(try store.totals() == DiskTotals())
        return calls
    }

    @Test func eachOperationCostsTheSameAmongMoreEntries() throws {
        // given
        let (few, many) = (try calls(among: 300), try calls(among: TestLength.count(100_000, short: 1500)))
        // then
        #expect(few.count == 6 && few.values.allSatisfy { $0 > 0 })
        for (name, count) in few {
            let more = many[name] ?? .max
            // Some calls are made once for all entries, and weigh more among few.
            #expect(more <= count + count / 10, "\(name): \(more) calls for a hundred, \(count) among few")
        }
    }

    /// A listing forgets the files that it has shown, also those that other processes are writing.
    @Test func aScanKeepsNothingThatWasTaken() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        for number in 0..<20 { try store.write("k\(number)", [1]) }
        for _ in 0..<20 { try fixture.put(TemporaryName.make(), [1]) }
        var scan = try DirectoryScan(store.directory)
        var found = 0
        while try scan.read(most: 4) {
            found += scan.take().count
            #expect(scan.entries.isEmpty && scan.temporaries.isEmpty)
        }
        #expect(found + scan.take().count == 20)
    }

    /// Opening examines no entry, and one step of a trim examines a limited number.
    @Test func aStepOfATrimIsBounded() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        let entries = TestLength.count(3000, short: 1200)
        for number in 0..<entries { try store.write("k\(number)", [1]) }
        let before = fixture.files.calls
        _ = try fixture.store()
        #expect(fixture.files.calls - before < 20)
        store.limits.maxAge = 0
        fixture.time.advance(microseconds: 1)
        let trim = try #require(try store.beginTrim())
        var (most, pieces, hasMore) = (0, 0, true)
        while hasMore {
            let before = fixture.files.calls
            hasMore = try trim.step()
            most = max(most, fixture.files.calls - before)
            pieces += 1
        }
        #expect(most <= 600 && pieces > TestLength.count(20, short: 8) && trim.outcome?.removed.count == Int64(entries))
    }

    /// A count that has seen an entry waits until the entry is in the ledger, which would count it once more.
    @Test func aCountDoesNotEndBetweenAnEntryAndItsRecord() throws {
        // given
        let fixture = try DiskFixture()
        let store = try fixture.store()
        let (isRenamed, isCounted) = (Monitor(false), Monitor(false))
        // Once the entry can be seen, its writer waits for the count, or for the count to wait for it.
        fixture.files.plan = FaultyFiles.Plan(afterRename: {
            guard
                isRenamed.withLock({ isRenamed in
                    defer { isRenamed = true }
                    return !isRenamed
                })
            else { return }
            isRenamed.broadcast()
            while !store.changes.isClosed, !isCounted.withLock({ $0 }) { usleep(1000) }
        })
        let writer = try NativeThread(name: "writer") { try? store.write("k", [1]) }
        isRenamed.wait { $0 ? () : nil }
        // when
        let counter = try NativeThread(name: "counter") {
            if let count = try? store.beginCount() { while (try? count.step()) ?? false {} }
            isCounted.withLock { $0 = true }
        }
        writer.join()
        counter.join()
        // then
        #expect(try store.totals().count == 1)
    }

    /// A count that begins within a change looks its file up again, which may appear behind the scan.
    @Test func aCountThatBeginsWithinAChangeKnowsOfIt() throws {
        // given
        let fixture = try DiskFixture()
        let store = try fixture.store()
        let (isWriting, isScanned) = (Monitor(false), Monitor(false))
        fixture.files.plan = FaultyFiles.Plan(before: { kind in
            guard kind == .rename, isWriting.withLock({ !$0 }) else { return }
            isWriting.withLock { $0 = true }
            isWriting.broadcast()
            // The count waits with its end for the end of the change.
            while !store.changes.isClosed, !isScanned.withLock({ $0 }) { usleep(1000) }
        })
        let writer = try NativeThread(name: "writer") { try? store.write("k", [1]) }
        isWriting.wait { $0 ? () : nil }
        // when
        let count = try store.beginCount()
        while try count.step() {}
        isScanned.withLock { $0 = true }
        writer.join()
        // then
        #expect(try store.totals().count == 1)
    }

    /// Without a ledger the entries are counted while others are stored: each is counted once, whenever the count ends.
    @Test func anEntryStoredDuringACountIsCountedOnce() async throws {
        for round in 0..<40 {
            let fixture = try DiskFixture()
            let store = try fixture.soundStore()
            async let stored: Void = { for number in 0..<20 { try store.write("k\(number)", [1]) } }()
            let count = try store.beginCount()
            while try count.step() {}
            try await stored
            let totals = try store.totals()
            #expect(totals.count == 20, "round \(round)")
        }
    }
}

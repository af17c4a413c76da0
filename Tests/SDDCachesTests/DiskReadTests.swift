import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// The wishes of callers to read entries, which may be withdrawn and become more urgent.
@Suite struct DiskReadTests {
    @Test("a read that was withdrawn is not made, and an urgent one does not wait behind others")
    func withdrawnReadsAreNotMade() throws {
        // given: both threads are busy
        let fixture = try DiskFixture()
        let counters = CacheCounters()
        // Count now, so that no thread begins by counting the entries.
        _ = try fixture.soundStore().totals()
        let cache = try DiskCache.make(fixture.store(), counters: counters, trimInterval: nil, time: fixture.time)
        defer { cache.stop() }
        let (busy, gate) = (Expectation(count: 2), Expectation())
        for _ in 0..<2 {
            cache.read {
                busy.fulfil()
                _ = gate.wait()
            }
        }
        #expect(busy.wait())
        let answers = Recorder<String>()
        let (withdrawn, late) = (DiskRead(), DiskRead(priority: .low))
        for _ in 0..<100 { cache.read("w", for: withdrawn) { _ in answers.record("withdrawn") } }
        cache.read("n", for: DiskRead()) { _ in answers.record("normal") }
        cache.read("l", for: late) { _ in answers.record("late") }
        // when
        withdrawn.withdraw()
        cache.raise(late, to: .veryHigh)
        gate.fulfil()
        // then
        #expect(answers.wait(count: 2)?.sorted() == ["late", "normal"])
        #expect(answers.all.count == 2 && counters[.diskMisses] == 2)
    }

    @Test("a read between two entries that are still to be created gets the later one")
    func readsWaitForTheNewestEntry() throws {
        // given
        let fixture = try DiskFixture()
        let cache = try DiskCache.make(
            fixture.store(), counters: CacheCounters(), trimInterval: nil, time: fixture.time)
        defer { cache.stop() }
        let gate = Expectation()
        cache.change { _ = gate.wait() }
        let answers = Recorder<Int?>()
        func store(_ count: Int) throws {
            let body = try #require(Bytes([UInt8](repeating: 1, count: count)))
            cache.store("k", then: { _ in }, make: { .entry(EntryMetadata(key: "k"), body) })
        }
        // when
        try store(1)
        cache.read("k") { answers.record($0?.body.count) }
        try store(2)
        gate.fulfil()
        // then
        #expect(answers.wait(count: 1) == [2])
    }
}

import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct DiskTrimTests {
    private static let second: Int64 = 1_000_000

    private func entry(_ name: String, used: Int64, stored: Int64, size: Int64) -> DirectoryScan.Entry {
        DirectoryScan.Entry(name: name, used: used, modified: stored, allocated: size, number: 0)
    }

    // MARK: The plan

    /// Returns the names of the entries to keep, by the simplest means: it looks for the next victim again and again.
    private func naive(_ entries: [DirectoryScan.Entry], _ limits: DiskLimits, now: Int64) -> Set<String> {
        func date(_ entry: DirectoryScan.Entry) -> Int64 {
            let date = limits.dates == .stored ? entry.modified : max(entry.used, entry.modified)
            return date > now ? .min : date
        }
        var kept = entries
        if let age = limits.maxAge, age >= 0 { kept = kept.filter { now - (date($0) == .min ? now : date($0)) < age } }
        func total() -> Int64 { kept.reduce(0) { $0 + $1.allocated } }
        guard let most = limits.maxBytes, total() > most else { return Set(kept.map(\.name)) }
        while total() > most * limits.lowWaterPercent / 100 {
            var oldest = 0
            for index in kept.indices
            where date(kept[index]) < date(kept[oldest])
                || date(kept[index]) == date(kept[oldest]) && kept[index].name < kept[oldest].name
            {
                oldest = index
            }
            kept.remove(at: oldest)
        }
        return Set(kept.map(\.name))
    }

    @Test("I8: by age, then the oldest, as a naive plan does")
    func plansLikeANaiveModel() {
        for seed: UInt64 in 0..<2000 {
            var random = SeededRandom(seed: seed)
            let now: Int64 = 1000
            let entries = (0..<Int.random(in: 0...30, using: &random)).map { index in
                entry(
                    "e\(index)", used: Int64.random(in: 0...1100, using: &random),
                    stored: Int64.random(in: 0...1100, using: &random),
                    size: Int64.random(in: 0...10, using: &random) * 512)
            }
            var limits = DiskLimits()
            limits.maxBytes = ([nil, 0, 512 * 20, 512 * 60] as [Int64?]).randomElement(using: &random) ?? nil
            limits.lowWaterPercent = [50, 50, 0, 90, 100].randomElement(using: &random) ?? 50
            limits.maxAge = [nil, -1, 0, 100, 500].randomElement(using: &random) ?? nil
            limits.dates = [.used, .stored].randomElement(using: &random) ?? .used
            let victims = TrimPlan(entries, limits: limits, now: now).victims
            #expect(Set(victims).count == victims.count, "seed \(seed)")
            let kept = Set(entries.indices.filter { !victims.contains($0) }.map { entries[$0].name })
            #expect(kept == naive(entries, limits, now: now), "seed \(seed)")
        }
    }

    @Test func numbersFromFilesNeverTrap() {
        let odd: [Int64] = [.min, -1, 0, .max]
        let entries = odd.flatMap { a in odd.map { entry("\(a) \($0)", used: a, stored: $0, size: a) } }
        for now in odd {
            for age in odd {
                var limits = DiskLimits()
                limits.maxAge = age
                limits.maxBytes = now
                _ = TrimPlan(entries, limits: limits, now: now)
            }
        }
    }

    // MARK: On disk

    @Test("I8 I10: the oldest go until half the limit is left; sizes are what the disk gives")
    func removesTheOldest() throws {
        // given
        let fixture = try DiskFixture()
        let store = try fixture.store()
        for index in 0..<10 {
            try store.write("k\(index)", randomBytes(10_000))
            fixture.time.advance(microseconds: 10 * Self.second)
        }
        let size = try fixture.stat(EntryName(key: "k0").full, "%b") * 512
        #expect(try store.totals() == DiskTotals(bytes: 10 * size, count: 10))
        // Used last of all, but only in memory.
        #expect(try store.read("k0") != nil)
        // when
        store.limits.maxBytes = 10 * size - 1
        #expect(try store.isTrimDue())
        let trimmed = try #require(try store.trim())
        // then
        #expect(trimmed.removed == DiskTotals(bytes: 6 * size, count: 6))
        #expect(trimmed.left == DiskTotals(bytes: 4 * size, count: 4))
        #expect(try store.totals() == trimmed.left)
        #expect(try (0..<10).filter { try store.contains("k\($0)") } == [0, 7, 8, 9])
        #expect(try !store.isTrimDue())
        fixture.time.advance(microseconds: store.limits.trimInterval)
        #expect(try store.isTrimDue())
    }

    @Test func leavesForeignFilesAlone() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        try store.write("k", [1])
        let own = try fixture.entries()
        try fixture.put("README", [1])
        try fixture.put("deadbeef.jpg", [1])
        _ = try run(["mkdir", fixture.directory + "/16ada05214aa9a815c6159c4ab557994"])
        _ = try run(["ln", "-s", "/etc/passwd", fixture.directory + "/26ada05214aa9a815c6159c4ab557994"])
        store.limits.maxAge = 0
        #expect(try store.trim()?.removed.count == 1)
        #expect(
            try Set(fixture.entries()) == [
                "README", "deadbeef.jpg", "16ada05214aa9a815c6159c4ab557994", "26ada05214aa9a815c6159c4ab557994",
            ])
        #expect(own.count == 1)
    }

    @Test func removesTemporaryFilesOfDeadWriters() throws {
        // given
        let fixture = try DiskFixture()
        let store = try fixture.store()
        let me = ProcessIdentity.current()
        let dead = ProcessIdentity(process: me.process, start: me.start + 1, namespace: me.namespace)
        let far = ProcessIdentity(process: me.process, start: me.start + 1, namespace: me.namespace + 1)
        for owner in [me, dead, far] { try fixture.put("new.\(owner.text).x", [1]) }
        fixture.time.setWall(microseconds: SystemTime().wallMicroseconds())
        // when, then
        _ = try store.trim()
        #expect(try Set(fixture.entries()) == ["new.\(me.text).x", "new.\(far.text).x"])
        // A clock that is set forward makes no file of a living writer old.
        fixture.time.advance(microseconds: 601 * Self.second)
        _ = try store.trim()
        #expect(try fixture.entries() == ["new.\(me.text).x"])
        try store.clear()
        #expect(try fixture.entries() == ["new.\(me.text).x"])
    }

    @Test func onlyOneTrimRunsAtATime() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        let lock = open(fixture.directory + "/trim.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        #expect(try store.trim() == nil)
        try store.write("k", [1])
        try store.clear()
        #expect(try fixture.entries().isEmpty)
        flock(lock, LOCK_UN)
        #expect(try store.trim() != nil)
    }

    @Test("I25: a reader keeps the entry that it has open")
    func clearsUnderReaders() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        let other = try fixture.soundStore()
        let body = randomBytes(5000)
        for index in 0..<20 { try store.write("k\(index)", body) }
        let file = try #require(try other.openBody("k7"))
        defer { close(file.descriptor) }
        try store.clear()
        #expect(try fixture.entries().isEmpty)
        #expect(try store.totals() == DiskTotals())
        #expect(try other.totals() == DiskTotals())
        var read = [UInt8](repeating: 0, count: 5000)
        #expect(pread(file.descriptor, &read, 5000, 0) == 5000 && read == body)
        try other.write("k", [1])
        #expect(try store.totals().count == 1)
    }
}

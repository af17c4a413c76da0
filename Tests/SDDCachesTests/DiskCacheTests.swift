import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// A disk cache with its threads, on a real store.
@Suite struct DiskCacheTests {
    private let fixture: DiskFixture
    private let counters = CacheCounters()

    init() throws { fixture = try DiskFixture() }

    /// Makes a cache, which the test must stop.
    private func cache(trimInterval: Int64? = nil, mostHeldBytes: Int = .max) throws -> DiskCache {
        // Count now, so that no thread begins by counting the entries.
        _ = try fixture.soundStore().totals()
        return try DiskCache.make(
            fixture.store(), counters: counters, trimInterval: trimInterval, mostHeldBytes: mostHeldBytes,
            time: fixture.time)
    }

    private func entry(_ key: String) -> EntryMetadata { EntryMetadata(key: key, format: 1) }

    private func body(_ text: String) throws -> Bytes { try #require(Bytes(Array(text.utf8))) }

    private func text(_ entry: StoredEntry?) -> String? {
        entry.map { String(decoding: $0.body.pointer, as: UTF8.self) }
    }

    /// Blocks writes of entries until the gate is opened.
    private func blockWrites() -> (reached: TestSupport.Expectation, gate: TestSupport.Expectation) {
        let (reached, gate) = (Expectation(), Expectation())
        fixture.files.plan = FaultyFiles.Plan { kind in
            guard kind == .rename else { return }
            reached.fulfil()
            _ = gate.wait()
        }
        return (reached, gate)
    }

    private func read(_ cache: DiskCache, _ key: String) throws -> String? {
        let answers = Recorder<String?>()
        let text = text
        cache.read(key) { answers.record(text($0)) }
        return try #require(answers.wait(count: 1)).first ?? nil
    }

    // MARK: Wake-ups

    /// If a flush that waits took a wake-up meant for the disk threads, the change would never be made.
    @Test func aFlushDoesNotConsumeTheThreadsWakeUps() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        let count = 20_000
        let done = Monitor(0)
        let thread = try NativeThread(name: "changer") {
            for number in 1...count {
                cache.change {
                    done.withLock { $0 = number }
                    done.broadcast()
                }
                // Otherwise the next change would wake a thread for this one.
                if done.wait(milliseconds: 20_000, until: { $0 == number ? true : nil }) == nil { return }
            }
        }
        // when: each flush covers the changes so far
        var isWhole = true
        while isWhole, done.withLock({ $0 }) < count { isWhole = cache.flush(milliseconds: 10_000) }
        // then
        #expect(isWhole)
        // A new task wakes a thread, so that both can go on.
        if !isWhole { cache.read {} }
        thread.join()
        #expect(done.withLock { $0 } == count)
    }

    // MARK: Visible before it is written

    @Test func aReadIsServedWhileAWriteStandsStill() throws {
        // given
        try fixture.soundStore().write("b", Array("old".utf8))
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        defer { gate.fulfil() }
        // when
        cache.store(entry("a"), try body("new"))
        #expect(reached.wait())
        // then
        #expect(try read(cache, "b") == "old")
        // Lookups see both the write under way and the one that waits.
        cache.store(entry("c"), try body("later"))
        #expect(try read(cache, "a") == "new" && read(cache, "c") == "later")
        #expect(text(cache.read("c")) == "later" && cache.contains("c"))
        #expect(try fixture.entries().filter { !TemporaryName.isOne($0) }.count == 1)
        #expect(counters[.diskHits] == 4 && counters[.diskMisses] == 0)
    }

    @Test func aRemovedEntryIsGoneBeforeOlderWritesFinish() throws {
        // given
        try fixture.soundStore().write("b", Array("old".utf8))
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        cache.store(entry("a"), try body("new"))
        #expect(reached.wait())
        // when
        cache.remove("a")
        cache.remove("b")
        // then
        #expect(try read(cache, "a") == nil && read(cache, "b") == nil && !cache.contains("b"))
        #expect(cache.openBody("a") == nil)
        gate.fulfil()
        #expect(cache.flush(milliseconds: -1))
        #expect(try fixture.soundStore().body("a") == nil && fixture.soundStore().body("b") == nil)
        #expect(counters[.diskMisses] == 2)
    }

    /// Found by the simulation: if the file of an entry could not be removed, a failed write brought it back, although
    /// another write that had succeeded had replaced it.
    @Test func aFailedWriteDoesNotBringBackAnEntryThatCannotBeRemoved() throws {
        // given
        try fixture.soundStore().write("a", Array("old".utf8))
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        cache.store(entry("b"), try body("other"))
        #expect(reached.wait())
        // when
        let told = Recorder<CacheError?>()
        cache.store(entry("a"), try body("replaced")) { told.record($0) }
        cache.store("a", then: { told.record($0) }, make: { .noMemory })
        fixture.files.plan = FaultyFiles.Plan(kind: .remove)
        gate.fulfil()
        // then
        #expect(told.wait(count: 2) == [nil, .noMemory])
        #expect(try read(cache, "a") == nil && !cache.contains("a"))
        fixture.files.plan = FaultyFiles.Plan()
        cache.store(entry("a"), try body("new"))
        #expect(cache.flush(milliseconds: -1))
        #expect(try fixture.soundStore().body("a") == Array("new".utf8))
    }

    @Test func clearedEntriesAreGoneBeforeOlderWritesFinish() throws {
        // given
        try fixture.soundStore().write("b", Array("old".utf8))
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        cache.store(entry("a"), try body("new"))
        #expect(reached.wait())
        // when
        cache.clear()
        cache.store(entry("c"), try body("after"))
        // then
        #expect(try read(cache, "a") == nil && read(cache, "b") == nil && read(cache, "c") == "after")
        gate.fulfil()
        #expect(cache.flush(milliseconds: -1))
        #expect(try fixture.soundStore().body("a") == nil && fixture.soundStore().body("b") == nil)
        #expect(try fixture.soundStore().body("c") == Array("after".utf8))
    }

    @Test func ofManyWritesForAKeyTheNewestIsWrittenAndEachFinishesOnce() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        let told = Recorder<Int>()
        // when
        for number in 0..<10 {
            cache.store(entry("a"), try body("\(number)")) { error in told.record(error == nil ? number : -1) }
            if number == 0 { #expect(reached.wait()) }
        }
        #expect(told.all.isEmpty)
        gate.fulfil()
        // then
        #expect(told.wait(count: 10).map { Set($0) } == Set(0..<10))
        #expect(cache.flush(milliseconds: -1) && told.all.count == 10)
        #expect(try fixture.soundStore().body("a") == Array("9".utf8))
        #expect(counters[.entriesWritten] == 2)
    }

    @Test func aFlushWaitsForEarlierChanges() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        cache.store(entry("a"), try body("new"))
        #expect(reached.wait())
        // then
        #expect(!cache.flush(milliseconds: 0) && !cache.flush(milliseconds: 5))
        gate.fulfil()
        #expect(cache.flush(milliseconds: -1) && cache.flush(milliseconds: 0))
        #expect(try fixture.soundStore().body("a") == Array("new".utf8))
    }

    // MARK: Entries made on a disk thread

    @Test func anEntryIsMadeOnceAndReadersWaitForIt() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        let (reached, gate) = (Expectation(), Expectation())
        let told = Recorder<CacheError?>()
        let (entry, made) = (entry("a"), try body("made"))
        cache.store("a") {
            told.record($0)
        } make: {
            reached.fulfil()
            _ = gate.wait()
            return .entry(entry, made)
        }
        #expect(reached.wait())
        // when
        let answers = Recorder<String?>()
        let text = text
        cache.read("a") { answers.record(text($0)) }
        #expect(answers.all.isEmpty)
        gate.fulfil()
        // then
        #expect(answers.wait(count: 1) == ["made"] && told.wait(count: 1) == [nil])
    }

    @Test("the function that makes an entry may read the same key: a disk thread does not wait for itself")
    func aMakerMayReadItsOwnKey() throws {
        // given
        try fixture.soundStore().write("a", Array("old".utf8))
        let cache = try cache()
        defer { cache.stop() }
        let seen = Recorder<String?>()
        let told = Recorder<CacheError?>()
        let text = text
        // when
        cache.store("a") {
            told.record($0)
        } make: {
            seen.record(text(cache.read("a")))
            seen.record(cache.contains("a") ? "there" : nil)
            if let file = cache.openBody("a") { close(file.descriptor) }
            return .nothing
        }
        // then
        #expect(told.wait(count: 1) == [nil] && seen.all == ["old", "there"])
        #expect(!cache.contains("a"))
    }

    /// Otherwise an image that the application has freed and trimmed could still be found in memory for a moment.
    @Test func anEntryIsFreedBeforeItsCompletionIsCalled() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        let freed = Recorder<Int>()
        let isFreedWhenTold = Recorder<Bool>()
        func make(_ number: Int) -> @Sendable () -> DiskQueue.Made {
            let witness = Witness(number) { freed.record(number) }
            return { withExtendedLifetime(witness) { .nothing } }
        }
        // The changes are made in order, so the first one holds the others up until this thread has let go of them.
        let mayGoOn = Expectation()
        cache.store(
            "first", then: { _ in },
            make: {
                _ = mayGoOn.wait()
                return .nothing
            })
        // when
        for number in 1...20 {
            cache.store(
                "a\(number)", then: { _ in isFreedWhenTold.record(freed.all.contains(number)) }, make: make(number))
        }
        mayGoOn.fulfil()
        // then
        #expect(isFreedWhenTold.wait(count: 20) == Array(repeating: true, count: 20))
    }

    @Test func anEntryThatCannotBeMadeIsAFailure() throws {
        let cache = try cache()
        defer { cache.stop() }
        let told = Recorder<CacheError?>()
        cache.store("a") {
            told.record($0)
        } make: {
            .impossible
        }
        #expect(told.wait(count: 1) == [.nothing])
        #expect(counters[.errors] == 0)
    }

    // MARK: Failures

    @Test func aFullDiskIsReportedCountedAndAMiss() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        fixture.files.plan = FaultyFiles.Plan(kind: .write, errno: ENOSPC)
        let told = Recorder<CacheError?>()
        // when
        cache.store(entry("a"), try body("new")) { told.record($0) }
        // then
        #expect(told.wait(count: 1) == [.system(.write, errno: ENOSPC)])
        #expect(try read(cache, "a") == nil)
        #expect(counters[.errors] == 1 && counters.lastError == ENOSPC && counters[.entriesWritten] == 0)
    }

    @Test func aFailedRemovalIsReportedAndTheEntryIsNotFound() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        cache.store(entry("a"), try body("new"))
        #expect(cache.flush(milliseconds: -1))
        for (kind, operation) in [(FaultyFiles.Kind.remove, CacheError.Operation.remove), (.status, .read)] {
            // when
            fixture.files.plan = FaultyFiles.Plan(kind: kind, errno: EIO)
            let failure = cache.waitForChange { cache.remove("a", then: $0) }
            // then
            #expect(failure == .system(operation, errno: EIO))
            #expect(try !cache.contains("a") && read(cache, "a") == nil && cache.openBody("a") == nil)
            #expect(
                cache.waitForChange { cache.clear(then: $0) } == .system(kind == .remove ? .remove : .list, errno: EIO))
        }
        fixture.files.plan = FaultyFiles.Plan()
        #expect(try fixture.soundStore().body("a") != nil)
        #expect(cache.waitForChange { cache.remove("a", then: $0) } == nil)
        #expect(try fixture.soundStore().body("a") == nil)
    }

    @Test("a removed entry does not come back because the next write failed")
    func aFailedWriteDoesNotBringBackARemovedEntry() throws {
        let cache = try cache()
        defer { cache.stop() }
        cache.store(entry("a"), try body("old"))
        #expect(cache.flush(milliseconds: -1))
        let (reached, gate) = blockWrites()
        cache.store(entry("b"), try body("other"))
        #expect(reached.wait())
        cache.remove("a")
        let told = Recorder<CacheError?>()
        cache.store("a") {
            told.record($0)
        } make: {
            .impossible
        }
        gate.fulfil()
        #expect(told.wait(count: 1) == [.nothing])
        #expect(try read(cache, "a") == nil && fixture.soundStore().body("a") == nil)
    }

    @Test func aTrimReportsFailedRemovals() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        cache.store(entry("a"), try body("new"))
        #expect(cache.flush(milliseconds: -1) && cache.trim())
        cache.store.limits.maxAge = 0
        // when
        fixture.files.plan = FaultyFiles.Plan(kind: .remove, errno: EACCES)
        #expect(!cache.trim())
        // then
        #expect(counters.lastError == EACCES && cache.totals?.count == 1)
        fixture.files.plan = FaultyFiles.Plan()
        #expect(cache.trim() && cache.totals?.count == 0)
    }

    // MARK: A disk that hangs

    @Test func writesNotWaitedForAreDroppedOverTheBudget() throws {
        // given
        let cache = try cache(mostHeldBytes: 100_000)
        defer { cache.stop() }
        let (reached, gate) = blockWrites()
        cache.store(entry("first"), try body("x"))
        #expect(reached.wait())
        let (awaited, dropped) = (Recorder<CacheError?>(), Recorder<CacheError?>())
        // when
        cache.store(entry("awaited"), try body("y"), isAwaited: true) { awaited.record($0) }
        let large = try #require(Bytes([UInt8](repeating: 1, count: 10_000)))
        for number in 0..<50 { cache.store(entry("\(number)"), large) { if $0 != nil { dropped.record($0) } } }
        // then
        #expect(cache.heldBytes <= 100_000 && cache.heldBytes > 80_000)
        #expect(counters[.writesDropped] > 40 && Int64(dropped.all.count) == counters[.writesDropped])
        #expect(dropped.all.allSatisfy { $0 == .dropped } && counters[.errors] == 0)
        #expect(try read(cache, "49") != nil)
        gate.fulfil()
        #expect(awaited.wait(count: 1) == [nil] && cache.flush(milliseconds: -1) && cache.heldBytes == 0)
        #expect(try fixture.soundStore().body("49") != nil && fixture.soundStore().body("0") == nil)
    }

    @Test func stoppingTimesOutOnADiskThatHangs() throws {
        // given
        let cache = try cache()
        let (reached, gate) = blockWrites()
        let told = Recorder<CacheError?>()
        cache.store(entry("hangs"), try body("x")) { told.record($0) }
        #expect(reached.wait())
        for number in 0..<10 { cache.store(entry("\(number)"), try body("y"), isAwaited: true) { told.record($0) } }
        let done = Expectation()
        cache.change { done.fulfil() }
        // when
        cache.stop(milliseconds: 20)
        // then
        #expect(told.all == Array(repeating: .dropped, count: 10) && counters[.writesDropped] == 10)
        #expect(cache.contains("0") == false && cache.isStopping)
        // The blocked thread ends by itself after it has done the rest of the work.
        gate.fulfil()
        #expect(told.wait(count: 11)?.last == .some(nil) && done.wait())
    }

    @Test func aTrimDoesNotDelayAStore() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        for number in 0..<600 { try fixture.soundStore().write("\(number)", [1]) }
        cache.store.limits.maxAge = 0
        let (reached, gate) = (Expectation(), Expectation())
        fixture.files.plan = FaultyFiles.Plan { kind in
            guard kind == .remove else { return }
            reached.fulfil()
            _ = gate.wait()
        }
        // when
        cache.trimSoon()
        #expect(reached.wait())
        // then
        let told = Recorder<CacheError?>()
        cache.store(entry("new"), try body("x")) { told.record($0) }
        #expect(told.wait(count: 1) == [nil])
        gate.fulfil()
        #expect(cache.trim() && cache.totals?.count == 0)
    }

    // MARK: Stopping

    @Test func stoppingFinishesAllWork() throws {
        // given
        let cache = try cache()
        let done = Recorder<Int>()
        // when
        cache.read(afterMilliseconds: 1 << 40) { done.record(0) }
        for number in 1...50 {
            cache.store(entry("\(number)"), try body("\(number)")) { if $0 == nil { done.record(number) } }
            cache.read { done.record(100 + number) }
        }
        cache.stop()
        // then
        #expect(Set(done.all) == Set(0...50).union(101...150) && done.all.count == 101)
        let store = try fixture.soundStore()
        for number in 1...50 { #expect(try store.body("\(number)") == Array("\(number)".utf8)) }
    }

    @Test("calls after the end are answered, and once")
    func callsAfterTheEndAreAnswered() throws {
        // given
        let cache = try cache()
        cache.store(entry("a"), try body("old"))
        cache.stop()
        let done = Recorder<String>()
        let text = text
        // when
        cache.store(entry("b"), try body("late")) { _ in done.record("stored") }
        cache.store("c") { _ in
            done.record("made")
        } make: {
            .impossible
        }
        cache.remove("a")
        cache.clear()
        cache.change { done.record("changed") }
        cache.read { done.record("read") }
        cache.read(afterMilliseconds: 1000) { done.record("timed") }
        cache.read("a") { done.record(text($0) ?? "nothing") }
        // then
        #expect(done.all == ["stored", "made", "changed", "read", "timed", "old"])
        #expect(cache.flush(milliseconds: 0) && text(cache.read("a")) == "old" && cache.isStopping)
    }

    @Test func stoppingDuringRequestsLosesNoAnswer() throws {
        for round in 0..<20 {
            let cache = try cache()
            let (told, started) = (Recorder<Int>(), Expectation(count: 100))
            let (entry, body) = (entry("\(round)"), try body("x"))
            let thread = try NativeThread(name: "test") {
                for number in 0..<400 {
                    cache.store(entry, body) { _ in told.record(number) }
                    cache.read("\(number)") { _ in told.record(1000 + number) }
                    started.fulfil()
                }
            }
            #expect(started.wait())
            cache.stop()
            thread.join()
            #expect(told.all.count == 800 && Set(told.all).count == 800)
        }
    }

    // MARK: Threads

    @Test func recognizesItsOwnThreads() throws {
        let cache = try cache()
        defer { cache.stop() }
        let answers = Recorder<Bool>()
        cache.read { answers.record(cache.isOwnThread) }
        cache.change { answers.record(cache.isOwnThread) }
        #expect(answers.wait(count: 2) == [true, true])
        #expect(!cache.isOwnThread)
    }

    @Test("a replaced value is freed outside the lock, since it may be the application's and call the cache")
    func replacedValuesAreFreedOutsideTheLock() throws {
        // given
        let cache = try cache()
        defer { cache.stop() }
        let gone = Recorder<Bool>()
        func keep(_ number: Int) -> @Sendable () -> DiskQueue.Made {
            let witness = Witness(number) { gone.record(cache.isStopping) }
            return { withExtendedLifetime(witness) { .impossible } }
        }
        let (reached, gate) = blockWrites()
        cache.store(entry("a"), try body("new"))
        #expect(reached.wait())
        // when
        cache.store("b", then: { _ in }, make: keep(1))
        cache.store("b", then: { _ in }, make: keep(2))
        #expect(gone.wait(count: 1) == [false])
        cache.clear()
        #expect(gone.wait(count: 2) == [false, false])
        cache.store("b", then: { _ in }, make: keep(3))
        gate.fulfil()
        // then
        #expect(gone.wait(count: 3) == [false, false, false])
    }

    // MARK: Times

    /// One of the two threads is blocked, so that the order of the other is that of the queue.
    @Test func delayedWorkRunsInTheOrderOfTheTimes() throws {
        // given
        let cache = try cache()
        let (reached, gate) = (Expectation(), Expectation())
        cache.read {
            reached.fulfil()
            _ = gate.wait()
        }
        #expect(reached.wait())
        let order = Recorder<Int64>()
        // when
        for delay: Int64 in [300_000, 100_000, 200_000] {
            cache.read(afterMilliseconds: delay) { order.record(delay) }
        }
        fixture.time.advance(milliseconds: 250_000)
        cache.read {}
        // then
        #expect(order.wait(count: 2) == [100_000, 200_000])
        gate.fulfil()
        cache.stop()
        #expect(order.all == [100_000, 200_000, 300_000])
    }

    @Test("P2: expired entries are removed in intervals, also while nothing uses the cache")
    func anIdleCacheRemovesExpiredEntries() throws {
        // given
        var fixture = fixture
        fixture.options.limits.maxAge = 7_200_000_000
        fixture.options.limits.trimInterval = 60_000_000
        let cache = try DiskCache.make(
            fixture.store(), counters: counters, trimInterval: 60_000_000, time: fixture.time)
        cache.store(entry("a"), try body("new"))
        #expect(cache.flush(milliseconds: -1))
        let removed = Expectation()
        fixture.files.plan = FaultyFiles.Plan { if $0 == .remove { removed.fulfil() } }
        // when: the first look finds an entry that is not old enough
        try pass(cache)
        #expect(!removed.isFulfilled)
        for _ in 0..<2 { try pass(cache) }
        // then: once the threads have ended, since a trim that is under way has a file of its own
        #expect(removed.wait())
        cache.stop()
        #expect(try fixture.entries().isEmpty)
    }

    /// Moves the clock by an hour and lets both threads notice and do the work that is due.
    private func pass(_ cache: DiskCache) throws {
        fixture.time.advance(milliseconds: 3_600_000)
        for _ in 0..<2 {
            let both = Expectation(count: 2)
            for _ in 0..<2 {
                cache.read {
                    both.fulfil()
                    _ = both.wait()
                }
            }
            #expect(both.wait())
        }
        #expect(cache.flush(milliseconds: -1))
    }
}

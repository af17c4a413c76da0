import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct DiskQueueTests {
    private static func entry(_ key: String, _ format: Int32) -> DiskQueue.Staged {
        .entry(EntryMetadata(key: key, format: format), Bytes(adopting: nil, count: 0))
    }

    private func change(_ piece: DiskQueue.Piece?) -> DiskQueue.Change? {
        guard case .change(let change) = piece else { return nil }
        return change
    }

    private func staged(_ piece: DiskQueue.Piece?) -> Int32? {
        guard case .entry(let metadata, _)? = change(piece)?.staged else { return nil }
        return metadata.format
    }

    /// Returns the format of the only value that a newer one replaced.
    private func format(_ released: ReleasedChanges) -> Int32? {
        guard released.values.count == 1, case .entry(let metadata, _)? = released.values.first else { return nil }
        return metadata.format
    }

    private func format(_ known: DiskQueue.Known) -> Int32? {
        if case .staged(let metadata, _) = known { metadata.format } else { nil }
    }

    private func isNothing(_ known: DiskQueue.Known) -> Bool { if case .nothing = known { true } else { false } }
    private func isUnknown(_ known: DiskQueue.Known) -> Bool { if case .unknown = known { true } else { false } }
    private func isRead(_ piece: DiskQueue.Piece?) -> Bool { if case .read = piece { true } else { false } }

    @Test("the most urgent reads come first, and a read may become more urgent while it waits")
    func readsComeByPriority() {
        var queue = DiskQueue()
        let done = Recorder<String>()
        let wishes = (low: DiskRead(priority: .low), high: DiskRead(priority: .high), raised: DiskRead(priority: .low))
        queue.read(for: wishes.low) { done.record("low") }
        queue.read { done.record("own") }
        queue.read(for: wishes.raised) { done.record("raised") }
        queue.read(for: wishes.high) { done.record("high") }
        // when: one that does not wait is left alone
        #expect(wishes.raised.raise(to: .veryHigh) && !wishes.raised.raise(to: .normal))
        queue.raise(wishes.raised)
        queue.raise(DiskRead(priority: .veryHigh))
        while case .read(let work)? = queue.next(at: 0) { work() }
        // then
        #expect(done.all == ["raised", "high", "own", "low"])
    }

    @Test("keys that are canonically equal, but of other bytes, are different keys")
    func bytesMakeTheKey() {
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("\u{e9}", 1), for: "\u{e9}")
        _ = queue.stage(Self.entry("e\u{301}", 2), for: "e\u{301}")
        #expect(format(queue.known("\u{e9}")) == 1 && format(queue.known("e\u{301}")) == 2)
        var failures = StoreFailures()
        failures.failed("\u{e9}", .nothing, isLost: true)
        #expect(failures["\u{e9}"] != nil && failures["e\u{301}"] == nil)
    }

    @Test func changesAreMadeOneAtATimeInTheirOrder() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        _ = queue.stage(Self.entry("b", 2), for: "b")
        // when
        let first = queue.next(at: 0)
        // then
        #expect(staged(first) == 1)
        #expect(queue.next(at: 0) == nil)
        _ = queue.changed(try #require(change(first)))
        #expect(staged(queue.next(at: 0)) == 2)
    }

    @Test func aReadDoesNotWaitForChanges() {
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        #expect(queue.stage(Self.entry("b", 2), for: "b").values.isEmpty)
        _ = queue.next(at: 0)
        queue.read {}
        #expect(isRead(queue.next(at: 0)))
    }

    @Test func onlyTheNewestValueOfAKeyIsWritten() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        // when
        let old = queue.stage(Self.entry("a", 2), for: "a")
        // then
        #expect(format(old) == 1)
        let first = queue.next(at: 0)
        #expect(change(first) != nil && staged(first) == nil)
        #expect(queue.changed(try #require(change(first))) == nil)
        #expect(staged(queue.next(at: 0)) == 2)
    }

    @Test func aNewerValueIsKeptWhileAnOlderOneIsWritten() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        let first = queue.next(at: 0)
        _ = queue.stage(Self.entry("a", 2), for: "a")
        // when
        _ = queue.changed(try #require(change(first)))
        // then
        #expect(format(queue.known("a")) == 2)
    }

    @Test func afterAClearNothingIsFound() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        // when
        #expect(queue.clear().values.count == 1)
        _ = queue.stage(Self.entry("b", 2), for: "b")
        // then
        #expect(isNothing(queue.known("a")) && isNothing(queue.known("never stored")))
        #expect(format(queue.known("b")) == 2)
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        #expect(isUnknown(queue.known("a")) && isUnknown(queue.known("b")))
    }

    // MARK: Dropped writes

    @Test func overTheBudgetTheOldestUnawaitedWriteIsDropped() {
        // given
        var queue = DiskQueue(mostHeldBytes: 10_000)
        let told = Recorder<String>()
        func stage(_ key: String, isAwaited: Bool = false) -> Int64 {
            let released = queue.stage(Self.entry(key, 1), for: key, cost: 3000, isAwaited: isAwaited) { error in
                told.record(key + (error == .dropped ? " dropped" : " done"))
            }
            released.tell()
            return released.droppedCount
        }
        #expect(stage("under way") == 0)
        _ = queue.next(at: 0)
        #expect(stage("awaited", isAwaited: true) == 0 && stage("a") == 0)
        // when
        #expect(stage("b") == 1)
        // then
        #expect(told.all == ["a dropped"] && isUnknown(queue.known("a")))
        #expect(queue.heldBytes <= 10_000 && queue.heldBytes > 9000)
        // Everything left is awaited, under way, or the newest.
        #expect(stage("c", isAwaited: true) == 1 && told.all.last == "b dropped")
        #expect(stage("d") == 0 && queue.heldBytes > 10_000)
    }

    @Test func aWriteThatAFlushWaitsForIsNotDropped() {
        var queue = DiskQueue(mostHeldBytes: 1000)
        _ = queue.stage(Self.entry("a", 1), for: "a", cost: 900)
        let last = queue.beginFlush()
        #expect(queue.stage(Self.entry("b", 2), for: "b", cost: 900).droppedCount == 0)
        #expect(queue.stage(Self.entry("c", 3), for: "c", cost: 900).droppedCount == 1)
        #expect(format(queue.known("a")) == 1 && isUnknown(queue.known("b")))
        queue.endFlush(last)
    }

    @Test func aDroppedWriteRemovesAnEntryThatIsKnownToBeOutdated() throws {
        // given
        var queue = DiskQueue(mostHeldBytes: 1000)
        _ = queue.stage(Self.entry("a", 1), for: "a", cost: 900, older: .outdated)
        // when
        #expect(queue.stage(Self.entry("b", 2), for: "b", cost: 900).droppedCount == 1)
        // then
        #expect(isNothing(queue.known("a")))
        let first = try #require(change(queue.next(at: 0)))
        if case .removed? = first.staged {} else { Issue.record("the entry stays") }
    }

    @Test func aDroppedWriteDoesNotDropTheRemovalBeforeIt() throws {
        // given
        var queue = DiskQueue(mostHeldBytes: 1000)
        _ = queue.stage(.removed, for: "a")
        _ = queue.stage(Self.entry("a", 1), for: "a", cost: 900)
        // when
        #expect(queue.stage(Self.entry("b", 2), for: "b", cost: 900).droppedCount == 1)
        // then
        #expect(isNothing(queue.known("a")))
        var removed = 0
        while let piece = queue.next(at: 0) {
            if case .removed? = change(piece)?.staged { removed += 1 }
            _ = queue.changed(try #require(change(piece)))
        }
        #expect(removed == 1 && isUnknown(queue.known("a")) && queue.heldBytes == 0)
    }

    @Test func aRemovalIsDoneBeforeWrites() throws {
        // given
        var queue = DiskQueue()
        for key in ["a", "b", "c"] { _ = queue.stage(Self.entry(key, 1), for: key) }
        let first = try #require(change(queue.next(at: 0)))
        // when
        _ = queue.stage(.removed, for: "z")
        #expect(queue.next(at: 0) == nil)
        _ = queue.changed(first)
        // then
        guard let removal = change(queue.next(at: 0)), case .removed? = removal.staged else {
            Issue.record("a write came before it")
            return
        }
        _ = queue.changed(removal)
        #expect(queue.done == 1 && staged(queue.next(at: 0)) == 1)
    }

    @Test func anEntryWhoseRemovalFailedIsNotFound() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(.removed, for: "a")
        // when
        _ = queue.changed(try #require(change(queue.next(at: 0))), failed: true)
        // then
        #expect(isNothing(queue.known("a")) && queue.isEmpty && queue.done == queue.lastChange)
        _ = queue.stage(Self.entry("a", 1), for: "a")
        #expect(format(queue.known("a")) == 1)
        // The number of failed removals that are remembered is limited.
        for number in 0...DiskQueue.mostFailedRemovals {
            _ = queue.stage(.removed, for: "\(number)")
            while let piece = queue.next(at: 0) {
                _ = queue.changed(try #require(change(piece)), failed: staged(piece) == nil)
            }
        }
        #expect(isNothing(queue.known("0")))
        #expect(isUnknown(queue.known("\(DiskQueue.mostFailedRemovals)")))
    }

    /// Found by the simulation: a store that another one replaced before it was written had succeeded. When the other one
    /// failed, the entry before both was found.
    @Test func aFailedWriteDoesNotBringBackWhatAnUnwrittenOneReplaced() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        _ = queue.stage(Self.entry("a", 2), for: "a")
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        // then
        guard case .key(let later)? = change(queue.next(at: 0))?.kind else {
            Issue.record("there is no second write")
            return
        }
        #expect(later.isAfterRemoval && later.isWrite)
    }

    @Test func aFailedWriteLeavesWhatWasBeingWritten() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        let first = try #require(change(queue.next(at: 0)))
        _ = queue.stage(Self.entry("a", 2), for: "a")
        _ = queue.changed(first)
        // then
        guard case .key(let later)? = change(queue.next(at: 0))?.kind else {
            Issue.record("there is no second write")
            return
        }
        #expect(!later.isAfterRemoval && later.isWrite)
    }

    @Test func aDroppedWriteLeavesNothingInTheQueue() {
        var queue = DiskQueue(mostHeldBytes: 10_000)
        for number in 0..<100_000 { _ = queue.stage(Self.entry("\(number)", 1), for: "\(number)", cost: 1000) }
        var pieces = 0
        while case .change(let change)? = queue.next(at: 0) {
            pieces += 1
            _ = queue.changed(change)
        }
        #expect(pieces < 200 && queue.done == 100_000 && queue.isEmpty)
    }

    @Test func dropAllWritesNothingAndCompletesEveryChange() {
        // given
        var queue = DiskQueue()
        let told = Recorder<CacheError?>()
        _ = queue.stage(Self.entry("a", 1), for: "a", isAwaited: true) { told.record($0) }
        _ = queue.clear { told.record($0) }
        queue.change { told.record(nil) }
        _ = queue.stage(.removed, for: "b") { told.record($0) }
        // when
        let released = queue.dropAll()
        released.tell()
        // then
        #expect(released.droppedCount == 2 && told.all == [.dropped, .dropped, .dropped] as [CacheError?])
        guard let change = change(queue.next(at: 0)), case .other(let work) = change.kind else {
            Issue.record("queued work must still be done")
            return
        }
        work()
        _ = queue.changed(change)
        #expect(queue.isEmpty && queue.done == queue.lastChange && isUnknown(queue.known("a")))
    }

    // MARK: Times

    @Test func delayedReadsRunInTheOrderOfTheTimes() {
        // given
        var queue = DiskQueue()
        let order = Recorder<Int>()
        for (time, number) in [(30, 3), (10, 1), (20, 2), (10, 11)] { queue.at(Int64(time)) { order.record(number) } }
        // then
        #expect(queue.nextTime == 10)
        #expect(queue.next(at: 9) == nil)
        while case .read(let work)? = queue.next(at: 20) { work() }
        #expect(order.all == [1, 11, 2] && queue.nextTime == 30)
    }

    @Test func delayedReadsRunAtOnceWhenStopped() {
        // given
        var queue = DiskQueue()
        queue.at(.max) {}
        // when
        queue.stop()
        // then
        #expect(isRead(queue.nextOrEnd(at: 0)) && !queue.isEnded)
        #expect(queue.nextOrEnd(at: 0) == nil && queue.isEnded)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func agreesWithANaiveModelInAnyOrder(seed: UInt64) throws {
        var walk = DiskQueueWalk(seed: seed)
        for step in 0..<TestLength.count(2000, short: 500) {
            do { try walk.step() } catch {
                Issue.record("seed \(seed), step \(step)")
                throw error
            }
        }
        try walk.end()
    }
}

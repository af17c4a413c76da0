import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct DiskQueueTests {
    private static func entry(_ key: String, _ format: Int32) -> DiskQueue.Staged {
        .entry(EntryMetadata(key: key, format: format), Bytes(adopting: nil, count: 0))
    }

    private func change(_ piece: DiskQueue.Piece?) -> DiskQueue.Change? {
        guard case .change(let change, _) = piece else { return nil }
        return change
    }

    private func staged(_ piece: DiskQueue.Piece?) -> Int32? {
        guard case .change(_, .entry(let metadata, _)?) = piece else { return nil }
        return metadata.format
    }

    private func format(_ staged: DiskQueue.Staged?) -> Int32? {
        if case .entry(let metadata, _)? = staged { metadata.format } else { nil }
    }

    private func format(_ known: DiskQueue.Known) -> Int32? {
        if case .staged(let metadata, _) = known { metadata.format } else { nil }
    }

    private func isNothing(_ known: DiskQueue.Known) -> Bool { if case .nothing = known { true } else { false } }
    private func isUnknown(_ known: DiskQueue.Known) -> Bool { if case .unknown = known { true } else { false } }
    private func isRead(_ piece: DiskQueue.Piece?) -> Bool { if case .read = piece { true } else { false } }

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

    @Test func aReadWaitsForNoChange() {
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        #expect(queue.stage(Self.entry("b", 2), for: "b") == nil)
        _ = queue.next(at: 0)
        queue.read {}
        #expect(isRead(queue.next(at: 0)))
    }

    @Test func theNewestOfAKeyIsAllThatIsWritten() throws {
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

    @Test func whileItIsWrittenANewerOneIsKept() throws {
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

    @Test func aClearedDiskHasNothingFromNowOn() throws {
        // given
        var queue = DiskQueue()
        _ = queue.stage(Self.entry("a", 1), for: "a")
        // when
        #expect(queue.clear().count == 1)
        _ = queue.stage(Self.entry("b", 2), for: "b")
        // then
        #expect(isNothing(queue.known("a")) && isNothing(queue.known("never stored")))
        #expect(format(queue.known("b")) == 2)
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        _ = queue.changed(try #require(change(queue.next(at: 0))))
        #expect(isUnknown(queue.known("a")) && isUnknown(queue.known("b")))
    }

    @Test func whatWaitsForItsTimeIsDoneInTheOrderOfTimes() {
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

    @Test func atTheEndNothingWaitsForItsTime() {
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
        for step in 0..<2000 {
            do { try walk.step() } catch {
                Issue.record("seed \(seed), step \(step)")
                throw error
            }
        }
        try walk.end()
    }
}

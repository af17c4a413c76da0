import SDDBase
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

/// The work that waits for decode threads, and its bytes.
@Suite struct DecodeQueueTests {
    private var queue = DecodeQueue<NumberedListener>()

    /// A job with a complete body.
    private func job(
        _ number: UInt64, size: Int = 1, priority: Priority = .normal, isPrompt: Bool = false
    ) throws -> Job<NumberedListener> {
        let job = try Sample.job(TransferID(number), "http://host/1", priority: priority, isPrompt: isPrompt)
        job.body = Sample.body(size)
        return job
    }

    @Test mutating func mostUrgentBodyIsFirst() throws {
        // given
        for (number, priority) in [(1, .normal), (2, .high), (3, .normal)] as [(UInt64, Priority)] {
            _ = queue.append(try job(number, priority: priority))
        }
        // then
        #expect(queue.hasBodies)
        #expect((0..<4).map { _ in queue.popFirst()?.number } == [2, 1, 3, nil])
        #expect(!queue.hasBodies)
    }

    @Test mutating func bodyCountsUntilItIsRemovedOrItsWorkBegins() throws {
        // given
        let (first, second) = (try job(1, size: 10), try job(2, size: 20, isPrompt: true))
        _ = queue.append(first)
        let place = queue.append(second)
        #expect(queue.backlog.total == 30 && queue.backlog.prompt == 20)
        // when
        queue.remove(place, of: second)
        #expect(queue.popFirst()?.number == 1)
        // then
        #expect(queue.backlog.total == 10 && queue.backlog.prompt == 0 && !queue.isEmpty)
        queue.workBegan(on: first)
        #expect(queue.isEmpty)
    }

    @Test mutating func movedBodyIsBehindThoseOfItsNewPriority() throws {
        // given
        let moved = try job(1, size: 5)
        let place = queue.append(moved)
        _ = queue.append(try job(2, priority: .high))
        _ = queue.append(try job(3))
        // when
        moved.priority = .high
        _ = queue.move(place, of: moved)
        // then
        #expect(queue.backlog.total == 7)
        #expect((0..<3).map { _ in queue.popFirst()?.number } == [2, 1, 3])
    }

    @Test mutating func bodyThatBecomesPromptCountsAsPrompt() throws {
        // given
        let job = try job(1, size: 10)
        _ = queue.append(job)
        // when
        job.isPrompt = true
        queue.becamePrompt(job)
        // then
        #expect(queue.backlog.total == 10 && queue.backlog.prompt == 10)
        queue.workBegan(on: job)
        #expect(queue.backlog.total == 0 && queue.backlog.prompt == 0)
    }

    @Test mutating func holdChangesOnceAtEachLimit() throws {
        // given
        let (large, small) = (try job(1, size: 60 << 20), try job(2, size: 5 << 20))
        let place = queue.append(large)
        #expect(!queue.updateHold() && !queue.backlog.isHeldBack)
        // when
        _ = queue.append(small)
        // then
        #expect(queue.updateHold() && queue.backlog.isHeldBack && !queue.updateHold())
        // when: nothing prompt waits, so a thread that is blocked is not made to wait
        queue.promptJobsChanged(by: 1)
        #expect(queue.updateHold() && !queue.backlog.isHeldBack)
        queue.promptJobsChanged(by: -1)
        #expect(queue.updateHold() && queue.backlog.isHeldBack)
        queue.remove(place, of: large)
        #expect(queue.updateHold() && !queue.backlog.isHeldBack)
    }

    @Test mutating func stepsAreApartFromBodies() throws {
        // given
        let (first, second) = (try job(1), try job(2, priority: .high))
        for job in [first, second] { queue.insertStream(of: job) }
        let place = queue.appendStep(of: first)
        let other = queue.appendStep(of: second)
        #expect(queue.streamNumbers == [1, 2] && queue.stepCount == 2 && !queue.hasBodies)
        #expect(queue.popFirst() == nil)
        // when
        first.priority = .veryHigh
        let moved = queue.moveStep(place, of: first)
        queue.removeStream(of: second, step: other)
        // then
        #expect(queue.streamNumbers == [1] && queue.streamCount == 1 && queue.stepCount == 1)
        queue.removeStream(of: first, step: moved)
        #expect(queue.popStep() == nil && queue.isEmpty)
    }

    @Test mutating func stepIsTakenOnceAndItsStreamStays() throws {
        // given
        let job = try job(1)
        queue.insertStream(of: job)
        _ = queue.appendStep(of: job)
        // when, then
        #expect(queue.popStep() == job.id && queue.popStep() == nil && queue.streamCount == 1)
        queue.removeStream(of: job, step: nil)
        #expect(queue.isEmpty)
    }

    private func end(of token: UInt64) -> RequestEnd<NumberedListener> {
        RequestEnd(listener: NumberedListener(token), result: DownloadResult(ended: 0), isOfStage: false)
    }

    @Test mutating func endsHeldBackAreReleasedOnceInTheirOrder() throws {
        // given
        let (first, second) = (try job(1), try job(2))
        for token in [7, 8] as [UInt64] { queue.detain(end(of: token), of: first) }
        queue.detain(end(of: 9), of: second)
        // when
        let released = queue.release(1)?.map { $0.listener.token }
        // then
        #expect(released == [7, 8] && queue.release(1)?.isEmpty == nil && !queue.isEmpty)
        #expect(queue.release(2)?.count == 1)
        #expect(queue.isEmpty)
    }
}

/// Complete bodies that wait for memory, with a ledger of their own.
extension DecodeQueueTests {
    @Test mutating func bodiesWaitForRoomInTwoLines() throws {
        // given
        let memory = DecodeMemory()
        memory.setLimit(100)
        queue = DecodeQueue(room: RoomLines(memory.makeAccount(), prompt: memory.makeAccount()))
        let (first, prompt) = (try job(1, size: 10), try job(2, size: 20, isPrompt: true))
        // when
        let place = queue.appendLacking(first)
        let other = queue.appendLacking(prompt)
        // then
        #expect(queue.lacksRoom && queue.backlog.total == 30 && queue.backlog.prompt == 20)
        #expect(queue.firstLacking(isPrompt: false) == 1 && queue.firstLacking(isPrompt: true) == 2)
        // when: a more urgent body needs no memory yet
        let urgent = queue.append(try job(3, priority: .high))
        #expect(queue.firstLacking(isPrompt: false) == nil && queue.firstLacking(isPrompt: true) == nil)
        queue.remove(urgent, of: try job(3))
        // when
        first.isPrompt = true
        queue.becamePrompt(first)
        let moved = queue.moveLacking(place, of: first)
        // then
        #expect(queue.firstLacking(isPrompt: false) == nil && queue.firstLacking(isPrompt: true) == 2)
        queue.removeLacking(other, of: prompt)
        #expect(queue.firstLacking(isPrompt: true) == 1 && queue.backlog.prompt == 10)
        queue.gotRoom(moved)
        #expect(!queue.lacksRoom && queue.backlog.total == 10)
        queue.workBegan(on: first)
        #expect(queue.isEmpty)
    }

    @Test mutating func roomIsTakenFromTheKeeperOfTheLine() throws {
        // given
        let memory = DecodeMemory()
        memory.setLimit(100)
        let account = memory.makeAccount()
        queue = DecodeQueue(room: RoomLines(account))
        let held = try #require(account.reserve(80, isArriving: false))
        let job = try job(1)
        _ = queue.appendLacking(job)
        // then
        #expect(queue.takeRoom(isPrompt: false, for: 50) == nil && queue.isRoomWanted)
        #expect(queue.keeper(for: job, hasRoom: false)?.reserve(1, isArriving: false) == nil)
        // when
        held.shrink(to: 0)
        // then
        #expect(queue.takeRoom(isPrompt: false, for: 50)?.bytes == 50 && !queue.isRoomWanted)
    }
}

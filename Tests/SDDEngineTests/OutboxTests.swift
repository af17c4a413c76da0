import SDDTransport
import Testing

@testable import SDDEngine

/// The decisions of a table, until they are taken.
@Suite struct OutboxTests {
    private var outbox = Outbox<NumberedListener>()

    private func end(of listener: UInt64) -> DeliveryEvent<NumberedListener> {
        .end(NumberedListener(listener), DownloadResult(ended: 0))
    }

    private func ended(_ batch: EventBatch<NumberedListener>) -> [UInt64] {
        batch.events.compactMap { if case .end(let listener, _) = $0 { listener.token } else { nil } }
    }

    @Test mutating func eventsAreTakenOnceInTheirOrder() {
        // given
        outbox.reserveEvents(3)
        outbox.append(end(of: 1))
        outbox.append(RequestEnd(listener: NumberedListener(2), result: DownloadResult(ended: 0), isOfStage: false))
        outbox.append(end(of: 3))
        // when
        let first = outbox.takeBatch()
        outbox.append(end(of: 4))
        let second = outbox.takeBatch()
        // then
        #expect(ended(first) == [1, 2, 3])
        #expect(ended(second) == [4])
    }

    @Test mutating func theEndsOfStagesAreNoEvents() {
        outbox.append(RequestEnd(listener: NumberedListener(1), result: DownloadResult(ended: 0), isOfStage: true))
        let batch = outbox.takeBatch()
        #expect(batch.events.isEmpty && batch.stageEnds.map { $0.listener.token } == [1] && batch.ticket == 1)
    }

    @Test mutating func mutedListenersAndObjectsToReleaseAreTakenOnceWithTheEvents() {
        // given
        outbox.mute(NumberedListener(5))
        outbox.release(FakeLookup())
        // when
        let (first, second) = (outbox.takeBatch(), outbox.takeBatch())
        // then
        #expect(first.muted.map(\.token) == [5] && first.released.count == 1 && first.ticket == 1)
        #expect(second.isEmpty && second.ticket == 0)
    }

    @Test mutating func onlyBatchesWithContentGetATicket() {
        // given
        var tickets: [UInt64] = []
        for count in [0, 1, 0, 0, 2, 1] {
            // when
            for _ in 0..<count { outbox.append(end(of: 0)) }
            tickets.append(outbox.takeBatch().ticket)
        }
        // then: the delivery waits for each ticket, so none may be left out
        #expect(tickets == [0, 1, 0, 0, 2, 3])
    }

    @Test mutating func commandsAreAddedBehindThoseTakenBefore() {
        // given
        var commands: [TransportCommand] = []
        #expect(outbox.threadsWithCommands == [])
        outbox.send(.cancel(TransferID(1)))
        outbox.send(.pause(TransferID(2)))
        #expect(outbox.threadsWithCommands == .first)
        // when
        outbox.takeCommands(of: .first, into: &commands)
        #expect(outbox.threadsWithCommands == [])
        outbox.send(.resume(TransferID(2)))
        outbox.takeCommands(of: .first, into: &commands)
        // then
        #expect(commands.map { Order($0) } == [.cancel(1), .pause(2), .resume(2)])
    }

    @Test mutating func transportIsLateForWhatComesBeforeItsPromise() {
        // given: nothing has been promised, so each time is too soon
        #expect(outbox.isLate(for: 100) && !outbox.isLate(for: .max))
        // when
        outbox.promised(100)
        // then
        #expect(outbox.isLate(for: 99) && !outbox.isLate(for: 100) && !outbox.isLate(for: 101))
    }

    @Test mutating func workAndCacheTasksAreTakenOnce() {
        // given
        for _ in 0..<3 { outbox.addWork() }
        for number in 1...2 as ClosedRange<UInt64> {
            outbox.run(.ask(TransferID(number), FakeLookup(), LookupContext(isOffline: false)))
        }
        // when, then
        #expect(outbox.takeWork() == 3 && outbox.takeWork() == 0)
        #expect(outbox.takeCacheTasks().asked == [1, 2])
        #expect(outbox.takeCacheTasks().isEmpty)
    }
}

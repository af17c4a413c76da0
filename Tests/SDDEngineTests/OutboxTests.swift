import SDDTransport
import Testing

@testable import SDDEngine

/// The decisions of a table, until they are taken.
@Suite struct OutboxTests {
    private var outbox = Outbox<UInt64>()

    private func muted(_ events: [Outbox<UInt64>.Event]) -> [UInt64] {
        events.compactMap { if case .mute(let listener) = $0 { listener } else { nil } }
    }

    @Test mutating func eventsAreTakenOnceInTheirOrder() {
        // given
        outbox.reserveEvents(3)
        outbox.append(.mute(1))
        outbox.append([.mute(2), .mute(3)])
        // when
        let first = outbox.takeEvents().events
        outbox.append(.mute(4))
        let second = outbox.takeEvents().events
        // then
        #expect(muted(first) == [1, 2, 3])
        #expect(muted(second) == [4])
    }

    @Test mutating func onlyBatchesWithEventsGetATicket() {
        // given
        var tickets: [UInt64] = []
        for count in [0, 1, 0, 0, 2, 1] {
            // when
            for _ in 0..<count { outbox.append(.mute(0)) }
            tickets.append(outbox.takeEvents().ticket)
        }
        // then: the delivery waits for each ticket, so none may be left out
        #expect(tickets == [0, 1, 0, 0, 2, 3])
    }

    @Test mutating func commandsAreAddedBehindThoseTakenBefore() {
        // given
        var commands: [TransportCommand] = []
        #expect(!outbox.hasCommands)
        outbox.send(.cancel(TransferID(1)))
        outbox.send(.pause(TransferID(2)))
        #expect(outbox.hasCommands)
        // when
        outbox.takeCommands(into: &commands, promising: .max)
        #expect(!outbox.hasCommands)
        outbox.send(.resume(TransferID(2)))
        outbox.takeCommands(into: &commands, promising: .max)
        // then
        #expect(commands.map { Order($0) } == [.cancel(1), .pause(2), .resume(2)])
    }

    @Test mutating func transportIsLateForWhatComesBeforeItsPromise() {
        // given: nothing has been promised, so each time is too soon
        var commands: [TransportCommand] = []
        #expect(outbox.isLate(for: 100) && !outbox.isLate(for: .max))
        // when
        outbox.takeCommands(into: &commands, promising: 100)
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

import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// D27: transports of the application: the commands passed on to them, and the events made of their answers.
@Suite struct AppTransfersTests {
    private let time = ManualTime(microseconds: 1_000_000)
    private let appTransport = FakeAppTransport()
    private let transfers: AppTransfers

    init() { transfers = AppTransfers(maxBodyBytes: 10, time: time) }

    /// Starts a transfer, with the time limits in milliseconds.
    private func start(_ number: UInt64 = 1, stall: Int64 = 0, firstByte: Int64 = 0) throws {
        var values = TransferOptions.Values()
        (values.clocks.stall, values.clocks.firstByte, values.clocks.slowness) = (stall, firstByte, 0)
        let request = HTTPRequest(
            url: try Sample.url("archive:a", others: ["archive"]), options: TransferOptions(values),
            appTransport: appTransport)
        var commands = [TransportCommand.start(TransferID(number), request, .high)]
        #expect(transfers.take(from: &commands).isEmpty)
        #expect(commands.isEmpty)
    }

    private func respond(
        _ number: UInt64 = 1, status: Int32 = 200, expected: Int64 = -1
    ) throws(AppTransfers.Refusal) -> [TransferEvent] {
        try transfers.responded(
            TransferID(number), status: status, fields: Sample.fields(type: "image/png"), expectedBytes: expected)
    }

    private func receive(_ bytes: [UInt8], _ number: UInt64 = 1) throws -> (
        events: [TransferEvent], error: TransportError?
    ) {
        try bytes.withUnsafeBytes { try transfers.received(TransferID(number), $0) }
    }

    private func finish(
        _ number: UInt64 = 1, _ error: TransportError? = nil
    ) throws(AppTransfers.Refusal) -> [TransferEvent] {
        try transfers.finished(TransferID(number), error)
    }

    private func body(of events: [TransferEvent]) -> [UInt8]? {
        guard case .finished(_, let end)? = events.last, case .success(let bytes) = end.result else { return nil }
        return Array(bytes.pointer)
    }

    private func failure(of events: [TransferEvent]) -> TransportError.Kind? {
        guard case .finished(_, let end)? = events.last, case .failure(let error) = end.result else { return nil }
        return error.kind
    }

    // MARK: - Commands

    @Test func takesItsCommandsAndLeavesTheOthers() throws {
        // given
        try start(1)
        let ours = TransferID(1), other = TransferID(2)
        var commands: [TransportCommand] = [
            .start(other, HTTPRequest(url: try Sample.url("http://h/")), .normal), .setPriority(ours, .low),
            .setPriority(other, .low), .pause(ours), .pause(other), .resume(ours), .resume(other), .cancel(ours),
            .cancel(other),
        ]
        // when
        #expect(transfers.take(from: &commands).isEmpty)
        // then
        #expect(
            commands.map { Order($0) } == [
                .start(2, .normal), .setPriority(2, .low), .pause(2), .resume(2), .cancel(2),
            ])
        #expect(appTransport.called == [.start(1, url: "archive:a", .high), .setPriority(1, .low), .cancel(1)])
    }

    @Test func cancelsRemainingTransfersAtTheEnd() throws {
        // given
        for number in 1...3 as ClosedRange<UInt64> { try start(number) }
        _ = try finish(2)
        // when
        transfers.cancelAll()
        // then
        #expect(
            appTransport.called.suffix(2).contains(.cancel(1)) && appTransport.called.suffix(2).contains(.cancel(3)))
        #expect(appTransport.called.count == 5)
        #expect(throws: AppTransfers.Refusal.unknown) { try finish(1) }
    }

    // MARK: - Answers

    @Test func showsABodyOnRequestAndWithItsNextData() throws {
        // given
        try start()
        let before = try receive([1, 2]).events
        // when: a command for another transport's transfer is left in the list
        var commands: [TransportCommand] = [.show(TransferID(1)), .show(TransferID(2))]
        let atOnce = transfers.take(from: &commands)
        let shown = try [atOnce, receive([3]).events, receive([]).events, receive([4, 5]).events].map { events in
            events.compactMap { event in if case .body(_, let bytes) = event { bytes } else { nil } }
        }
        // then: bytes that were shown do not change
        #expect(commands.map { Order($0) } == [.show(2)])
        #expect(before.allSatisfy { if case .body = $0 { false } else { true } })
        #expect(
            shown.map { $0.map { Array($0.pointer) } } == [[[1, 2]], [[1, 2, 3]], [[1, 2, 3]], [[1, 2, 3, 4, 5]]])
        #expect(body(of: try finish()) == [1, 2, 3, 4, 5])
    }

    @Test func anEmptyBodyIsShownWithItsFirstData() throws {
        try start()
        var commands: [TransportCommand] = [.show(TransferID(1))]
        #expect(transfers.take(from: &commands).isEmpty)
        let shown = try receive([6]).events.contains { if case .body = $0 { true } else { false } }
        #expect(shown)
    }

    @Test func makesEventsOfAnAnswer() throws {
        // given
        try start()
        // when
        let response = try respond(status: 203, expected: 5)
        let first = try receive([1, 2])
        let second = try receive([3, 4, 5])
        time.advance(milliseconds: 7)
        let end = try finish()
        // then
        guard case .response(_, let head)? = response.first, case .received(_, let count)? = second.events.first,
            case .finished(let id, let transferEnd)? = end.first
        else {
            Issue.record("unexpected events")
            return
        }
        #expect(head.response.status == 203 && head.expectedBytes == 5 && head.response.url == "archive:a")
        #expect(head.response.fields.mimeType == "image/png")
        #expect(first.events.count == 1 && first.error == nil && count == 5)
        #expect(id == TransferID(1) && body(of: end) == [1, 2, 3, 4, 5])
        #expect(transferEnd.response === head.response && transferEnd.timings.total == 7000)
    }

    @Test func aMissingResponseIs200WithoutFields() throws {
        for (number, data) in [(1, [1]), (2, [])] as [(UInt64, [UInt8])] {
            // given
            try start(number)
            // when
            let events = data.isEmpty ? try finish(number) : try receive(data, number).events
            // then
            guard case .response(_, let head)? = events.first else {
                Issue.record("no response")
                return
            }
            #expect(head.response.status == 200 && head.response.fields.count == 0 && head.expectedBytes == -1)
            #expect(events.count == 2)
        }
    }

    @Test func anErrorNeedsNoResponse() throws {
        // given
        try start()
        // when
        let events = try finish(1, TransportError(.connectionLost, message: "gone"))
        // then
        #expect(events.count == 1 && failure(of: events) == .connectionLost)
    }

    @Test func aSecondResponseOrOneAfterDataIsRefused() throws {
        try start(1)
        _ = try respond(1)
        #expect(throws: AppTransfers.Refusal.outOfOrder) { try respond(1) }
        try start(2)
        _ = try receive([1], 2)
        #expect(throws: AppTransfers.Refusal.outOfOrder) { try respond(2) }
    }

    @Test func answersForUnknownOrEndedTransfersAreRefused() throws {
        // given
        try start()
        _ = try finish()
        // when, then
        for number in [0, 1, 99] as [UInt64] {
            #expect(throws: AppTransfers.Refusal.unknown) { try respond(number) }
            #expect(throws: AppTransfers.Refusal.unknown) { try receive([1], number) }
            #expect(throws: AppTransfers.Refusal.unknown) { try finish(number) }
        }
    }

    @Test func theLargestBodyIsTakenAndOneByteMoreEndsTheTransfer() throws {
        // given
        try start(1)
        #expect(try receive(Array(repeating: 0, count: 10)).error == nil)
        // when, then
        #expect(try body(of: finish(1))?.count == 10)
        try start(2)
        _ = try receive(Array(repeating: 0, count: 10), 2)
        let (events, error) = try receive([1], 2)
        #expect(error?.kind == .bodyTooLarge && failure(of: events) == .bodyTooLarge)
        #expect(throws: AppTransfers.Refusal.unknown) { try finish(2) }
    }

    @Test func moreBytesThanAnnouncedAreAnError() throws {
        try start()
        _ = try respond(expected: 3)
        #expect(try receive([1, 2, 3]).error == nil)
        let (events, error) = try receive([4])
        #expect(error?.kind == .notHTTP && failure(of: events) == .notHTTP)
        #expect(throws: AppTransfers.Refusal.unknown) { try finish() }
    }

    @Test func fewerBytesThanAnnouncedAreAnError() throws {
        try start()
        _ = try respond(expected: 3)
        _ = try receive([1, 2])
        #expect(failure(of: try finish()) == .truncatedBody)
    }

    @Test func theTransportsErrorComesFirst() throws {
        try start()
        _ = try respond(expected: 3)
        let events = try finish(1, TransportError(.connectionLost, message: "gone"))
        #expect(failure(of: events) == .connectionLost)
    }

    @Test func aResponseWithoutABodyMayHaveALength() throws {
        try start()
        _ = try respond(status: 304, expected: 3)
        #expect(try body(of: finish()) == [])
    }

    /// Otherwise more bytes would be reported than are expected.
    @Test func aBodyWhereNoneIsAllowedIsAnError() throws {
        try start()
        _ = try respond(status: 304, expected: 3)
        let (events, error) = try receive([1, 2, 3, 4])
        #expect(error?.kind == .notHTTP && failure(of: events) == .notHTTP)
    }

    @Test func emptyDataIsAccepted() throws {
        try start()
        #expect(try receive([]).error == nil)
        #expect(try body(of: finish()) == [])
    }

    @Test func anAnswerInsideStartIsAccepted() throws {
        // given
        let given = Monitor<[TransferEvent]>([])
        let transfers = transfers
        let appTransport = FakeAppTransport { id in
            let events = try? transfers.finished(id, nil)
            given.withLock { $0 = events ?? [] }
        }
        let url = try Sample.url("archive:a", others: ["archive"])
        var commands = [
            TransportCommand.start(TransferID(1), HTTPRequest(url: url, appTransport: appTransport), .normal)
        ]
        // when
        #expect(transfers.take(from: &commands).isEmpty)
        // then
        #expect(given.withLock { $0.count } == 2)
    }

    // MARK: - Clocks

    @Test("Z6: silence ends a transfer; every answer restarts the limit")
    func silenceEndsATransfer() throws {
        // given
        try start(stall: 100)
        #expect(look().next == time.monotonicMicroseconds() + 100_000)
        // when
        time.advance(milliseconds: 99)
        _ = try respond()
        time.advance(milliseconds: 99)
        _ = try receive([1])
        time.advance(milliseconds: 99)
        // then
        #expect(look().ended.isEmpty)
        time.advance(milliseconds: 1)
        let (ended, next) = look()
        #expect(failure(of: ended) == .stall && next == .max)
        #expect(appTransport.called.last == .cancel(1))
        #expect(throws: AppTransfers.Refusal.unknown) { try finish() }
    }

    @Test("Z6: the first byte has a clock of its own, from the start to the response")
    func theFirstByteHasAClock() throws {
        // given
        try start(1, firstByte: 50)
        try start(2, firstByte: 50)
        // when
        _ = try respond(2)
        time.advance(milliseconds: 50)
        // then
        let (ended, next) = look()
        #expect(ended.count == 1 && failure(of: ended) == .firstByteTimeout && next == .max)
        #expect(appTransport.called.last == .cancel(1))
    }

    @Test("Z6: returns the time of the next look: the soonest limit, or never without limits")
    func returnsTheTimeOfTheNextLook() throws {
        try start(1)
        #expect(look().next == .max)
        try start(2, stall: 500)
        try start(3, stall: .max, firstByte: 200)
        #expect(look().next == time.monotonicMicroseconds() + 200_000)
    }

    @Test("Z6 O4: clocks stand still while a transfer is paused")
    func clocksStandStillWhilePaused() throws {
        // given
        try start(stall: 100, firstByte: 200)
        time.advance(milliseconds: 60)
        var commands = [TransportCommand.pause(TransferID(1))]
        #expect(transfers.take(from: &commands).isEmpty)
        // when
        time.advance(milliseconds: 10_000)
        #expect(look().ended.isEmpty && look().next == .max)
        commands = [.resume(TransferID(1))]
        #expect(transfers.take(from: &commands).isEmpty)
        // then: the remaining time is unchanged
        time.advance(milliseconds: 39)
        #expect(look().ended.isEmpty)
        time.advance(milliseconds: 1)
        #expect(failure(of: look().ended) == .stall)
    }

    @Test("Z6: a time is read under the lock under which it is judged: no delayed thread plans a look in the past")
    func timesAreReadUnderTheLock() throws {
        // given: a clock that looks whether another thread gets the lock meanwhile
        let clock = WatchedTime()
        let transfers = AppTransfers(maxBodyBytes: 10, time: clock)
        let url = try Sample.url("archive:a", others: ["archive"])
        var commands = [
            TransportCommand.start(TransferID(1), HTTPRequest(url: url, appTransport: appTransport), .normal)
        ]
        clock.watch { _ = transfers.needsTurn }
        // when
        _ = transfers.take(from: &commands)
        commands = [.pause(TransferID(1)), .resume(TransferID(1))]
        _ = transfers.take(from: &commands)
        _ = try transfers.responded(TransferID(1), status: 200, fields: ResponseFields(), expectedBytes: -1)
        _ = try [UInt8(1)].withUnsafeBytes { try transfers.received(TransferID(1), $0) }
        _ = transfers.lookAtClocks()
        _ = try transfers.finished(TransferID(1), nil)
        clock.watch(nil)
        // then
        #expect(clock.reads >= 7 && clock.readsWithoutLock == 0)
    }

    private func look() -> (ended: [TransferEvent], next: Int64) {
        transfers.lookAtClocks()
    }
}

/// A clock that runs a function on another thread whenever it is read, and counts the reads during which that could end:
/// a function that takes a lock cannot, if the reader holds it.
private final class WatchedTime: TimeSource {
    private struct State {
        var body: (@Sendable () -> Void)?
        var reads = 0
        var withoutLock = 0
    }

    private let state = Monitor(State(), rank: .memory)  // the clock is read under locks

    var reads: Int { state.withLock { $0.reads } }
    var readsWithoutLock: Int { state.withLock { $0.withoutLock } }

    func watch(_ body: (@Sendable () -> Void)?) { state.withLock { $0.body = body } }

    func monotonicMicroseconds() -> Int64 {
        guard let body = state.withLock({ $0.body }) else { return 0 }
        let hasEnded = Monitor(false, rank: .memory)
        let thread = try? NativeThread(name: "other") {
            body()
            hasEnded.withLock { $0 = true }
            hasEnded.broadcast()
        }
        // A short time is enough: a busy machine can only hide a fault, and never show one that is not there.
        let gotLock = hasEnded.wait(milliseconds: 50) { $0 ? true : nil } ?? false
        thread?.detach()
        state.withLock { state in
            state.reads += 1
            state.withoutLock += gotLock ? 1 : 0
        }
        return 0
    }

    func wallMicroseconds() -> Int64 { 0 }
}

import SDDBase
import Testing

@testable import SDDEngine

/// Batches of events that arrive in another order than they were decided in.
@Suite struct DeliveryOrderTests {
    private let callbacks = RecordingCallbacks()
    private let delivery: Delivery
    private let listener: Listener

    init() throws {
        delivery = Delivery(bell: try EventBell()) { _ in }
        listener = Listener(token: 1, callbacks: callbacks)
        delivery.accepted()
    }

    private func end(_ error: DownloadError? = nil) -> Delivery.Event {
        .end(listener, DownloadResult(error: error, ended: 0))
    }

    private func enqueue(_ events: [Delivery.Event], ticket: UInt64) {
        delivery.enqueue(EventBatch(events: events, ticket: ticket))
    }

    private func dispatch() throws -> Int { try delivery.dispatch(max: 0) {} }

    @Test func aBatchThatOvertookAnotherWaitsForIt() throws {
        // given: the end arrives before the progress that was decided earlier
        enqueue([end()], ticket: 2)
        #expect(try dispatch() == 0)
        // when
        enqueue([.progress(listener, received: 0, expected: -1)], ticket: 1)
        // then
        #expect(try dispatch() == 2)
        #expect(callbacks.record.progress == [[0, -1]])
        #expect(callbacks.record.results.count == 1)
    }

    @Test func afterACancelNoEarlierProgressIsDelivered() throws {
        // given
        enqueue([end(.cancelledSending)], ticket: 2)
        // when
        enqueue([.progress(listener, received: 5, expected: 10)], ticket: 1)
        // then
        #expect(try dispatch() == 1)
        #expect(callbacks.record.progress.isEmpty)
        #expect(callbacks.record.results.first?.error?.code == .cancelled)
    }

    @Test func afterACancelNoQueuedPreviewIsDelivered() throws {
        // given
        enqueue([preview(), .facts(listener, try #require(Made.facts))], ticket: 1)
        // when: the cancel has overtaken another batch, and has returned
        enqueue([end(.cancelledSending)], ticket: 3)
        // then
        #expect(try dispatch() == 0)
        enqueue([preview()], ticket: 2)
        #expect(try dispatch() == 1)
        #expect(callbacks.record.previews.isEmpty && callbacks.record.facts.isEmpty)
        #expect(callbacks.record.results.count == 1)
    }

    @Test func previewsNotTakenAreReplacedByTheNextOrTheEnd() throws {
        // given
        let last = DownloadResult(image: Made.image(isPreview: true), ended: 0)
        enqueue([preview(), preview(), .preview(listener, last)], ticket: 1)
        // when
        #expect(try dispatch() == 1)
        // then
        #expect(callbacks.record.previews.map { $0 === last } == [true])
        enqueue([preview()], ticket: 2)
        enqueue([end()], ticket: 3)
        #expect(try dispatch() == 1)
        #expect(callbacks.record.previews.count == 1 && callbacks.record.results.count == 1)
    }

    private func preview() -> Delivery.Event {
        .preview(listener, DownloadResult(image: Made.image(isPreview: true), ended: 0))
    }

    @Test("Z7: progress of a restarted body does not come before its restart")
    func progressOfARestartedBodyIsInOrder() throws {
        // given: the events are not taken
        let counts: [(Int64, Int64)] = [(0, -1), (0, 9), (5, 9), (7, 9), (0, -1), (0, 9), (2, 9), (3, 9)]
        for (index, count) in counts.enumerated() {
            enqueue(
                [.progress(listener, received: count.0, expected: count.1)], ticket: UInt64(index + 1))
        }
        // when, then
        #expect(try dispatch() == 5)
        #expect(callbacks.record.progress == [[0, -1], [0, 9], [0, -1], [0, 9], [3, 9]])
    }

    @Test("X10: progress after a cancel is not delivered, and no other event is lost with it")
    func progressAfterACancelIsDropped() throws {
        // given: a load that is cancelled between two stages, whose counts were removed undelivered
        let other = RecordingCallbacks()
        delivery.accepted()
        enqueue([.progress(listener, received: 5, expected: 9)], ticket: 1)
        delivery.mute(listener)
        #expect(try dispatch() == 0)
        // when: the end of another request takes their place in the queue, and the next stage begins
        let end = DownloadResult(ended: 0)
        delivery.post(.end(Listener(token: 2, callbacks: other), end))
        enqueue([.progress(listener, received: 0, expected: -1)], ticket: 2)
        // then
        #expect(try dispatch() == 1)
        #expect(other.record.results.count == 1 && callbacks.record.progress.isEmpty)
    }

    @Test func aLoadsEndComesAfterTheEventsOfAStageThatOvertookThem() throws {
        // given: the end of the stage arrives before facts that were decided earlier
        let stageEnd = RequestEnd(listener: listener, result: DownloadResult(ended: 0), isOfStage: true)
        delivery.enqueue(EventBatch(stageEnds: [stageEnd], ticket: 2))
        // when
        delivery.post(end(), to: listener)
        #expect(try dispatch() == 0)
        enqueue([.facts(listener, try #require(Made.facts))], ticket: 1)
        // then
        #expect(try dispatch() == 2)
        #expect(callbacks.record.facts.count == 1 && callbacks.record.results.count == 1)
    }

    @Test func batchesInAnyOrderAreDeliveredInOrder() throws {
        // given
        let batches: [(UInt64, Delivery.Event)] = [
            (3, .progress(listener, received: 0, expected: 9)), (5, end()),
            (2, .progress(listener, received: 0, expected: -1)), (4, .progress(listener, received: 9, expected: 9)),
        ]
        // when
        for (ticket, event) in batches { enqueue([event], ticket: ticket) }
        #expect(try dispatch() == 0)
        enqueue([], ticket: 1)
        // then
        #expect(try dispatch() == 4)
        #expect(callbacks.record.progress == [[0, -1], [0, 9], [9, 9]])
    }
}

import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

@Suite struct WaitingQueueTests {
    /// Starts the next request, from the place it was given.
    private func start(_ queue: inout WaitingQueue<TransferID>, _ places: [UInt64: WaitingPlace]) -> UInt64? {
        guard let id = queue.next(atLeast: .veryLow)?.number, let place = places[id] else { return nil }
        queue.started(place, at: 0)
        return id
    }

    private func filled(
        _ queue: inout WaitingQueue<TransferID>, _ entries: [(host: UInt64, priority: Priority)]
    ) -> [UInt64: WaitingPlace] {
        var places: [UInt64: WaitingPlace] = [:]
        for (index, entry) in entries.enumerated() {
            let id = UInt64(index + 1)
            places[id] = queue.append(TransferID(id), host: entry.host, priority: entry.priority, at: 0)
        }
        return places
    }

    @Test(
        "D11 D13 D14: by class, then by the order",
        arguments: [(.fifo, [3, 1, 4, 2]), (.lifo, [3, 4, 1, 2])] as [(WaitingOrder, [UInt64])])
    func servesByClassAndOrder(order: WaitingOrder, wanted: [UInt64]) {
        // given
        var queue = WaitingQueue<TransferID>(order: order)
        let places = filled(&queue, [(1, .normal), (2, .low), (1, .high), (2, .normal)])
        // when, then
        #expect(queue.count == 4)
        #expect((0..<4).map { _ in start(&queue, places) } == wanted)
        #expect(queue.isEmpty && queue.next(atLeast: .veryLow) == nil)
    }

    @Test func theNextStaysFirstUntilItHasStarted() {
        // given
        var queue = WaitingQueue<TransferID>()
        _ = filled(&queue, [(1, .normal), (1, .normal)])
        // when, then
        #expect(queue.next(atLeast: .veryLow)?.number == 1)
        #expect(queue.next(atLeast: .veryLow)?.number == 1)
        #expect(queue.count == 2)
    }

    @Test func returnsNoneBelowTheGivenPriority() {
        // given
        var queue = WaitingQueue<TransferID>()
        _ = filled(&queue, [(1, .normal), (2, .low)])
        // when, then
        #expect(queue.next(atLeast: .high) == nil)
        #expect(queue.next(atLeast: .normal)?.number == 1)
    }

    @Test("Z3: a host gets no more than its limit; host 0 has none")
    func respectsTheLimitOfAHost() {
        // given
        var queue = WaitingQueue<TransferID>(maxPerHost: 1)
        let places = filled(&queue, [(7, .high), (7, .high), (8, .low), (0, .low), (0, .low)])
        // when, then
        #expect((0..<5).map { _ in start(&queue, places) } == [1, 3, 4, 5, nil])
        queue.ended(host: 7)
        #expect(start(&queue, places) == 2)
        #expect(queue.isEmpty)
    }

    @Test func removesARequestByItsPlace() {
        // given
        var queue = WaitingQueue<TransferID>(ageing: 10)
        let places = filled(&queue, [(1, .normal), (1, .normal), (2, .normal), (2, .low)])
        // when
        for id in [1, 3] as [UInt64] { places[id].map { queue.remove($0) } }
        // then
        #expect(queue.count == 2)
        #expect((0..<3).map { _ in start(&queue, places) } == [2, 4, nil])
    }

    @Test func rulesChangeForWaitingRequests() {
        // given
        var queue = WaitingQueue<TransferID>(maxPerHost: 2)
        let places = filled(&queue, [(1, .normal), (1, .normal), (1, .normal), (1, .normal)])
        // when, then
        #expect(start(&queue, places) == 1)
        queue.orderChanged(to: .lifo)
        #expect(start(&queue, places) == 4)
        #expect(start(&queue, places) == nil)
        queue.maxPerHostChanged(to: 3)
        #expect(start(&queue, places) == 3)
        queue.maxPerHostChanged(to: 1)
        queue.ended(host: 1)
        queue.ended(host: 1)
        #expect(start(&queue, places) == nil)
        queue.ended(host: 1)
        #expect(start(&queue, places) == 2)
    }

    @Test("Z3: a request that has waited for the time is overdue, by a number of levels; the highest class never is")
    func findsOverdueRequests() throws {
        // given
        var queue = WaitingQueue<TransferID>(ageing: 100)
        _ = queue.append(TransferID(1), host: 1, priority: .veryHigh, at: 0)
        let place = queue.append(TransferID(2), host: 1, priority: .low, at: 50)
        _ = queue.append(TransferID(3), host: 2, priority: .low, at: 60)
        // when, then
        #expect(queue.overdue(at: 149) == nil)
        let overdue = try #require(queue.overdue(at: 150))
        #expect(overdue == (TransferID(2), 1))
        #expect(try #require(queue.overdue(at: 349)).levels == 2)
        #expect(try #require(queue.overdue(at: .max)).levels == 5)
        queue.remove(place)
        #expect(queue.overdue(at: 159) == nil)
        #expect(try #require(queue.overdue(at: 160)).waiter == TransferID(3))
        // Without ageing no request is overdue.
        var patient = WaitingQueue<TransferID>()
        _ = patient.append(TransferID(1), host: 1, priority: .low, at: 0)
        #expect(patient.overdue(at: .max) == nil)
    }

    @Test("a thousand hosts that come and go leave nothing behind", arguments: 0..<4 as Range<UInt64>)
    func behavesLikeAList(seed: UInt64) {
        // given
        struct Entry { let id: UInt64, host: UInt64, priority: Priority, place: WaitingPlace }
        var random = SeededRandom(seed: seed)
        var queue = WaitingQueue<TransferID>(order: seed % 2 == 0 ? .fifo : .lifo, maxPerHost: 2)
        var waiting: [Entry] = []
        var running: [UInt64] = []
        for id in 1...5000 as ClosedRange<UInt64> {
            // when
            let host = UInt64.random(in: 1...(seed < 2 ? 8 : 1000), using: &random)
            let priority = Priority.allCases.randomElement(using: &random) ?? .normal
            let place = queue.append(TransferID(id), host: host, priority: priority, at: 0)
            waiting.append(Entry(id: id, host: host, priority: priority, place: place))
            if Bool.random(using: &random), let index = waiting.indices.randomElement(using: &random) {
                queue.remove(waiting.remove(at: index).place)
            }
            if Bool.random(using: &random), let index = running.indices.randomElement(using: &random) {
                queue.ended(host: running.remove(at: index))
            }
            let free = waiting.indices.filter { index in running.filter { $0 == waiting[index].host }.count < 2 }
            let next = free.min { a, b in
                let (a, b) = (waiting[a], waiting[b])
                if a.priority != b.priority { return a.priority > b.priority }
                return seed % 2 == 0 ? a.id < b.id : a.id > b.id
            }
            // then
            #expect(queue.next(atLeast: .veryLow)?.number == next.map { waiting[$0].id }, "seed \(seed)")
            #expect(queue.count == waiting.count)
            if let next {
                queue.started(waiting[next].place, at: 0)
                running.append(waiting.remove(at: next).host)
            }
        }
    }
}

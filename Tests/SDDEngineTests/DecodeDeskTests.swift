import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// Work that is given to decode threads without a question to the table.
@Suite struct DecodeDeskTests {
    private let desk = DecodeDesk()

    private func work(_ number: UInt64) throws -> DecodeWork {
        DecodeWork(id: TransferID(number), bytes: try Sample.body([1]), step: .decode([], nil))
    }

    @Test func aThreadIsFreeUntilItHasWork() throws {
        #expect(desk.freeThreads == 0)
        var seat = DecodeDesk.Seat(desk)
        #expect(desk.freeThreads == 1)
        let piece = try work(1)
        #expect(seat.nextWork { piece }?.id == TransferID(1))
        #expect(desk.freeThreads == 0)
        #expect(seat.nextWork { nil } == nil)
        #expect(desk.freeThreads == 1)
    }

    @Test func aThreadThatEndsIsNotFree() {
        do {
            let seat = DecodeDesk.Seat(desk)
            _ = consume seat
        }
        #expect(desk.freeThreads == 0)
    }

    @Test func givenWorkIsTakenInItsOrderAndBeforeTheTables() throws {
        var first = DecodeDesk.Seat(desk)
        var second = DecodeDesk.Seat(desk)
        #expect(desk.give([try work(1)]))
        // The thread that will do it is not free any more.
        #expect(desk.freeThreads == 1)
        #expect(desk.give([try work(2), try work(3)]))
        #expect(desk.freeThreads == 0)
        let others = try work(9)
        #expect(first.nextWork { others }?.id == TransferID(1))
        #expect(second.nextWork { others }?.id == TransferID(2))
        #expect(second.nextWork { others }?.id == TransferID(3))
        #expect(second.nextWork { others }?.id == TransferID(9))
    }

    @Test("work given before the close is still done; later work is left to its giver")
    func theEndLosesNoWork() throws {
        #expect(desk.give([try work(1)]))
        desk.close()
        #expect(!desk.give([try work(2)]))
        #expect(desk.takeGiven()?.id == TransferID(1) && desk.takeGiven() == nil)
    }
}

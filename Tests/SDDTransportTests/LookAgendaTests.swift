import TestSupport
import Testing

@testable import SDDTransport

@Suite struct LookAgendaTests {
    private var agenda = LookAgenda()
    private var planned: [TransferID: Int64] = [:]

    private mutating func plan(_ number: UInt64, at time: Int64) {
        let id = TransferID(number)
        planned[id] = agenda.plan(id, at: time, planned: planned[id] ?? .max) { [planned] in planned[$0] == $1 }
    }

    private mutating func popDue(at now: Int64) -> UInt64? {
        let id = agenda.popDue(at: now) { [planned] in planned[$0] == $1 }
        if let id { planned[id] = .max }
        return id?.number
    }

    @Test mutating func returnsTheSoonestFirstAndNoneTooEarly() {
        // given
        for (number, time) in [(1, 30), (2, 10), (3, 20)] as [(UInt64, Int64)] { plan(number, at: time) }
        // then
        let due = [popDue(at: 9), popDue(at: 25), popDue(at: 25), popDue(at: 25), popDue(at: 30)]
        #expect(due == [nil, 2, 3, nil, 1])
    }

    @Test mutating func keepsTheEarlierOfTwoTimes() {
        // given
        plan(1, at: 20)
        plan(1, at: 30)
        plan(1, at: 10)
        // then: only once
        let due = [popDue(at: 40), popDue(at: 40)]
        #expect(due == [1, nil])
    }

    @Test mutating func forgetsEndedTransfers() {
        // given
        plan(1, at: 10)
        plan(2, at: 20)
        planned[TransferID(1)] = nil
        // then
        let next = agenda.next { [planned] in planned[$0] == $1 }
        let due = popDue(at: 100)
        #expect(next == 20 && due == 2)
    }

    @Test("a naive list of times gives the same", arguments: 1...20 as ClosedRange<UInt64>)
    mutating func agreesWithANaiveList(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var naive: [UInt64: Int64] = [:]
        for now in Int64(0)..<5000 {
            let number = UInt64.random(in: 1...200, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let time = now + Int64.random(in: 0...300, using: &random)
                plan(number, at: time)
                naive[number] = min(naive[number] ?? .max, time)
            case 2:
                planned[TransferID(number)] = nil
                naive[number] = nil
            default:
                var due: Set<UInt64> = []
                while let number = popDue(at: now) { due.insert(number) }
                let expected = Set(naive.filter { $0.value <= now }.keys)
                #expect(due == expected)
                for number in due { naive[number] = nil }
            }
        }
    }

    /// Transfers that end long before their time leave entries behind.
    @Test mutating func holdsAtMostTwiceAsManyEntriesAsTransfers() {
        for number in UInt64(1)...100_000 {
            plan(number, at: Int64(number) + 1_000_000)
            if number > 10 { planned[TransferID(number - 10)] = nil }
            #expect(agenda.count <= 1025)
        }
    }
}

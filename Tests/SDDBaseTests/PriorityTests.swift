import SDDBase
import Testing

@Suite struct PriorityTests {
    @Test("R1: five levels, with the numbers of sdd.h, in order of urgency")
    func hasFiveLevelsInOrder() {
        #expect(Priority.allCases.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(Priority.allCases == Priority.allCases.sorted())
        #expect(Priority.allCases.map(\.rank) == [4, 3, 2, 1, 0])
        #expect(Priority(rawValue: 0) == nil)
        #expect(Priority(rawValue: 6) == nil)
    }

    @Test(
        arguments: [
            (Priority.veryLow, 0, Priority.veryLow), (.veryLow, 1, .low), (.normal, 2, .veryHigh),
            (.high, 7, .veryHigh),
            (.veryHigh, 1, .veryHigh),
        ] as [(Priority, Int32, Priority)])
    func isRaisedNoHigherThanTheMostUrgent(from: Priority, by levels: Int32, to: Priority) {
        #expect(from.raised(by: levels) == to)
    }
}

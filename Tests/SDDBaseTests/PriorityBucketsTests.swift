import TestSupport
import Testing

@testable import SDDBase

@Suite struct PriorityBucketsTests {
    @Test func servesTheMostUrgentFirstAndInOrderWithinAClass() {
        // given
        var queue = PriorityBuckets<String>()
        let priorities: [Priority] = [.low, .normal, .high, .veryLow, .low, .high, .veryHigh, .normal]
        for (index, priority) in priorities.enumerated() {
            _ = queue.append("\(priority) \(index)", priority: priority)
        }
        // when
        #expect(queue.count == 8)
        var served: [String] = []
        while let name = queue.popFirst() { served.append(name) }
        // then
        #expect(
            served == [
                "veryHigh 6", "high 2", "high 5", "normal 1", "normal 7", "low 0", "low 4", "veryLow 3",
            ])
        #expect(queue.isEmpty)
    }

    @Test func removesFromTheMiddleOfItsClass() {
        // given
        var queue = PriorityBuckets<Int>()
        let places = (0..<4).map { queue.append($0, priority: $0 % 2 == 0 ? .high : .low) }
        // when
        queue.remove(places[2])
        queue.remove(places[1])
        // then
        #expect(queue.count == 2)
        #expect(queue.popFirst() == 0)
        #expect(queue.popFirst() == 3)
        #expect(queue.popFirst() == nil)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func behavesLikeAStableSort(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        var queue = PriorityBuckets<Int>()
        var model: [(value: Int, priority: Priority)] = []
        for value in 0..<300 {
            // when
            if Int.random(in: 0..<3, using: &random) == 0 {
                let urgent = model.map(\.priority).max()
                let expected = model.firstIndex { $0.priority == urgent }.map { model.remove(at: $0).value }
                // then
                #expect(queue.popFirst() == expected, "seed \(seed)")
            } else {
                let priority = Priority.allCases.randomElement(using: &random) ?? .normal
                _ = queue.append(value, priority: priority)
                model.append((value, priority))
            }
            #expect(queue.count == model.count, "seed \(seed)")
        }
    }
}

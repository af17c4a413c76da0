import TestSupport
import SDDBase
import Testing

@testable import SDDEngine

@Suite struct BinaryHeapTests {
    @Test func startsEmpty() {
        // given
        var heap = BinaryHeap<Int>()
        // when, then
        #expect(heap.count == 0)
        #expect(heap.first == nil)
        #expect(heap.popFirst() == nil)
    }

    @Test func returnsTheSmallestFirst() {
        // given
        var heap = BinaryHeap([5, 3, 9, 3, 1])
        // when
        heap.insert(4)
        // then
        #expect(heap.first == 1)
        #expect(heap.count == 6)
        #expect((0..<7).map { _ in heap.popFirst() } == [1, 3, 3, 4, 5, 9, nil])
    }

    @Test func keepsElementsThatPassTheFilter() {
        // given
        var heap = BinaryHeap(Array((0..<100).reversed()))
        // when
        heap.keep { $0 % 10 == 0 }
        // then
        #expect((0..<10).map { _ in heap.popFirst() } == stride(from: 0, to: 100, by: 10).map { $0 })
        #expect(heap.count == 0)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func behavesLikeASortedArray(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        var model = (0..<Int.random(in: 0...50, using: &random)).map { _ in Int.random(in: 0..<20, using: &random) }
        var heap = BinaryHeap(model)
        for _ in 0..<500 {
            // when
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                let number = Int.random(in: 0..<20, using: &random)
                heap.insert(number)
                model.append(number)
            case 10..<19:
                let smallest = model.indices.min { model[$0] < model[$1] }
                // then
                #expect(heap.popFirst() == smallest.map { model.remove(at: $0) }, "seed \(seed)")
            default:
                heap.keep { $0 % 5 != 0 }
                model.removeAll { $0 % 5 == 0 }
            }
            #expect(heap.count == model.count && heap.first == model.min(), "seed \(seed)")
        }
    }
}

import TestSupport
import Testing

@testable import SDDBase

@Suite struct LinkedListTests {
    @Test func returnsElementsInOrder() {
        // given
        var list = LinkedList<Int>()
        // when
        for element in 1...3 { list.append(element) }
        // then
        #expect(list.count == 3)
        #expect(drained(list) == [1, 2, 3])
    }

    @Test func removesAnyElementByItsPlace() {
        // given
        for removed in 0..<3 {
            var list = LinkedList<Int>()
            let places = (0..<3).map { list.append($0) }
            // when
            let element = list.remove(places[removed])
            list.append(3)
            // then
            #expect(element == removed)
            #expect(drained(list) == [0, 1, 2, 3].filter { $0 != removed })
        }
    }

    @Test func isEmptyAfterTheLastAndCanBeRefilled() {
        // given
        var list = LinkedList<String>()
        #expect(list.popFirst() == nil)
        let place = list.append("a")
        // when
        list.remove(place)
        // then
        #expect(list.isEmpty)
        #expect(list.popFirst() == nil)
        list.append("b")
        #expect(drained(list) == ["b"])
    }

    @Test func freesRemovedElements() {
        // given
        final class Witness {}
        weak var gone: Witness?
        var list = LinkedList<Witness>()
        let place = { () -> LinkedList<Witness>.Place in
            let witness = Witness()
            gone = witness
            return list.append(witness)
        }()
        // when
        list.remove(place)
        // then
        #expect(gone == nil)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func behavesLikeAnArray(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        var list = LinkedList<Int>()
        var model: [(value: Int, place: LinkedList<Int>.Place)] = []
        for value in 0..<500 {
            // when
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1, 2: model.append((value, list.append(value)))
            case 3:
                let expected = model.isEmpty ? nil : model.removeFirst().value
                let first = list.popFirst()
                #expect(first == expected, "seed \(seed)")
            default:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                let removed = model.remove(at: index)
                let element = list.remove(removed.place)
                #expect(element == removed.value, "seed \(seed)")
            }
            // then
            #expect(list.count == model.count, "seed \(seed)")
        }
        #expect(drained(list) == model.map(\.value), "seed \(seed)")
    }

    private func drained<Element>(_ list: LinkedList<Element>) -> [Element] {
        var list = list
        var elements: [Element] = []
        while let element = list.popFirst() { elements.append(element) }
        return elements
    }
}

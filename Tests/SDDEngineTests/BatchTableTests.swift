import Testing

@testable import SDDEngine

/// The order in which items are started and taken, and their slots.
@Suite struct BatchTableTests {
    private typealias Table = BatchTable<String>

    private func table(
        count: Int? = nil, lookAhead: Int = 2, isOrdered: Bool = false, slots: Table.Slots = .none
    ) -> Table {
        Table(rules: .init(lookAhead: lookAhead, isOrdered: isOrdered, slots: slots, count: count))
    }

    /// Starts items until there is no room, with their index as token and id.
    @discardableResult
    private func fill(_ table: inout Table) -> [Int] {
        var begun: [Int] = []
        guard table.beginsAsking() else { return [] }
        repeat {
            let (index, begins) = table.given(id: UInt64(begun.count))
            if begins {
                begun.append(index)
                #expect(table.began(index, token: UInt64(index)) == false)
            }
        } while table.goesOnAsking()
        return begun
    }

    private func indexes(_ taken: [Table.Taken]) -> [Int] { taken.map(\.index) }

    @Test("Z14: no more items are under way than the look-ahead, including those that wait to be taken")
    func looksAheadNoFurther() {
        var table = table(count: 5)
        #expect(fill(&table) == [0, 1])
        #expect(table.beginsAsking() == false)
        #expect(!table.isTakeable)
        #expect(!table.isOver)
        table.ended(1, "b", succeeded: true, wasCancelled: false)
        #expect(table.beginsAsking() == false)
        #expect(table.underWayCount == 1)
        #expect(indexes(table.take(most: 9)) == [1])
        #expect(fill(&table) == [2])
    }

    @Test("Z14: items are taken as they end, or in order", arguments: [false, true])
    func itemsAreTakenInTheSpecifiedOrder(isOrdered: Bool) {
        var table = table(count: 3, lookAhead: 3, isOrdered: isOrdered)
        fill(&table)
        table.ended(2, "c", succeeded: true, wasCancelled: false)
        #expect(table.isTakeable == !isOrdered)
        table.ended(0, "a", succeeded: false, wasCancelled: false)
        #expect(indexes(table.take(most: 1)) == (isOrdered ? [0] : [2]))
        table.ended(1, "b", succeeded: true, wasCancelled: false)
        #expect(indexes(table.take(most: 9)) == (isOrdered ? [1, 2] : [0, 1]))
        #expect(table.isOver && !table.isTakeable)
        #expect(indexes(table.take(most: 9)) == [])
    }

    @Test func anItemEndsOnceAndTheFirstEndCounts() {
        var table = table(count: 1)
        fill(&table)
        table.ended(0, "first", succeeded: true, wasCancelled: false)
        table.ended(0, "second", succeeded: true, wasCancelled: false)
        let taken = table.take(most: 9)
        guard case .succeeded("first")? = taken.first?.end, taken.count == 1 else {
            Issue.record("\(taken)")
            return
        }
        table.ended(0, "third", succeeded: true, wasCancelled: false)
        #expect(table.isOver && !table.isTakeable)
    }

    @Test("Z14: an item that succeeded waits for a slot, one that failed does not")
    func waitsForASlot() {
        var table = table(count: 4, lookAhead: 4, slots: .next(1))
        fill(&table)
        for (index, succeeded) in [(0, true), (1, true), (2, false)] {
            table.ended(index, "", succeeded: succeeded, wasCancelled: false)
        }
        let taken = table.take(most: 9)
        #expect(indexes(taken) == [0, 2] && taken.map(\.slot) == [0, nil])
        #expect(!table.isTakeable)
        #expect(table.released(1) == false)
        #expect(table.released(-1) == false)
        #expect(table.released(0) == true)
        #expect(table.released(0) == false)
        #expect(table.isTakeable)
        #expect(table.take(most: 9).map(\.slot) == [0])
    }

    @Test func inOrderAnItemWithoutASlotHoldsUpTheOthers() {
        var table = table(count: 3, lookAhead: 3, isOrdered: true, slots: .next(1))
        fill(&table)
        for index in 0..<3 { table.ended(index, "", succeeded: index < 2, wasCancelled: false) }
        #expect(indexes(table.take(most: 9)) == [0])
        #expect(!table.isTakeable)
        #expect(table.released(0) == true)
        #expect(indexes(table.take(most: 9)) == [1, 2])
    }

    @Test("Z14: item i has slot i, failed or not, and there are no more items than slots")
    func slotsAreIndexes() {
        var table = table(lookAhead: 9, slots: .ofIndex(2))
        #expect(fill(&table) == [0, 1])
        table.ended(1, "", succeeded: false, wasCancelled: false)
        table.ended(0, "", succeeded: true, wasCancelled: false)
        #expect(table.take(most: 9).map(\.slot) == [1, 0])
        #expect(table.isOver)
        #expect(table.beginsAsking() == false)
    }

    @Test("Z14: after a cancel each item of a list ends, and the input function is not called again")
    func endsAfterACancel() {
        var list = table(count: 5)
        fill(&list)
        #expect(list.stopped(.cancelled).sorted() == [0, 1])
        // The first reason counts.
        #expect(list.stopped(.deadline) == [])
        #expect(list.stop == .cancelled)
        list.ended(0, "", succeeded: false, wasCancelled: true)
        list.ended(1, "in time", succeeded: true, wasCancelled: false)
        var ends: [Table.End] = []
        while !list.isOver {
            ends += list.take(most: 1).map(\.end)
            #expect(fill(&list).isEmpty)
        }
        #expect(ends.count == 5)
        let stopped = ends.filter { if case .stopped(.cancelled) = $0 { true } else { false } }
        #expect(stopped.count == 4)
        var function = table()
        fill(&function)
        _ = function.stopped(.deadline)
        #expect(function.beginsAsking() == false)
        #expect(!function.isOver)
    }

    @Test func aRequestMadeWhileTheBatchIsCancelledIsCancelledToo() {
        var table = table()
        #expect(table.beginsAsking() == true)
        let (first, _) = table.given(id: 7)
        #expect(table.goesOnAsking() == true)
        #expect(table.stopped(.cancelled) == [])
        #expect(table.began(first, token: 70) == true)
        // The function was being called: the item it returns is still part of the batch.
        let (second, begins) = table.given(id: 8)
        #expect(!begins)
        #expect(table.goesOnAsking() == false)
        table.ended(first, "", succeeded: false, wasCancelled: true)
        #expect(Set(table.take(most: 9).map(\.id)) == [7, 8])
        #expect(second == 1 && table.isOver)
    }

    @Test func aRequestMayEndBeforeItsTokenIsKnown() {
        var table = table(count: 1)
        #expect(table.beginsAsking() == true)
        let (index, _) = table.given(id: 0)
        table.ended(index, "", succeeded: true, wasCancelled: false)
        #expect(table.began(index, token: 1) == false)
        #expect(table.stopped(.cancelled) == [])
        #expect(table.take(most: 1).count == 1)
        #expect(table.began(index, token: 1) == false)
    }

    @Test func onlyOneThreadAsksAtATime() {
        var table = table()
        #expect(table.beginsAsking() == true)
        #expect(table.beginsAsking() == false)
        #expect(!table.isOver)
        table.exhausted()
        #expect(table.isOver)
        #expect(table.beginsAsking() == false)
    }

    @Test func anEmptyBatchEndsAtOnce() {
        var table = table(count: 0)
        #expect(table.isOver)
        #expect(table.beginsAsking() == false)
        #expect(!table.isTakeable)
    }
}

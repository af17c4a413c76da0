import SDDBase
import TestSupport
import Testing

@Suite struct ByteBuilderTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func joinsPiecesOfAnySize(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        var builder = ByteBuilder()
        var expected: [UInt8] = []
        // when
        for _ in 0..<50 {
            let piece = (0..<Int.random(in: 0...2000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            expected += piece
            #expect(append(piece, to: &builder))
        }
        // then
        #expect(builder.count == expected.count)
        #expect(Array(builder.take().pointer) == expected)
    }

    @Test func isEmptyAfterTakingAndCanBeFilledAgain() {
        // given
        var builder = ByteBuilder()
        #expect(append([1, 2, 3], to: &builder))
        // when
        let first = builder.take()
        // then
        #expect(builder.count == 0)
        #expect(append([4], to: &builder))
        #expect(Array(builder.take().pointer) == [4])
        #expect(Array(first.pointer) == [1, 2, 3])
    }

    @Test func givesEmptyBytesWhenNothingWasAppended() {
        // given
        var builder = ByteBuilder()
        #expect(builder.reserve(100))
        // when, then
        #expect(builder.take().count == 0)
        #expect(builder.take().count == 0)
    }

    @Test func doesNotMoveWithinWhatWasReserved() {
        // given
        var builder = ByteBuilder()
        #expect(builder.reserve(10_000))
        // when
        #expect(append([UInt8](repeating: 5, count: 10_000), to: &builder))
        // then
        #expect(builder.take().pointer.allSatisfy { $0 == 5 })
    }

    @Test func saysNoToMoreThanThereIsMemoryAndKeepsWhatItHas() {
        // given
        var builder = ByteBuilder()
        #expect(append([1, 2], to: &builder))
        // when
        let hasRoom = builder.reserve(.max)
        let hasRoomForNegative = builder.reserve(-1)
        // then
        #expect(!hasRoom)
        #expect(hasRoomForNegative, "no more than there is already")
        #expect(Array(builder.take().pointer) == [1, 2])
    }

    @Test func saysNoToACountThatOverflows() {
        // given
        var builder = ByteBuilder()
        #expect(append([1], to: &builder))
        // when: the bytes are not read, since the room is asked for first
        var byte: UInt8 = 0
        let isAppended = builder.append(&byte, count: .max)
        // then
        #expect(!isAppended)
        #expect(builder.count == 1)
    }

    private func append(_ bytes: [UInt8], to builder: inout ByteBuilder) -> Bool {
        // An empty array may have no address.
        bytes.withUnsafeBytes { $0.baseAddress.map { builder.append($0, count: bytes.count) } ?? true }
    }
}

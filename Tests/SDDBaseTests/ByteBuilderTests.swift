import SDDBase
import TestSupport
import Testing

@Suite struct ByteBuilderTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func joinsPiecesOfAnySize(seed: UInt64) {
        // given
        var random = SeededRandom(seed: seed)
        let builder = ByteBuilder()
        var expected: [UInt8] = []
        // when
        for _ in 0..<50 {
            let count = Int.random(in: 0...2000, using: &random)
            let piece = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            expected += piece
            append(piece, to: builder)
        }
        // then
        let count = builder.count
        let bytes = builder.take()
        #expect(count == expected.count)
        #expect(Array(bytes.pointer) == expected)
    }

    @Test func isEmptyAfterTakingAndCanBeFilledAgain() {
        // given
        let builder = ByteBuilder()
        append([1, 2, 3], to: builder)
        // when
        let first = builder.take()
        let left = builder.count
        append([4], to: builder)
        let second = builder.take()
        // then
        #expect(left == 0)
        #expect(Array(second.pointer) == [4])
        #expect(Array(first.pointer) == [1, 2, 3])
    }

    @Test func givesEmptyBytesIfNothingWasAppended() {
        // given
        let builder = ByteBuilder()
        let isReserved = builder.reserve(100)
        // when
        let counts = [builder.take().count, builder.take().count]
        // then
        #expect(isReserved)
        #expect(counts == [0, 0])
    }

    @Test func fillsReservedRoom() {
        // given
        let builder = ByteBuilder()
        let isReserved = builder.reserve(10_000)
        // when
        append([UInt8](repeating: 5, count: 10_000), to: builder)
        let bytes = builder.take()
        // then
        #expect(isReserved)
        #expect(bytes.pointer.allSatisfy { $0 == 5 })
    }

    // Under the thread or address sanitizer this needs allocator_may_return_null=1; otherwise they end the process.
    @Test func refusesToReserveMoreThanMemoryAndKeepsItsBytes() {
        // given
        let builder = ByteBuilder()
        append([1, 2], to: builder)
        // when
        let hasRoom = builder.reserve(.max)
        let hasRoomForNegative = builder.reserve(-1)
        // then
        #expect(!hasRoom)
        #expect(hasRoomForNegative, "less than is there already")
        let kept = builder.take()
        #expect(Array(kept.pointer) == [1, 2])
    }

    @Test func refusesACountThatOverflows() {
        // given
        let builder = ByteBuilder()
        append([1], to: builder)
        // when: the bytes are not read, since the builder makes room first
        var byte: UInt8 = 0
        let isAppended = builder.append(&byte, count: .max)
        // then
        let count = builder.count
        #expect(!isAppended)
        #expect(count == 1)
    }

    // MARK: - Bytes so far

    @Test(arguments: [1, 400, 5000, 100_000])
    func lentBytesDoNotChangeAsMoreAreAppended(size: Int) {
        // given
        let builder = ByteBuilder()
        append([UInt8](repeating: 1, count: size), to: builder)
        let lent = builder.soFar()
        // when: first within the room that is left, then beyond it
        append([2], to: builder)
        let second = builder.soFar()
        append([UInt8](repeating: 3, count: 3 * size + 600), to: builder)
        let taken = builder.take()
        append([UInt8](repeating: 4, count: size), to: builder)
        // then
        let expected = [UInt8](repeating: 1, count: size)
        #expect(Array(lent.pointer) == expected)
        #expect(Array(second.pointer) == expected + [2])
        #expect(Array(taken.pointer) == expected + [2] + [UInt8](repeating: 3, count: 3 * size + 600))
        let last = builder.take()
        #expect(Array(last.pointer) == [UInt8](repeating: 4, count: size))
    }

    @Test func lentBytesAreNotCopied() {
        // given
        let builder = ByteBuilder()
        let isReserved = builder.reserve(10_000)
        append([UInt8](repeating: 1, count: 4000), to: builder)
        // when
        let first = builder.soFar()
        append([UInt8](repeating: 2, count: 6000), to: builder)
        let addresses = [first, builder.soFar(), builder.take()].map { $0.pointer.baseAddress }
        // then
        #expect(isReserved)
        #expect(addresses.allSatisfy { $0 != nil && $0 == addresses[0] })
    }

    @Test func growingMovesTheBuilderButNotLentBytes() {
        // given
        let builder = ByteBuilder()
        append([UInt8](repeating: 1, count: 512), to: builder)
        let lent = builder.soFar()
        // when
        append([2], to: builder)
        // then
        let moved = builder.soFar()
        #expect(moved.pointer.baseAddress != lent.pointer.baseAddress)
        #expect(moved.count == 513 && lent.count == 512)
    }

    @Test func anEmptyBuilderHasNoBytesSoFar() {
        let builder = ByteBuilder()
        let isReserved = builder.reserve(100)
        #expect(isReserved && builder.soFar().count == 0)
        append([1], to: builder)
        let taken = builder.take()
        #expect(Array(taken.pointer) == [1])
        #expect(builder.soFar().count == 0)
    }

    private func append(_ bytes: [UInt8], to builder: ByteBuilder) {
        // The pointer of an empty array may be nil.
        let isAppended = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { builder.append($0, count: bytes.count) } ?? true
        }
        #expect(isAppended)
    }
}

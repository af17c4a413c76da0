import Glibc
import Testing

@testable import SDDBase

@Suite struct SpareMemoryTests {
    /// A pool of the test's own: the library's is shared by the process, and other tests use it at the same time.
    private let memory = SpareMemory(mostBytes: 4 << 20)

    @Test func reusesABlockWhileRequestsAreUnderWay() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let first = try #require(memory.allocate(777_001))
        let address = first.base
        // when
        memory.free(first)
        let second = try #require(memory.allocate(777_000))
        // then
        #expect(second.base == address && second.size == 777_001)
        memory.free(second)
    }

    @Test func doesNotReuseABlockThatIsMuchTooLarge() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let large = try #require(memory.allocate(1_555_000))
        memory.free(large)
        // when
        let small = try #require(memory.allocate(1_000_003))
        // then
        #expect(small.size == 1_000_003)
        memory.free(small)
    }

    @Test func refusesMoreThanMemory() {
        #expect(memory.allocate(.max) == nil)
    }

    @Test func keepsNoMoreThanItsLimit() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let blocks = try (0..<5).map { _ in try #require(memory.allocate(1 << 20)) }
        // when
        for block in blocks { memory.free(block) }
        let again = try (0..<4).map { _ in try #require(memory.allocate(1 << 20)) }
        // then: the last one was over the limit and was not kept
        #expect(again.map(\.base) == blocks.prefix(4).reversed().map(\.base))
        for block in again { memory.free(block) }
    }

    /// Pages of a mapped block serve a block of any other size.
    @Test(arguments: [(5 << 20, 2 << 20), (2 << 20, 5 << 20), (9 << 20, 3 << 20 | 1), (3 << 20 | 1, 7 << 20)])
    func aMappedBlockIsResized(first: Int, second: Int) throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let memory = SpareMemory(mostBytes: 16 << 20, mapsFrom: 1 << 20)
        let before = try #require(memory.allocate(first))
        memset(before.base, 1, first)
        // when: given back as an address and a size
        memory.adopt(before.base, size: before.size)
        let after = try #require(memory.allocate(second))
        // then: it is the same memory, and as large as it says
        #expect(after.size == second)
        #expect(after.base.load(as: UInt8.self) == 1)
        memset(after.base, 2, second)
        memory.free(after)
    }

    @Test func aMappedBlockIsNotTakenForALittleOne() throws {
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let memory = SpareMemory(mostBytes: 16 << 20, mapsFrom: 1 << 20)
        let large = try #require(memory.allocate(2 << 20))
        memory.free(large)
        let little = try #require(memory.allocate(1000))
        #expect(little.base != large.base)
        memory.free(little)
    }

    @Test func refusesMoreThanAddressSpace() {
        let memory = SpareMemory(mostBytes: 16 << 20, mapsFrom: 1 << 20)
        for size in [Int.max, .max - 1, .max - (2 << 20), .max / 2] { #expect(memory.allocate(size) == nil) }
    }

    /// The memory returns to the library's pool for bodies. Other tests may just have filled or emptied it, so one
    /// success among many tries is enough.
    @Test func aBodyReturnsItsMemory() throws {
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let data = [UInt8](repeating: 7, count: 888_001)
        let isUsedAgain = try (0..<200).contains { _ in
            // given
            let builder = ByteBuilder()
            #expect(builder.reserve(888_001))
            #expect(try data.withUnsafeBytes { builder.append(try #require($0.baseAddress), count: 888_001) })
            let address = builder.take().pointer.baseAddress
            // when: the bytes have been freed
            let next = try #require(SpareMemory.bodies.allocate(888_000))
            defer { SpareMemory.bodies.free(next) }
            return UnsafeRawPointer(next.base) == address
        }
        // then
        #expect(isUsedAgain)
    }

    /// The memory returns with the last reference, whatever the order in which they are freed, and only once.
    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    func aSharedBodyReturnsItsMemoryOnce(order: [Int]) throws {
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let size = 655_001 + order[0]
        let data = [UInt8](repeating: 7, count: size)
        let isUsedAgain = try (0..<200).contains { _ in
            // given
            let builder = ByteBuilder()
            #expect(builder.reserve(size))
            #expect(try data.withUnsafeBytes { builder.append(try #require($0.baseAddress), count: 1000) })
            var lent: [Bytes?] = [builder.soFar()]
            #expect(try data.withUnsafeBytes { builder.append(try #require($0.baseAddress), count: size - 1000) })
            lent += [builder.soFar(), builder.take()]
            let address = lent[0]?.pointer.baseAddress
            // when
            for index in order.dropLast() { lent[index] = nil }
            let early = try #require(SpareMemory.bodies.allocate(size))
            defer { SpareMemory.bodies.free(early) }
            #expect(UnsafeRawPointer(early.base) != address)
            #expect(lent[order[2]]?.pointer.first == 7)
            lent = []
            let next = try #require(SpareMemory.bodies.allocate(size))
            defer { SpareMemory.bodies.free(next) }
            let other = try #require(SpareMemory.bodies.allocate(size))
            defer { SpareMemory.bodies.free(other) }
            #expect(UnsafeRawPointer(other.base) != UnsafeRawPointer(next.base))
            return UnsafeRawPointer(next.base) == address
        }
        // then
        #expect(isUsedAgain)
    }
}

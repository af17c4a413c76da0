import Glibc
import Testing

@testable import SDDBase

@Suite struct SpareMemoryTests {
    /// The library's own are the process's, and other tests use them at the same time.
    private let memory = SpareMemory(mostBytes: 4 << 20)

    @Test func aBlockIsUsedAgainWhileRequestsAreUnderWay() throws {
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

    @Test func aBlockThatWouldWasteMuchIsNotUsed() throws {
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

    @Test func whatCannotBeHadIsRefused() {
        #expect(memory.allocate(.max) == nil)
    }

    @Test func whatIsTooMuchIsNotKept() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let blocks = try (0..<5).map { _ in try #require(memory.allocate(1 << 20)) }
        // when
        for block in blocks { memory.free(block) }
        let again = try (0..<4).map { _ in try #require(memory.allocate(1 << 20)) }
        // then: the last one came too late
        #expect(again.map(\.base) == blocks.prefix(4).reversed().map(\.base))
        for block in again { memory.free(block) }
    }

    /// To what the library keeps of bodies: unless others have just filled it, or taken it, so that one time is enough.
    @Test func aBodyGivesItsMemoryBack() throws {
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let data = [UInt8](repeating: 7, count: 888_001)
        let isUsedAgain = try (0..<200).contains { _ in
            // given
            let builder = ByteBuilder()
            #expect(builder.reserve(888_001))
            #expect(try data.withUnsafeBytes { builder.append(try #require($0.baseAddress), count: 888_001) })
            let address = builder.take().pointer.baseAddress
            // when: the bytes are gone
            let next = try #require(SpareMemory.bodies.allocate(888_000))
            defer { SpareMemory.bodies.free(next) }
            return UnsafeRawPointer(next.base) == address
        }
        // then
        #expect(isUsedAgain)
    }
}

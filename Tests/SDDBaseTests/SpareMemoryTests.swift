import Glibc
import Testing

@testable import SDDBase

/// Each test has sizes of its own: the memory is the process's, and other tests use it at the same time.
@Suite struct SpareMemoryTests {
    @Test func aBlockIsUsedAgainWhileRequestsAreUnderWay() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let first = try #require(SpareMemory.bodies.allocate(777_001))
        let address = first.base
        // when
        SpareMemory.bodies.free(first)
        let second = try #require(SpareMemory.bodies.allocate(777_000))
        // then
        #expect(second.base == address && second.size == 777_001)
        SpareMemory.bodies.free(second)
    }

    @Test func aBlockThatWouldWasteMuchIsNotUsed() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let large = try #require(SpareMemory.bodies.allocate(1_555_000))
        SpareMemory.bodies.free(large)
        // when
        let small = try #require(SpareMemory.bodies.allocate(1_000_003))
        // then
        #expect(small.size == 1_000_003)
        SpareMemory.bodies.free(small)
    }

    @Test func whatCannotBeHadIsRefused() {
        #expect(SpareMemory.bodies.allocate(.max) == nil)
    }

    @Test func aBodyGivesItsMemoryBack() throws {
        // given
        SpareMemory.beginUse()
        defer { SpareMemory.endUse() }
        let builder = ByteBuilder()
        let hasRoom = builder.reserve(888_001)
        let data = [UInt8](repeating: 7, count: 888_001)
        let hasAll = try data.withUnsafeBytes { builder.append(try #require($0.baseAddress), count: 888_001) }
        #expect(hasRoom && hasAll)
        let address = builder.take().pointer.baseAddress
        // when: the bytes are gone
        let next = try #require(SpareMemory.bodies.allocate(888_000))
        // then
        #expect(UnsafeRawPointer(next.base) == address)
        SpareMemory.bodies.free(next)
    }
}

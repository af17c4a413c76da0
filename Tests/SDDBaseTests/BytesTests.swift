import Glibc
import SDDBase
import Testing

@Suite struct BytesTests {
    @Test func copiesTheGivenBytes() throws {
        // given
        var source: [UInt8] = [1, 2, 3]
        // when
        let bytes = try #require(source.withUnsafeBytes { Bytes(copying: $0) })
        source[0] = 9
        // then
        #expect(Array(bytes.pointer) == [1, 2, 3])
        #expect(bytes.count == 3)
    }

    @Test func isEmptyWithoutMemory() throws {
        // given, when
        let bytes = try #require(Bytes(copying: UnsafeRawBufferPointer(start: nil, count: 0)))
        // then
        #expect(bytes.count == 0)
        #expect(bytes.pointer.baseAddress == nil)
    }

    @Test func takesOverMemoryWithoutCopying() throws {
        // given
        let memory = try #require(malloc(4))
        memory.initializeMemory(as: UInt8.self, repeating: 7, count: 4)
        // when
        let bytes = Bytes(adopting: memory, count: 4)
        // then
        #expect(bytes.pointer.baseAddress == UnsafeRawPointer(memory))
        #expect(Array(bytes.pointer) == [7, 7, 7, 7])
    }
}

import Testing

@testable import SDDTransport

@Suite struct PackedEndTests {
    /// A stream as long as the shortest gzip stream, with 300 as the size at its end.
    private static let packed = [UInt8](repeating: 1, count: 16) + [0x2C, 0x01, 0, 0]

    private func end(_ bytes: [UInt8], isChunked: Bool, length: Int64 = -1, piece: Int = .max) throws -> PackedEnd {
        var end = try #require(PackedEnd(.gzip, isChunked: isChunked, length: length, limit: .max))
        var rest = bytes[...]
        while !rest.isEmpty {
            Array(rest.prefix(piece)).withUnsafeBytes { end.append($0) }
            rest = rest.dropFirst(piece)
        }
        return end
    }

    private func chunked(_ sizes: [Int], extension text: String = "") -> [UInt8] {
        var rest = Self.packed[...]
        var bytes: [UInt8] = []
        for size in sizes {
            bytes += Array("\(String(size, radix: 16))\(text)\r\n".utf8) + rest.prefix(size) + Array("\r\n".utf8)
            rest = rest.dropFirst(size)
        }
        return bytes + Array("0\r\nTrailer: abcdefgh\r\n\r\n".utf8)
    }

    @Test(arguments: [1, 2, 3, 5, 7, .max])
    func findsTheSizeInPiecesOfAnySize(piece: Int) throws {
        // given
        let bodies = [
            chunked([20]), chunked([18, 2]), chunked([16, 4], extension: ";ext=ab"),
            chunked(Array(repeating: 1, count: 20)),
        ]
        // when, then
        #expect(try end(Self.packed, isChunked: false, piece: piece).isEnd(ofUnpacked: 300))
        for body in bodies { #expect(try end(body, isChunked: true, piece: piece).isEnd(ofUnpacked: 300)) }
    }

    @Test func countsModulo32Bits() throws {
        #expect(try end(Self.packed, isChunked: false).isEnd(ofUnpacked: 300 + (1 << 32)))
        #expect(try !end(Self.packed, isChunked: false).isEnd(ofUnpacked: 299))
    }

    @Test func ignoresBytesAfterTheAnnouncedEnd() throws {
        #expect(try end(Self.packed + [9, 9, 9], isChunked: false, length: 20).isEnd(ofUnpacked: 300))
    }

    @Test func anEmptyStreamIsComplete() throws {
        #expect(try end([], isChunked: false).isEnd(ofUnpacked: 0))
        #expect(try !end([1, 2, 3], isChunked: false).isEnd(ofUnpacked: 0))
        #expect(try !end(Array(Self.packed.dropLast()), isChunked: false).isEnd(ofUnpacked: 300))
    }

    @Test(arguments: ["zz\r\n", "ffffffffffffffffffffffff\r\nabc", "5\r\nabc", "\n\n\n", "-1\r\n", "5;"])
    func survivesMalformedChunks(text: String) throws {
        #expect(try !end(Array(text.utf8), isChunked: true, piece: 2).isEnd(ofUnpacked: 300))
    }
}

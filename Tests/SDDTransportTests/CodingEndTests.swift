import SDDBase
import Testing
import TestSupport

@testable import SDDTransport

/// Complete streams of each coding end at their last byte, and no prefix of a stream does.
@Suite struct CodingEndTests {
    private static let text = "hello, hello, hello, hello, hello"
    private static let zlib: [UInt8] = [
        0x78, 0xda, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0xc8, 0xc0, 0x49, 0x01, 0x00, 0xc4, 0xa4, 0x0b, 0x95,
    ]
    private static let brotli: [UInt8] = [
        0x1b, 0x20, 0x00, 0x00, 0xa4, 0x40, 0x58, 0x6a, 0x10, 0x6a, 0x2a, 0xf1, 0x9c, 0xce, 0x00,
    ]
    private static let zstd: [UInt8] = [
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x6d, 0x00, 0x00, 0x38, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x2c, 0x20, 0x01,
        0x00, 0xb2, 0x8b, 0x11, 0x0d, 0xac, 0xd1, 0x05,
    ]
    private static let skippable: [UInt8] = [0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0x28, 0xb5]

    private func isWhole(_ coding: PackedEnd.Coding, _ bytes: [UInt8], piece: Int = .max) throws -> Bool {
        var end = try #require(PackedEnd(coding, isChunked: false, length: -1, limit: 1 << 20))
        var rest = bytes[...]
        while !rest.isEmpty {
            Array(rest.prefix(piece)).withUnsafeBytes { end.append($0) }
            rest = rest.dropFirst(piece)
        }
        return end.isEnd(ofUnpacked: Self.text.utf8.count)
    }

    @Test(arguments: [
        (PackedEnd.Coding.deflate, zlib), (.deflate, Array(zlib[2..<14])), (.brotli, brotli), (.zstd, zstd),
        (.zstd, skippable + zstd), (.zstd, zstd + skippable),
    ])
    func endsOnlyAtTheLastByte(coding: PackedEnd.Coding, bytes: [UInt8]) throws {
        for piece in [1, 2, 3, 7, .max] { #expect(try isWhole(coding, bytes, piece: piece)) }
        // After a skipped frame the stream may be complete or not.
        let last = bytes.suffix(Self.skippable.count) == Self.skippable[...] ? Self.skippable.count : 0
        for count in 1..<bytes.count where count != bytes.count - last {
            if bytes.starts(with: Self.skippable) && count == Self.skippable.count { continue }
            #expect(try !isWhole(coding, Array(bytes.prefix(count)), piece: 4), "\(coding) cut to \(count)")
        }
    }

    /// gzip has deflated data between a header of 10 bytes and a trailer of 8.
    @Test(arguments: [1, 6, 9]) func followsTheOutputOfGzip(level: Int) throws {
        let folder = try TemporaryFolder()
        for seed in 0..<12 as Range<UInt64> {
            // given
            var random = SeededRandom(seed: seed)
            let file = try folder.write("content", content(&random))
            let packed = try run(["gzip", "-nc\(level)", file]).output
            let data = Array(packed.dropFirst(10).dropLast(8))
            // when, then
            let pieces = [1, 3, 100, .max].map { min($0, data.count) }
            for piece in pieces { #expect(try deflateEnds(data, piece), "seed \(seed), pieces of \(piece)") }
            for _ in 0..<20 {
                let count = Int.random(in: 0..<data.count, using: &random)
                #expect(
                    try !deflateEnds(Array(data.prefix(count)), 64), "seed \(seed), cut to \(count) of \(data.count)")
            }
        }
    }

    /// Returns data for each kind of block: empty, incompressible, few letters, long repeats.
    private func content(_ random: inout SeededRandom) -> [UInt8] {
        let size = [0, 1, 40, 5000, 70_000].randomElement(using: &random) ?? 0
        let letters = [1, 3, 20, 256].randomElement(using: &random) ?? 1
        var content = (0..<size).map { _ in UInt8(Int.random(in: 0..<letters, using: &random)) }
        for _ in 0..<Int.random(in: 0...20, using: &random) where size > 0 {
            let start = Int.random(in: 0..<size, using: &random)
            content += content[start..<min(start + 500, size)]
        }
        return content
    }

    private func deflateEnds(_ data: [UInt8], _ piece: Int) throws -> Bool {
        let end = try #require(DeflateEnd(limit: .max))
        var rest = data[...]
        while !rest.isEmpty {
            Array(rest.prefix(max(piece, 1))).withUnsafeBytes { end.append($0) }
            rest = rest.dropFirst(max(piece, 1))
        }
        return end.isWhole
    }

    @Test func survivesAnyBytes() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<3000 {
            var bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes = [bytes.first.map { $0 & 0xf8 | 5 } ?? 5] + bytes }
            let piece = Int.random(in: 1...50, using: &random)
            _ = try deflateEnds(bytes, piece)
            _ = try isWhole(.zstd, Array(Self.zstd.prefix(Int.random(in: 0...9, using: &random))) + bytes, piece: piece)
            _ = try isWhole(.brotli, bytes, piece: piece)
        }
    }
}

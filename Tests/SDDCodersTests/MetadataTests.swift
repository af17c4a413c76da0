import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Metadata of pictures, compared with what was put in and what Pillow reads.
@Suite struct MetadataTests {
    private static let names = ["grey", "kinds-jpeg", "kinds", "palette", "pillow-jpeg", "pillow"]

    @Test(arguments: names)
    func givesTheBlocksOfTheFile(name: String) throws {
        let image = try picture(name)
        for (kind, ending) in [(Metadata.Kind.icc, "icc"), (.exif, "exif"), (.xmp, "xmp")] {
            // given
            let expected = try? Fixtures.array("metadata/\(name).\(ending)")
            // when
            let block = try image.metadata?.block(kind)
            // then
            #expect(block.map { Array($0.pointer) } == expected, "\(ending)")
        }
    }

    @Test(arguments: names)
    func givesTheTextsOfTheFile(name: String) throws {
        // given: keyword, text, language, translated keyword
        let lines = try Fixtures.array("metadata/\(name).texts").split(separator: UInt8(ascii: "\n"))
        let expected = lines.map { line in
            line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map { Array($0) + [0] }
        }
        // when
        let texts = try #require(try picture(name).metadata).texts
        // then
        let told = texts.map { [$0.keyword, $0.text, $0.language, $0.translatedKeyword].map { Array($0.pointer) } }
        #expect(told == expected)
    }

    @Test func ofPartsWithTheSameNumberTheFirstCounts() throws {
        let block = try Metadata(of: Fixtures.bytes("metadata/icc-twice.jpg"), format: .jpeg).block(.icc)
        #expect(try block.map { Array($0.pointer) } == Fixtures.array("metadata/kinds-jpeg.icc"))
    }

    @Test func metadataIsPartOfTheImage() throws {
        let image = try picture("pillow")
        #expect(image.metadata === image.metadata)
        #expect(try image.metadata?.block(.icc) === image.metadata?.block(.icc))
        let without = Image(pixels: image.pixels, format: .png, bytes: nil)
        #expect(without.metadata == nil)
    }

    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func otherPicturesHaveNoProfile(name: String) throws {
        let metadata = Metadata(of: try Fixtures.bytes(name), format: name.hasSuffix("jpg") ? .jpeg : .png)
        #expect(try metadata.block(.icc) == nil && metadata.block(.xmp) == nil)
        #expect(try (metadata.block(.exif) != nil) == (name == "jpeg/exif-orientation.jpg"))
    }

    private static let damaged: [(String, Metadata.Kind, CoderError.Kind)] = [
        ("icc-wrong-crc.png", .icc, .corrupt), ("icc-spoilt.png", .icc, .corrupt), ("icc-method.png", .icc, .corrupt),
        ("icc-no-name.png", .icc, .corrupt), ("icc-bomb.png", .icc, .corrupt), ("icc-large.png", .icc, .chunkTooLarge),
        ("icc-of-greys.png", .icc, .corrupt), ("exif-wrong-crc.png", .exif, .corrupt),
        ("icc-missing.jpg", .icc, .corrupt), ("icc-counts.jpg", .icc, .corrupt),
        ("icc-number-0.jpg", .icc, .corrupt), ("icc-short.jpg", .icc, .corrupt),
    ]

    @Test(arguments: damaged)
    func damagedMetadataIsAnError(name: String, kind: Metadata.Kind, expected: CoderError.Kind) throws {
        // given: the picture itself is good
        let bytes = try Fixtures.bytes("metadata/bad/\(name)")
        let image = try DecoderSet(registry: .builtIn).decode(bytes, form: DecodeOptions(), maxPixels: 1 << 20)
        // when
        let error = #expect(throws: CoderError.self) { try image.metadata?.block(kind) }
        // then
        #expect(error?.kind == expected)
    }

    // MARK: - Limits

    @Test func tooLargeTextsAreLeftOut() throws {
        #expect(try keywords("metadata/bad/text-bombs.png") == ["Title"])
        #expect(try keywords("png/text-bomb.png") == [])
        // Eight of them reach the limit of all texts together.
        #expect(try keywords("metadata/bad/many-bombs.png") == [])
    }

    @Test func theNumberOfTextsIsLimited() throws { #expect(try keywords("png/many-texts.png").count == 128) }

    /// Sizes up to the limit, and one above it.
    @Test(arguments: [(0, 0), (1, 1), (5000, 5000), (8_380_000, 8_380_000), (8_388_609, nil)] as [(Int, Int?)])
    func unpacksUpToEightMiB(size: Int, expected: Int?) throws {
        // given
        let packed = Self.stored(size)
        // when
        let metadata = Metadata(of: bytes(of: Self.png("zTXt", Array("Long\0\0".utf8) + packed)), format: .png)
        // then
        #expect(metadata.texts.first?.text.count == expected.map { $0 + 1 })
    }

    /// Returns that many letters, deflated without compression (RFC 1950; RFC 1951, 3.2.4).
    private static func stored(_ size: Int) -> [UInt8] {
        var packed: [UInt8] = [0x78, 0x01]
        var left = size
        repeat {
            let count = min(left, 65_535)
            left -= count
            packed += [
                left == 0 ? 1 : 0, UInt8(count & 0xff), UInt8(count >> 8), ~UInt8(count & 0xff), ~UInt8(count >> 8),
            ]
            packed += Array(repeating: UInt8(ascii: "a"), count: count)
        } while left > 0
        var (first, second) = (1, 0)
        for _ in 0..<size {
            first = (first + Int(UInt8(ascii: "a"))) % 65_521
            second = (second + first) % 65_521
        }
        return packed + [second >> 8, second & 0xff, first >> 8, first & 0xff].map { UInt8($0) }
    }

    // MARK: - Damage

    @Test(arguments: ["pillow.png", "kinds.png", "kinds.jpg"])
    func survivesRandomBytes(name: String) throws {
        // given
        let whole = try Fixtures.array("metadata/\(name)")
        let format: ImageFormat = name.hasSuffix("jpg") ? .jpeg : .png
        var random = SeededRandom(seed: 2027)
        for round in 0..<TestLength.count(3000, short: 600) {
            var damaged = whole
            for _ in 0...(round % 4) {
                let place = Int.random(in: 0..<damaged.count, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 2 == 1 { damaged = Pictures.withChecksums(damaged) }
            // when
            let metadata = Metadata(of: bytes(of: damaged), format: format)
            // then
            for kind in Metadata.Kind.allCases { _ = try? metadata.block(kind) }
            #expect(metadata.texts.allSatisfy { $0.text.pointer.last == 0 && $0.keyword.pointer.last == 0 })
        }
    }

    @Test(arguments: ["pillow.png", "kinds.png", "kinds.jpg"])
    func survivesEveryCut(name: String) throws {
        let whole = try Fixtures.array("metadata/\(name)")
        let format: ImageFormat = name.hasSuffix("jpg") ? .jpeg : .png
        let all = Metadata(of: bytes(of: whole), format: format).texts.count
        for count in 0..<whole.count {
            let metadata = Metadata(of: bytes(of: whole[..<count]), format: format)
            #expect(metadata.texts.count <= all)
        }
    }

    private func picture(_ name: String) throws -> Image {
        let file = name.hasSuffix("-jpeg") ? "\(name.dropLast(5)).jpg" : "\(name).png"
        return try DecoderSet(registry: .builtIn).decode(
            Fixtures.bytes("metadata/\(file)"), form: DecodeOptions(), maxPixels: 1 << 20)
    }

    private func keywords(_ name: String) throws -> [String] {
        Metadata(of: try Fixtures.bytes(name), format: .png).texts.map {
            String(decoding: $0.keyword.pointer.dropLast(), as: UTF8.self)
        }
    }

    /// Returns a signature and one chunk.
    private static func png(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let count = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> (24 - 8 * $0)) }
        return Pictures.withChecksums(ImageFormat.png.magicNumber + count + Array(name.utf8) + data + [0, 0, 0, 0])
    }
}

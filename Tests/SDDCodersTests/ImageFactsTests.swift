import SDDBase
import SDDCoders
import TestSupport
import Testing

/// Rows C8 and C10, as far as they are known before the pixels; compared with Pillow.
@Suite struct ImageFactsTests {
    @Test func agreeWithPillow() throws {
        let lines = String(decoding: try Fixtures.array("facts/facts.txt"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 87)
        for line in lines {
            // given
            let words = line.split(separator: " ").map { String($0) }
            // when
            let facts = try facts(of: Fixtures.array(words[0]))
            // then
            let told = [
                facts.width, facts.height, facts.channels, facts.depth, facts.isProgressive ? 1 : 0, facts.frameCount,
                facts.loopCount, facts.orientation,
            ]
            #expect(told.map { String($0) } == Array(words[1...]), "\(words[0])")
            #expect(facts.format == (words[0].hasSuffix("jpg") ? .jpeg : .png))
        }
    }

    @Test func agreeWithTheDecoder() throws {
        let decoders = DecoderSet(registry: .builtIn)
        for name in Pictures.jpegs + Pictures.pngs {
            let image = try decoders.decode(
                Fixtures.bytes(name), form: .stored, maxPixels: 1 << 20)
            let facts = try facts(of: Fixtures.array(name))
            #expect(facts.width == image.pixels.width && facts.height == image.pixels.height, "\(name)")
        }
    }

    /// The facts of each beginning of a file: incomplete while it is too short, then always the same.
    @Test func areKnownFromABeginning() throws {
        for name in Pictures.jpegs + Pictures.pngs + ["facts/animated.png", "facts/orientation-3.jpg"] {
            // given
            let whole = try Fixtures.array(name)
            let expected = try facts(of: whole)
            // when
            let counts =
                Array(0..<min(whole.count, 600)) + Array(stride(from: 600, to: whole.count, by: 97)) + [whole.count]
            let outcomes = counts.map { outcome(Array(whole[..<$0])) }
            // then
            let first = outcomes.firstIndex { $0 == .success(expected) } ?? 0
            #expect(first > 0 && outcomes[..<first].allSatisfy { $0 == .failure(.incomplete) }, "\(name)")
            #expect(outcomes[first...].allSatisfy { $0 == .success(expected) }, "\(name)")
        }
    }

    /// Bytes after the beginning are never read.
    @Test func doNotNeedThePixels() throws {
        let jpeg = Array(try Fixtures.array("jpeg/progressive-420.jpg").prefix(400))
        #expect(try facts(of: jpeg).isProgressive)
        #expect(try facts(of: jpeg + Array(repeating: 0, count: 1000)) == facts(of: jpeg))
    }

    @Test(arguments: [
        ("jpeg/bad/zero-width.jpg", ImageFacts.Failure.malformed), ("jpeg/bad/zero-height.jpg", .malformed),
        ("png/bad/zero-width.png", .malformed), ("png/bad/zero-height.png", .malformed),
        ("png/bad/over-31-bits.png", .malformed), ("png/bad/no-idat.png", .malformed),
        ("png/bad/unknown-critical.png", .malformed), ("README.md", .unknownFormat),
    ])
    func refuseInvalidPictures(name: String, failure: ImageFacts.Failure) throws {
        #expect(outcome(try Fixtures.array(name)) == .failure(failure))
    }

    @Test func existForAPictureThatCannotBeDecoded() throws {
        #expect(try facts(of: Fixtures.array("jpeg/bad/twelve-bit.jpg")).depth == 12)
        #expect(try facts(of: Fixtures.array("jpeg/bad/huge.jpg")).width == 65_500)
        #expect(try facts(of: Fixtures.array("png/bad/huge.png")).height == Int(Int32.max))
    }

    @Test func refuseHeadersThatBreakTheRules() throws {
        // given: a good header, and values to put into its fields
        let good = try Fixtures.array("png/rgb8.png")
        let places: [(offset: Int, bad: [UInt8])] = [
            (8, [1]), (11, [12, 14]), (12, [0]), (16, [0x80]), (24, [0, 1, 3, 5, 7, 32]), (25, [1, 5, 7]), (26, [1]),
            (27, [1]), (28, [2]),
        ]
        for place in places {
            for byte in place.bad {
                // when
                var bytes = good
                bytes[place.offset] = byte
                // then
                let outcome = outcome(bytes)
                let isRefused =
                    outcome == .failure(.malformed) || (place.offset < 12 && outcome == .failure(.incomplete))
                #expect(isRefused, "byte \(byte) at \(place.offset): \(outcome)")
            }
        }
    }

    @Test func refuseSegmentsThatBreakTheRules() {
        let start: [UInt8] = [0xff, 0xd8, 0xff]
        let frame: [UInt8] = [0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0]
        #expect(outcome(start + frame).map { $0.width } == .success(3))
        // fill bytes, restart markers, garbage and tables in front are skipped
        #expect(outcome(start + [0xff, 0xff] + frame).map { $0.height } == .success(2))
        #expect(outcome(start + [0xd3, 0xff, 0x01, 7, 0, 0xff] + frame).map { $0.height } == .success(2))
        #expect(outcome(start + [0xc4, 0, 3, 9, 0xff] + frame).map { $0.channels } == .success(1))
        for bad in [[0xd8], [0xd9], [0xda, 0, 2], [0xe0, 0, 1], [0xe0, 0, 0]] as [[UInt8]] {
            #expect(outcome(start + bad + [0xff] + frame) == .failure(.malformed), "\(bad)")
        }
        // a length that does not fit the components, no components, no size
        for (offset, byte) in [(2, 12), (2, 10), (8, 0), (8, 2), (5, 0), (7, 0)] as [(Int, UInt8)] {
            var bytes = frame
            bytes[offset] = byte
            #expect(outcome(start + bytes + [0, 0]) == .failure(.malformed), "\(byte) at \(offset)")
        }
    }

    @Test func aBrokenAnimationHasTheFactsOfAStillPicture() throws {
        // given
        let good = try Fixtures.array("facts/animated.png")
        let name = try #require(good.indices.first { good[$0...].starts(with: Array("acTL".utf8)) })
        // when: no frames, more than there can be, a chunk under another name
        for (offset, byte) in [(7, 0), (4, 0x80), (8, 0x80), (0, 0x62)] as [(Int, UInt8)] {
            var bytes = good
            bytes[name + offset] = byte
            // then
            let facts = try facts(of: bytes)
            #expect(facts.frameCount == 1 && facts.loopCount == 1, "\(byte) at \(offset)")
        }
    }

    @Test func brokenExifMeansNoOrientation() throws {
        // given
        let good = try Fixtures.array("facts/orientation-6.jpg")
        let block = try #require(good.indices.first { good[$0...].starts(with: Array("Exif".utf8)) })
        let tag = block + 6 + 8 + 2 + 12
        #expect(try facts(of: good).orientation == 6)
        // when: another name, order, number or place of the directory; another tag, type or count; 0, 9, 262
        let wrong: [(Int, UInt8)] = [
            (block, 0x65), (block + 6, 0x4a), (block + 8, 43), (block + 10, 3), (block + 13, 0xff), (tag, 0x13),
            (tag + 2, 4), (tag + 4, 2), (tag + 8, 0), (tag + 8, 9), (tag + 9, 1),
        ]
        for (offset, byte) in wrong {
            var bytes = good
            bytes[offset] = byte
            // then
            #expect(try facts(of: bytes).orientation == 1, "\(byte) at \(offset)")
        }
    }

    /// The metadata are those of the first segment, too.
    @Test func theFirstExifSegmentCounts() throws {
        let good = try Fixtures.array("facts/orientation-6.jpg")
        let block = try #require(good.indices.first { good[$0...].starts(with: Array("Exif".utf8)) })
        let segment = good[(block - 4)..<(block + 2 + Int(good[block - 2]) << 8 + Int(good[block - 1]) - 4)]
        var first = Array(segment)
        first[4 + 6 + 8 + 2 + 12 + 8] = 9
        let bytes = Array(good[..<2]) + first + Array(good[2...])
        #expect(try facts(of: bytes).orientation == 1)
        #expect(try facts(of: Array(good[..<2]) + Array(segment) + first + Array(good[2...])).orientation == 6)
    }

    @Test(arguments: [
        "jpeg/exif-orientation.jpg", "facts/animated.png", "facts/orientation.png", "png/palette4-trns.png",
    ])
    func surviveRandomBytes(name: String) throws {
        let good = Array(try Fixtures.array(name).prefix(300))
        var random = SeededRandom(seed: 77)
        var counts: [Outcome: Int] = [:]
        for _ in 0..<50_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            counts[Outcome(outcome(bytes)), default: 0] += 1
        }
        // Each kind of outcome has occurred.
        #expect(counts.count == 4, "\(counts)")
    }

    private enum Outcome: Hashable {
        case facts, unknown, malformed, incomplete

        init(_ result: Result<ImageFacts, ImageFacts.Failure>) {
            switch result {
            case .success: self = .facts
            case .failure(.unknownFormat): self = .unknown
            case .failure(.malformed): self = .malformed
            case .failure(.incomplete): self = .incomplete
            }
        }
    }

    private func facts(of bytes: [UInt8]) throws -> ImageFacts { try outcome(bytes).get() }

    private func outcome(_ bytes: [UInt8]) -> Result<ImageFacts, ImageFacts.Failure> {
        // Copies into a block of its own, so that a sanitizer detects a read behind its end.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        do throws(ImageFacts.Failure) {
            return .success(try ImageFacts(of: UnsafeRawBufferPointer(copy)))
        } catch {
            return .failure(error)
        }
    }
}

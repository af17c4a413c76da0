import SDDBase
import SDDCoders
import TestSupport
import Testing

/// Damaged files give a picture or an error, and the decoder works normally afterwards.
@Suite struct DamageTests {
    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func survivesRandomBytes(name: String) throws {
        // given
        let whole = try Fixtures.array(name)
        let expected = try Outcome.picture(Pictures.expected(name))
        let decoders = DecoderSet(registry: .builtIn)
        var random = SeededRandom(seed: 2024)
        for round in 0..<TestLength.count(3000, short: 400) {
            var damaged = whole
            for _ in 0...(round % 8) {
                let place = Int.random(in: 0..<damaged.count, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            // when
            _ = decoders.outcome(damaged)
            // then
            if round % 200 == 0 {
                #expect(decoders.outcome(whole) == expected, "round \(round) of seed 2024")
            }
        }
        #expect(decoders.outcome(whole) == expected)
    }

    /// Decodes in pieces, with previews after each, strictly and leniently, at full size and smaller.
    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func survivesRandomBytesInPieces(name: String) throws {
        // given
        let whole = try Fixtures.array(name)
        var random = SeededRandom(seed: 2026)
        for round in 0..<TestLength.count(400, short: 150) {
            var damaged = whole
            for _ in 0...(round % 6) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let form = DecodeOptions(
                size: round % 2 == 0 ? .none : SizeRule(width: 5, height: 5), isLenient: round % 4 < 2)
            // when
            let cuts = (0..<4).map { _ in Int.random(in: 1...damaged.count, using: &random) }.sorted() + [damaged.count]
            let images = PictureStreamTests.images(cuts.map { bytes(of: damaged[..<$0]) }, form)
            // then
            var rows = 0
            for image in images {
                let good = image.goodRows ?? image.pixels.height
                // The good rows are counted before the picture is turned.
                #expect(good >= 0 && good <= max(image.pixels.height, image.pixels.width))
                if image.isPreview {
                    // A JPEG whose components come one after the other has no good rows before the last of them.
                    #expect(good >= rows || (good == 0 && !name.hasSuffix(".png")), "round \(round)")
                    rows = good
                }
            }
        }
    }

    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func survivesShiftedBytes(name: String) throws {
        // given
        let whole = try Fixtures.array(name)
        let expected = try Outcome.picture(Pictures.expected(name))
        let decoders = DecoderSet(registry: .builtIn)
        var random = SeededRandom(seed: 2025)
        for _ in 0..<200 {
            var damaged = whole
            let from = Int.random(in: 2..<damaged.count, using: &random)
            let until = min(damaged.count, from + Int.random(in: 1...40, using: &random))
            let taken = Array(damaged[from..<until])
            if Bool.random(using: &random) { damaged.removeSubrange(from..<until) }
            damaged.insert(contentsOf: taken, at: Int.random(in: 2...damaged.count, using: &random))
            // when
            _ = decoders.outcome(damaged)
        }
        // then
        #expect(decoders.outcome(whole) == expected)
    }

    @Test(arguments: ["jpeg/bad/two-ends.jpg", "jpeg/bad/huge.jpg", "jpeg/bad/zero-width.jpg"])
    func decodesRightAfterABadJPEG(name: String) throws {
        try expectRightPixels(of: "jpeg/progressive-420.jpg", after: name)
    }

    @Test(arguments: ["png/bad/too-few-rows.png", "png/bad/huge.png", "png/bad/zero-width.png"])
    func decodesRightAfterABadPNG(name: String) throws {
        try expectRightPixels(of: "png/rgba16-interlaced.png", after: name)
    }

    private func expectRightPixels(of good: String, after bad: String) throws {
        // given
        let decoders = DecoderSet(registry: .builtIn)
        let badBytes = try Fixtures.bytes(bad)
        #expect(throws: CoderError.self) {
            try decoders.decode(badBytes, form: .stored, maxPixels: 1 << 20)
        }
        // when
        let outcome = try decoders.outcome(Fixtures.bytes(good))
        // then
        #expect(try outcome == .picture(Pictures.expected(good)))
    }
}

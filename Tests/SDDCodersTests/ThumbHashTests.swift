import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

@Suite struct ThumbHashTests {
    /// Pictures and their hashes by the first implementation.
    private static let known: [(name: String, hash: [UInt8])] = {
        let text = (try? Fixtures.array("thumbhash/hashes.txt")) ?? []
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            let digits = Array(words[1].utf8)
            let hash = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
            }
            return (String(words[0]), hash)
        }
    }()

    /// Returns the picture of a name in that list: a file, or slopes of a size.
    private func picture(_ name: String) throws -> Raster {
        guard name.hasPrefix("slopes-") else { return try Raster(pam: Fixtures.array(name)) }
        let words = name.split(separator: "-")
        let width = try #require(Int(words[1])), height = try #require(Int(words[2]))
        return slopes(width, height, hasAlpha: words[3] == "alpha")
    }

    /// Returns the picture that make_thumbhashes.mjs makes, too.
    private func slopes(_ width: Int, _ height: Int, hasAlpha: Bool) -> Raster {
        var rgba: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                rgba.append(UInt8(x * 255 / width) ^ UInt8(y & 1))
                rgba.append(UInt8(y * 200 / height + 40))
                rgba.append(UInt8((x * y * 3 + width) & 255))
                rgba.append(hasAlpha ? UInt8((x + 2 * y) * 255 / (width + 2 * height)) : 255)
            }
        }
        return Raster(width: width, height: height, rgba: rgba)
    }

    private func hash(of pixels: PixelBuffer) throws -> [UInt8] {
        let hash = try ThumbHash.hash(of: pixels)
        return withExtendedLifetime(hash) { Array(hash.pointer) }
    }

    private func made(of hash: [UInt8]) throws -> Raster? {
        try hash.withUnsafeBytes { try ThumbHash.picture(of: $0) }.map { Raster($0) }
    }

    /// Whether two hashes differ at most in waves that the picture lacks: the first implementation rounds their 7.5 to
    /// 7 or 8 by what its additions have left, and this one to 8. A channel of scale 0 has such waves alone.
    private func describeTheSame(_ own: [UInt8], _ other: [UInt8], hasFlatColours: Bool) -> Bool {
        let head = own[2] & 0x80 == 0 ? 5 : 6
        guard own.count == other.count, own[..<head] == other[..<head] else { return false }
        let halves = { (hash: [UInt8]) -> [UInt8] in hash[head...].flatMap { [$0 & 15, $0 >> 4] } }
        return zip(halves(own), halves(other)).allSatisfy { (own: UInt8, other: UInt8) -> Bool in
            own == other || own == 8 && other == 7 || own == 0 && hasFlatColours
        }
    }

    /// Whether a picture has fewer pixels than waves in a direction, so that the first implementation takes waves for
    /// others.
    private func isSmallerThanItsWaves(_ picture: Raster, _ hash: [UInt8]) -> Bool {
        let hasAlpha = hash[2] & 0x80 != 0, isLandscape = hash[4] & 0x80 != 0
        let (longer, shorter) = (hasAlpha ? 5 : 7, max(Int(hash[3] & 7), hasAlpha ? 5 : 3))
        return isLandscape
            ? picture.width < longer || picture.height < shorter : picture.width < shorter || picture.height < longer
    }

    @Test func equalsTheFirstImplementation() throws {
        var exact = 0
        var tiny = 0
        for (name, expected) in Self.known {
            let picture = try picture(name)
            let own = try hash(of: picture.pixels(as: .rgba8))
            if isSmallerThanItsWaves(picture, expected) {
                tiny += 1
                continue
            }
            exact += own == expected ? 1 : 0
            let isFlat = name == "png/grey1-trns.pam"  // one grey, of which its waves are rounding errors
            #expect(describeTheSame(own, expected, hasFlatColours: isFlat), "\(name): \(own), not \(expected)")
        }
        #expect(Self.known.count == 98)
        #expect(tiny == 19)
        #expect(exact == 74)
    }

    @Test(arguments: [
        "slopes-100-37-opaque", "slopes-100-37-alpha", "slopes-23-64-opaque", "slopes-9-100-alpha",
        "slopes-100-100-opaque",
    ])
    func makesThePictureOfTheFirstImplementation(_ name: String) throws {
        let hash = try #require(Self.known.first { $0.name == name }).hash
        let expected = try Raster(pam: Fixtures.array("thumbhash/\(name).pam"))
        let own = try #require(try made(of: hash))
        #expect((own.width, own.height) == (expected.width, expected.height))
        // The first implementation cuts fractions off, of sums that may differ in their last bit.
        let differences = zip(own.rgba, expected.rgba).map { abs(Int($0) - Int($1)) }
        #expect(differences.max() ?? 255 <= 1)
        #expect(differences.filter { $0 > 0 }.count < 8)
    }

    @Test func aSymmetricalPictureHasNoWavesThatItLacks() throws {
        // A ramp and its mirror image: all waves across with an odd number are absent, and there are none down.
        let row = (0..<40).map { UInt8(min($0, 39 - $0) * 6) }
        let rgba: [UInt8] = (0..<40 * 40).flatMap { index -> [UInt8] in
            let grey = row[index % 40]
            return [grey, grey, grey, 255]
        }
        let hash = try hash(of: Raster(width: 40, height: 40, rgba: rgba).pixels(as: .rgba8))
        let luminance = hash[5..<19].flatMap { [$0 & 15, $0 >> 4] }
        let waves = ThumbHash.Shape(across: 7, down: 7, hasAlpha: false).luminance
        for (wave, strength) in zip(waves, luminance) where wave.down > 0 || wave.across % 2 == 1 {
            #expect(strength == 8, "\(wave)")
        }
        #expect(luminance[1] == 0 || luminance[1] == 15)
    }

    @Test func everyFormatOfEqualPixelsHasOneHash() throws {
        let opaque = slopes(100, 37, hasAlpha: false), glass = slopes(23, 64, hasAlpha: true)
        let expected = try hash(of: opaque.pixels(as: .rgba8))
        for format in [PixelFormat.bgra8, .rgba8Premultiplied, .bgra8Premultiplied, .rgb8, .rgba16, .rgb8Planar] {
            #expect(try hash(of: opaque.pixels(as: format)) == expected, "\(format)")
        }
        #expect(try hash(of: glass.pixels(as: .rgba16)) == hash(of: glass.pixels(as: .rgba8)))
        let grey = try opaque.pixels(as: .grey8)
        #expect(
            try hash(of: grey)
                == hash(of: Raster(width: 100, height: 37, rgba: grey.straightCopy().plainBytes).pixels(as: .rgba8)))
    }

    @Test(arguments: [(400, 300, 100, 75), (101, 7, 100, 7), (50, 500, 10, 100)])
    func aLargePictureIsReducedFirst(_ width: Int, _ height: Int, _ madeWidth: Int, _ madeHeight: Int) throws {
        let large = try slopes(width, height, hasAlpha: true).pixels(as: .rgba8)
        let small = try large.resized(SizeRule(width: madeWidth, height: madeHeight, fit: .stretch))
        #expect((small.width, small.height) == (madeWidth, madeHeight))
        #expect(try hash(of: large) == hash(of: small))
    }

    @Test(arguments: [(1, 1), (100, 1), (1, 100), (100, 51), (33, 100)])
    func hasRoughlyTheAspectRatio(_ width: Int, _ height: Int) throws {
        for hasAlpha in [false, true] {
            let made = try #require(
                try made(of: hash(of: slopes(width, height, hasAlpha: hasAlpha).pixels(as: .rgba8))))
            #expect(max(made.width, made.height) == 32)
            let waves = hasAlpha ? 5.0 : 7.0
            let ratio = max(Double(min(width, height)) / Double(max(width, height)), 1 / waves)
            #expect(abs(Double(min(made.width, made.height)) / 32 - ratio) < 0.5 / waves + 0.02)
            #expect((made.width > made.height) == (width > height))
        }
    }

    @Test func isNearerToThePictureThanItsMeanColour() throws {
        for name in ["encoded/opaque.pam", "png/rgb8.pam", "jpeg/baseline-444.pam"] {
            let original = try Raster(pam: Fixtures.array(name)).pixels(as: .rgba8)
            let made = try #require(try made(of: hash(of: original))).pixels(as: .rgba8)
            let shown = Raster(
                try made.resized(
                    SizeRule(
                        width: original.width, height: original.height, fit: .stretch, allowsEnlarging: true)))
            let pixels = Raster(original).rgba
            let mean = (0..<4).map { channel in
                stride(from: channel, to: pixels.count, by: 4).reduce(0) { $0 + Int(pixels[$1]) } * 4 / pixels.count
            }
            let error = { (other: (Int) -> Int) in
                pixels.indices.reduce(0) { $0 + abs(Int(pixels[$1]) - other($1)) }
            }
            #expect(error { Int(shown.rgba[$0]) } * 4 < error { mean[$0 % 4] } * 3, "\(name)")
        }
    }

    /// Returns a picture whose pixels are squares of `side` pixels.
    private func enlarged(_ picture: Raster, _ side: Int) -> Raster {
        let rgba = (0..<picture.height * side).flatMap { y in
            (0..<picture.width * side).flatMap { x in
                let at = ((y / side) * picture.width + x / side) * 4
                return picture.rgba[at..<at + 4]
            }
        }
        return Raster(width: picture.width * side, height: picture.height * side, rgba: rgba)
    }

    @Test(arguments: [(1, 1), (2, 1), (2, 2), (1, 6), (6, 5), (3, 14)])
    func aTinyPictureIsAsOneOfLargerPixels(_ width: Int, _ height: Int) throws {
        for hasAlpha in [false, true] {
            let picture = slopes(width, height, hasAlpha: hasAlpha)
            let large = try hash(of: enlarged(picture, 7).pixels(as: .rgba8))
            let own = try hash(of: picture.pixels(as: .rgba8))
            #expect(own.prefix(own[2] & 0x80 == 0 ? 5 : 6) == large.prefix(own[2] & 0x80 == 0 ? 5 : 6))
        }
    }

    @Test func onePixelBecomesItsColour() throws {
        let made = try #require(
            try made(of: hash(of: Raster(width: 1, height: 1, rgba: [200, 30, 90, 255]).pixels(as: .rgba8))))
        for (index, value) in made.rgba.enumerated() { #expect(abs(Int(value) - [200, 30, 90, 255][index % 4]) < 8) }
    }

    @Test func aTransparentPictureHasAHash() throws {
        let hash = try hash(of: Raster(width: 3, height: 2, rgba: [UInt8](repeating: 0, count: 24)).pixels(as: .rgba8))
        let made = try #require(try made(of: hash))
        #expect(stride(from: 3, to: made.rgba.count, by: 4).allSatisfy { made.rgba[$0] == 0 })
        // Black is between two steps of the differences of colours.
        #expect(made.rgba.allSatisfy { $0 < 8 })
    }

    @Test func bytesThatAreNoHashAreRefused() throws {
        for (_, hash) in Self.known.suffix(20) {
            #expect(try made(of: hash) != nil)
            for count in hash.indices { #expect(try made(of: Array(hash[..<count])) == nil) }
            #expect(try made(of: hash + [0]) == nil)
        }
        // No shorter side, and one that would be longer than the longer one: 7 waves with alpha.
        #expect(try made(of: [0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 19)) == nil)
        #expect(try made(of: [0, 0, 0x80, 7, 0, 0] + [UInt8](repeating: 0, count: 23)) == nil)
    }

    @Test func randomBytesNeverTrap() throws {
        var random = SystemRandomNumberGenerator()
        var pictures = 0
        for _ in 0..<TestLength.count(20_000, short: 5000) {
            let bytes = (0..<Int.random(in: 0...26, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            guard let made = try made(of: bytes) else { continue }
            pictures += 1
            #expect(max(made.width, made.height) == 32 && min(made.width, made.height) >= 5)
        }
        #expect(pictures > TestLength.count(200, short: 50))
    }
}

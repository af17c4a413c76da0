import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Row Z11: pictures reduced while they are decoded.
@Suite struct DecodeToSizeTests {
    private let decoders = DecoderSet(registry: .builtIn)

    /// A PNG is the mean of its areas, interlaced or not, bit for bit what the reducer makes of all its rows.
    @Test(arguments: Pictures.pngs)
    func aPNGIsReducedByArea(name: String) throws {
        let whole = try Pictures.expected(name)
        for rule in [SizeRule(width: 7, height: 7), SizeRule(width: 5, height: 2, fit: .fill), SizeRule(height: 3)] {
            let bytes = try Fixtures.bytes(name)
            let isOpaque = try withExtendedLifetime(bytes) { try !ImageFacts(of: bytes.pointer).hasAlpha }
            let made = try decode(bytes, rule)
            #expect(try made == reduced(whole, rule, isOpaque: isOpaque), "\(rule)")
        }
    }

    @Test(arguments: Pictures.jpegs)
    func aJPEGIsReducedByHalvesAndArea(name: String) throws {
        let whole = try Pictures.expected(name)
        for width in 1...whole.width {
            // given
            let rule = SizeRule(width: width)
            let expected = try reduced(whole, rule, isOpaque: true)
            // when
            let made = try decode(Fixtures.bytes(name), rule)
            // then
            #expect(made.width == expected.width && made.height == expected.height)
            let differences = zip(made.rgba, expected.rgba).map { abs(Int($0) - Int($1)) }
            let mean = Double(differences.reduce(0, +)) / Double(differences.count)
            // At a half, a quarter and an eighth libjpeg reduces; above that there is no difference.
            let isByAreaAlone = width > (whole.width + 1) / 2
            #expect(isByAreaAlone ? mean == 0 : mean < 18, "\(width): \(mean)")
            let exact = SizeRule(width: width, isExact: true)
            #expect(try decode(Fixtures.bytes(name), exact) == expected, "\(width)")
            #expect(made.rgba.indices.allSatisfy { $0 % 4 != 3 || made.rgba[$0] == 255 })
        }
    }

    /// Measures how far pictures of any size are from the exact mean of their areas, as sdd.h says of `scaling`.
    @Test(arguments: ["baseline", "progressive", "arithmetic"])
    func anySizeIsCloseToTheMean(name: String) throws {
        let bytes = try Fixtures.bytes("large/\(name).jpg")
        let whole = try decode(bytes, .none)
        let widths =
            [79, 160, 240, 321, 639]
            + (TestLength.isLong ? [80, 100, 159, 161, 200, 270, 319, 320, 400, 480, 560] : [])
        for width in widths {
            // given
            let expected = try reduced(whole, SizeRule(width: width), isOpaque: true)
            // when
            let made = try decode(bytes, SizeRule(width: width))
            // then
            let differences = zip(made.rgba, expected.rgba).map { abs(Int($0) - Int($1)) }
            let mean = Double(differences.reduce(0, +)) / Double(differences.count)
            #expect(mean <= (width > 320 ? 0 : Self.mostOffTheMean), "\(width): \(mean), \(differences.max() ?? 0)")
            #expect(try decode(bytes, SizeRule(width: width, isExact: true)) == expected, "\(width)")
        }
    }

    /// The mean error allowed, of 255, over a picture of edges and grain.
    private static let mostOffTheMean = 6.0

    /// libjpeg's pixels are used where they lie: the last one of a row or column covers less of the picture.
    @Test(arguments: ["baseline-420", "progressive-420", "baseline-444", "grey"])
    func halvesAreThoseOfDjpeg(name: String) throws {
        let stored = try Pictures.expected("jpeg/\(name).jpg")
        for eighths in [1, 2, 4] {
            // given
            let made = try Raster(pam: Fixtures.array("facts/\(name).\(eighths)-eighths.pam"))
            let rule = SizeRule(
                width: stored.width * eighths / 8, height: stored.height * eighths / 8, fit: .stretch)
            let plan = rule.plan(width: stored.width, height: stored.height)
            let reduction = Reduction(
                width: made.width, height: made.height, plan: plan, storedWidth: made.width * 8 / eighths,
                storedHeight: made.height * 8 / eighths, format: .rgba8, isOpaque: true)
            // then
            #expect(
                try decode(Fixtures.bytes("jpeg/\(name).jpg"), rule) == Raster(reduction.reduce(buffer(of: made))),
                "\(eighths)")
        }
    }

    /// Whatever the sides, each pixel of a smaller JPEG shows its own place.
    @Test(arguments: [(57, 41), (401, 301), (63, 65)])
    func aReducedJPEGIsNotStretched(width: Int, height: Int) throws {
        // given: red rises to the right, green downwards
        let ramp = try #require(PixelBuffer(width: width, height: height))
        for y in 0..<height {
            for x in 0..<width {
                let pixel = SIMD4(UInt8(255 * x / (width - 1)), UInt8(255 * y / (height - 1)), 0, 255)
                (ramp.base + y * ramp.stride).storeBytes(of: pixel, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        var options = EncodeOptions(format: .jpeg)
        (options.quality, options.chroma) = (100, .full)
        let jpeg = try ImageEncoder.encode(ramp, options)
        for made in 2...(width + 1) / 2 {
            // when
            let fast = try decode(jpeg, SizeRule(width: made))
            let exact = try decode(jpeg, SizeRule(width: made, isExact: true))
            // then: libjpeg's pixels may lie across the border of two
            let most = zip(fast.rgba, exact.rgba).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
            #expect(most <= 3 + 64 / made, "\(made): \(most)")
        }
    }

    /// Pillow rounds between the two directions.
    @Test func enlargesLikePillow() throws {
        let expected = try Raster(pam: Fixtures.array("facts/rgb8.enlarged.pam"))
        let rule = SizeRule(width: 50, height: 41, fit: .stretch, allowsEnlarging: true)
        let made = try decode(Fixtures.bytes("png/rgb8.png"), rule)
        #expect(made.width == expected.width && made.height == expected.height)
        #expect(zip(made.rgba, expected.rgba).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        let whole = try Pictures.expected("jpeg/baseline-420.jpg")
        let jpeg = try decode(Fixtures.bytes("jpeg/baseline-420.jpg"), SizeRule(width: 99, allowsEnlarging: true))
        #expect(jpeg.width == 99 && jpeg.height == 78)
        #expect(try jpeg == reduced(whole, SizeRule(width: 99, allowsEnlarging: true), isOpaque: true))
    }

    /// If the sides keep their ratio, the server's picture determines the height, which must be limited.
    @Test func doesNotEnlargeBeyondTheLargestPicture() throws {
        let bytes = try Fixtures.bytes("png/size-3x17.png")
        for (rule, size) in [
            (SizeRule(width: 100, allowsEnlarging: true), "100 x 567"),
            (SizeRule(width: Int(Int32.max), allowsEnlarging: true), "2147483647 x 12169074000"),
        ] {
            #expect(throws: CoderError(.tooManyPixels, "enlarged to \(size) pixels")) {
                try decoders.decode(bytes, form: DecodeOptions(size: rule), maxPixels: 100 * 567 - 1)
            }
        }
        let form = DecodeOptions(size: SizeRule(width: 100, allowsEnlarging: true))
        #expect(try decoders.decode(bytes, form: form, maxPixels: 100 * 567).pixels.height == 567)
    }

    @Test(arguments: 1...8)
    func theSizeIsThatOfTheTurnedPicture(orientation: Int) throws {
        let bytes = try Fixtures.bytes("facts/orientation-\(orientation).jpg")
        let isTurned = orientation > 4
        let upright = try decode(bytes, SizeRule(width: 6, height: 6), isUpright: true)
        #expect(upright.width == (isTurned ? 4 : 6) && upright.height == (isTurned ? 6 : 4))
        let stretched = try decode(bytes, SizeRule(width: 3, height: 2, fit: .stretch), isUpright: true)
        #expect(stretched.width == 3 && stretched.height == 2)
        let stored = try decode(bytes, SizeRule(width: 6, height: 6))
        #expect(stored.width == 6 && stored.height == 4)
        // and turning the reduced picture gives the same as reducing the turned one
        let turned = try PixelConverter(buffer(of: stored), to: DecodeOptions(), orientation: orientation).make()
        let image = Image(pixels: turned, format: .jpeg, bytes: bytes)
        #expect(Raster(image) == upright)
    }

    @Test func optionsOfOneSizeAreDecodedOnce() throws {
        // given
        let bytes = try Fixtures.bytes("facts/orientation-3.jpg")
        let sizes = [SizeRule(width: 5), .none, SizeRule(width: 5, height: 5, fit: .fill)]
        let forms = PixelFormat.allCases.flatMap { format in
            sizes.map { DecodeOptions(format: format, background: 0x0102_03, size: $0) }
        }
        // when
        let pictures = try decoders.decode(bytes, forms: forms, limits: DecodeLimits(maxPixels: 96))
        // then
        #expect(pictures.map(\.form) == forms)
        for picture in pictures {
            let alone = try decoders.decode(bytes, form: picture.form, maxPixels: 96)
            let (one, other) = (try picture.image.get().pixels, alone.pixels)
            #expect(one.width == other.width && one.height == other.height && one.format == other.format)
            #expect(one.plainBytes == other.plainBytes, "\(picture.form)")
        }
    }

    /// Scans of finer detail than the result needs are not read, so damage in them does not matter.
    @Test(arguments: ["jpeg/progressive-420.jpg", "large/progressive.jpg"])
    func skipsScansOfUnneededDetail(name: String) throws {
        // given: the last scan refines detail that an eighth does not have
        let whole = try Fixtures.array(name)
        let scans = whole.indices.dropLast().filter { whole[$0] == 0xff && whole[$0 + 1] == 0xda }
        let last = try #require(scans.last)
        var damaged = whole
        for index in (last + 10)..<(whole.count - 2) { damaged[index] = 0x55 }
        let facts = try damaged.withUnsafeBytes { try ImageFacts(of: $0) }
        let rule = SizeRule(width: facts.width / 8, height: facts.height / 8)
        // when
        let small = try decode(bytes(of: damaged), rule)
        // then
        #expect(try small == decode(bytes(of: whole), rule))
        #expect(decoders.outcome(damaged) == .failure(.corrupt))
    }

    /// The limit is on the stored size, and a damaged picture fails at any size.
    @Test(arguments: ["jpeg/progressive-420.jpg", "jpeg/baseline-420.jpg", "png/rgba8.png", "png/rgba8-interlaced.png"])
    func damageAndLimitsAreTheSameAtAnySize(name: String) throws {
        let whole = try Fixtures.array(name)
        let form = DecodeOptions(isUpright: false, size: SizeRule(width: 4, height: 4))
        let outcome = { (bytes: Bytes, maxPixels: Int) -> CoderError.Kind? in
            do throws(CoderError) {
                _ = try decoders.decode(bytes, form: form, maxPixels: maxPixels)
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(outcome(bytes(of: whole), 100) == .tooManyPixels)
        for count in stride(from: 1, to: whole.count - 60, by: 7) {
            let cut = bytes(of: whole[..<count])
            let full = decoders.outcome(cut)
            #expect(outcome(cut, 1 << 20).map { Outcome.failure($0) } == full, "\(count)")
        }
        #expect(outcome(bytes(of: whole), 1 << 20) == nil)
    }

    private func decode(_ bytes: Bytes, _ rule: SizeRule, isUpright: Bool = false) throws -> Raster {
        let form = DecodeOptions(isUpright: isUpright, size: rule)
        return Raster(try decoders.decode(bytes, form: form, maxPixels: 1 << 20))
    }

    private func buffer(of raster: Raster) throws -> PixelBuffer {
        let buffer = try #require(PixelBuffer(width: raster.width, height: raster.height))
        raster.rgba.withUnsafeBytes { buffer.base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        return buffer
    }

    private func reduced(_ whole: Raster, _ rule: SizeRule, isOpaque: Bool) throws -> Raster {
        let plan = rule.plan(width: whole.width, height: whole.height)
        if plan.isWhole { return whole }
        let target = try #require(PixelBuffer(width: plan.width, height: plan.height))
        let reducer = try AreaReducer(
            width: whole.width, height: whole.height, plan: plan, storedWidth: whole.width, storedHeight: whole.height,
            into: target, isOpaque: isOpaque)
        whole.rgba.withUnsafeBytes { bytes in
            for y in 0..<whole.height { reducer.take(bytes.baseAddress! + y * whole.width * 4) }
        }
        return Raster(Image(pixels: target, format: .png, bytes: Bytes(adopting: nil, count: 0)))
    }
}

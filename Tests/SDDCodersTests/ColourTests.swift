import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// What pictures say of their colours, and conversion to sRGB, compared with lcms2.
@Suite struct ColourTests {
    private let decoders = DecoderSet(registry: .builtIn)
    private static let inSRGB = DecodeOptions(colour: .sRGB)

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let kind: PictureColour.Kind
        var called = ""
        var isConverted = true

        var testDescription: String { name }
    }

    private static let cases = [
        Case(name: "display-p3.jpg", kind: .matrix, called: "Display P3"),
        Case(name: "adobe-rgb.jpg", kind: .matrix, called: "Adobe RGB (1998)"),
        Case(name: "adobe-rgb-png.png", kind: .matrix, called: "Adobe RGB (1998)"),
        Case(name: "rec2020.jpg", kind: .matrix, called: "Rec. 2020"),
        Case(name: "prophoto.jpg", kind: .matrix, called: "ProPhoto RGB"),
        Case(name: "gamma18.jpg", kind: .matrix, called: "gamma 1.8"),
        Case(name: "swapped.jpg", kind: .matrix, called: "red and green exchanged"),
        Case(name: "table.jpg", kind: .matrix, called: "a table of 1024"),
        Case(name: "grey.jpg", kind: .grey, called: "dot gain 20%"),
        Case(name: "glass.png", kind: .matrix, called: "Display P3"),
        Case(name: "cicp-p3.png", kind: .matrix, called: "Display P3"),
        Case(name: "cicp-2020.png", kind: .matrix, called: "BT.2020"),
        Case(name: "gama-10.png", kind: .matrix, called: "gamma 1.0"),
        Case(name: "gama-chrm.png", kind: .matrix, called: "gamma 1.8"),
        Case(name: "trailing.jpg", kind: .matrix, called: "Display P3"),
        Case(name: "intent.jpg", kind: .matrix, called: "Display P3"),
        Case(name: "no-curve.jpg", kind: .unstated, isConverted: false),
        Case(name: "two-profiles.png", kind: .unstated, isConverted: false),
        Case(name: "srgb.png", kind: .sRGB, called: "sRGB", isConverted: false),
        Case(name: "srgb-chunk.png", kind: .sRGB, called: "sRGB", isConverted: false),
        Case(name: "gama-22.png", kind: .sRGB, called: "sRGB", isConverted: false),
        Case(name: "cicp-pq.png", kind: .hdr, called: "BT.2020", isConverted: false),
        Case(name: "tables.png", kind: .tables, isConverted: false),
        Case(name: "unstated.png", kind: .unstated, isConverted: false),
        Case(name: "chrm-alone.png", kind: .unstated, isConverted: false),
        Case(name: "cicp-narrow.png", kind: .unstated, isConverted: false),
        Case(name: "grey-for-colours.jpg", kind: .unstated, isConverted: false),
    ]

    private static func bytes(_ name: String) throws -> Bytes { try Fixtures.bytes("colour/\(name)") }

    private static func expected(_ name: String) throws -> Raster {
        try Raster(pam: Fixtures.array("colour/\(name.split(separator: ".")[0]).pam"))
    }

    /// Returns the largest difference of two pictures' channels.
    private func difference(_ a: Raster, _ b: Raster) -> Int {
        guard (a.width, a.height) == (b.width, b.height) else { return 255 }
        return zip(a.rgba, b.rgba).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    // MARK: - Conversion

    @Test(arguments: cases)
    func thePictureIsInSRGB(of picture: Case) throws {
        let image = try decoders.decode(Self.bytes(picture.name), in: Self.inSRGB)
        #expect(difference(Raster(image), try Self.expected(picture.name)) <= 1)
        #expect(image.isConverted == picture.isConverted)
        #expect((image.colour?.kind ?? .unstated) == picture.kind)
        let name = image.colour?.name
        #expect((name?.pointer.map { String(cString: $0) } ?? "") == picture.called)
        withExtendedLifetime(name) {}
    }

    /// There are four intents. Without a valid chunk the others count, here a gamma of 1.
    @Test func anUnknownIntentOfSRGBIsIgnored() throws {
        var png = try Fixtures.array("colour/srgb-chunk.png")
        let name = try #require(png.indices.first { png[$0...].starts(with: Array("sRGB".utf8)) })
        for intent in UInt8(0)...4 {
            png[name + 4] = intent
            let body = SDDCodersTests.bytes(of: Pictures.withChecksums(png))
            let kind = try decoders.decode(body, in: DecodeOptions()).colour?.kind
            #expect(kind == (intent < 4 ? .sRGB : .matrix))
        }
    }

    @Test(arguments: cases)
    func itStaysAsStoredOtherwise(picture: Case) throws {
        let stored = try decoders.decode(Self.bytes(picture.name), in: DecodeOptions())
        let asked = try decoders.decode(Self.bytes(picture.name), in: DecodeOptions(colour: .asStored))
        let converted = try decoders.decode(Self.bytes(picture.name), in: Self.inSRGB)
        #expect(!stored.isConverted && stored.colour?.kind == converted.colour?.kind)
        #expect(Raster(stored) == Raster(asked))
        #expect((Raster(stored) == Raster(converted)) == !picture.isConverted)
    }

    /// In every layout the colours are those of RGBA8, and of 16 bits those that round to them.
    @Test(arguments: PixelFormat.allCases, ["display-p3.jpg", "adobe-rgb-png.png", "grey.jpg"])
    func everyLayoutIsConverted(format: PixelFormat, name: String) throws {
        let plain = Raster(try decoders.decode(Self.bytes(name), in: Self.inSRGB))
        let image = try decoders.decode(Self.bytes(name), in: DecodeOptions(format: format, colour: .sRGB))
        let pixels = image.pixels
        let narrow = try pixels.straightCopy(isNarrow: true)
        #expect(pixels.format == format)
        if format == .grey8 {
            let greys = try PixelConverter(try decoders.decode(Self.bytes(name), in: Self.inSRGB).decoded(), to: .grey8)
                .make()
            #expect(zip(pixels.plainBytes, greys.plainBytes).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        } else {
            #expect(difference(Raster(narrow), plain) <= 1)
        }
    }

    /// Sixteen bits are converted with all of them.
    @Test func sixteenBitsStaySixteen() throws {
        let shaper = try #require(
            try decoders.decode(Self.bytes("prophoto.jpg"), in: Self.inSRGB).colour?.converter as? ColourShaper)
        let pixels = try #require(PixelBuffer(width: 256, height: 1, format: .rgba16))
        let row = pixels.base.assumingMemoryBound(to: UInt16.self)
        var random = SeededRandom(seed: 16)
        var colours: [SIMD3<Double>] = []
        for x in 0..<256 {
            let colour = SIMD3<UInt16>.random(in: 0...(.max), using: &random)
            colours.append(SIMD3<Double>(colour) / 65_535)
            for channel in 0..<3 { row[x * 4 + channel] = colour[channel] }
            row[x * 4 + 3] = UInt16(x)
        }
        try shaper.convert(pixels)
        for (x, colour) in colours.enumerated() {
            let exact = shaper.converted(colour) * 65_535
            for channel in 0..<3 { #expect(abs(Double(row[x * 4 + channel]) - exact[channel]) <= 4) }
            #expect(row[x * 4 + 3] == UInt16(x))
        }
    }

    /// Of a PNG with 16 bits a channel, all bits are converted before 8 are left.
    @Test func sixteenBitsAreConvertedBeforeTheyAreNarrowed() throws {
        let form = DecodeOptions(format: .rgba16)
        let stored = try decoders.decode(Self.bytes("deep.png"), in: form)
        let shaper = try #require(stored.colour?.converter as? ColourShaper)
        let image = try decoders.decode(Self.bytes("deep.png"), in: Self.inSRGB)
        let (deep, narrow) = (stored.pixels, image.pixels)
        for y in 0..<deep.height {
            let row = (deep.base + y * deep.stride).assumingMemoryBound(to: SIMD4<UInt16>.self)
            let made = (narrow.base + y * narrow.stride).assumingMemoryBound(to: SIMD4<UInt8>.self)
            for x in 0..<deep.width {
                let exact = shaper.converted(SIMD3<Double>(SIMD3(row[x].x, row[x].y, row[x].z)) / 65_535) * 255
                for channel in 0..<3 { #expect(abs(exact[channel] - Double(made[x][channel])) <= 0.55) }
            }
        }
    }

    @Test(arguments: ["display-p3.jpg", "glass.png"])
    func formsOfBothKindsComeFromOneBody(name: String) throws {
        let small = SizeRule(width: 9, height: 9)
        let forms = [
            DecodeOptions(), Self.inSRGB, DecodeOptions(format: .bgra8, colour: .sRGB),
            DecodeOptions(size: small), DecodeOptions(size: small, colour: .sRGB),
        ]
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let made = try #require(try stream.read(Self.bytes(name), forms: forms, isLast: true).pictures)
        #expect(made.map(\.form) == forms)
        for (form, image) in made {
            let alone = try decoders.decode(Self.bytes(name), in: form)
            #expect(Raster(try image.get()) == Raster(alone))
            #expect(try image.get().isConverted == (form.colour == .sRGB))
        }
    }

    @Test(arguments: cases)
    func piecesGiveTheSame(picture: Case) throws {
        let whole = try Self.bytes(picture.name)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        var last: Image?
        var shown = 0
        for end in stride(from: 1, through: whole.count, by: 37) {
            let step = try stream.read(
                Bytes(borrowing: UnsafeRawBufferPointer(rebasing: whole.pointer[..<end])), forms: [Self.inSRGB],
                isLast: false, previewScans: 1)
            shown += step.previews.count
            if let preview = step.previews.last?.image {
                #expect(preview.colour?.kind == (picture.kind == .unstated ? nil : picture.kind))
                last = preview
            }
        }
        let image = try #require(try stream.read(whole, forms: [Self.inSRGB], isLast: true).pictures?.first).image.get()
        let expected = try Self.expected(picture.name)
        #expect(difference(Raster(image), expected) <= 1)
        // The rows of a preview are converted, too.
        if let last {
            let row = image.width * 4
            let (a, b) = (Raster(last).rgba.prefix(row), expected.rgba.prefix(row))
            #expect(zip(a, b).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }
        withExtendedLifetime(whole) {}
    }

    @Test func aLazyPictureKnowsItsColours() throws {
        let image = try decoders.decode(Self.bytes("display-p3.jpg"), in: DecodeOptions(isLazy: true, colour: .sRGB))
        #expect(image.ready == nil && image.isConverted && image.colour?.kind == .matrix)
        #expect(difference(Raster(image), try Self.expected("display-p3.jpg")) <= 1)
    }

    @Test func aScaledOrTransformedPictureKeepsItsColours() throws {
        var form = DecodeOptions(size: SizeRule(width: 8, height: 8), colour: .sRGB)
        form.transforms = TransformChain([.flip(.horizontal)])
        let image = try decoders.decode(Self.bytes("prophoto.jpg"), in: form)
        #expect(image.isConverted && image.colour?.kind == .matrix && image.bytes == nil)
        let profile = try Metadata(of: Self.bytes("prophoto.jpg"), format: .jpeg).block(.icc)
        #expect(image.colour?.description.profile?.pointer.elementsEqual(try #require(profile).pointer) == true)
        #expect(image.memoryCost >= 8 * 8 * 4 + (profile?.count ?? 0))
    }

    // MARK: - Profiles and their cache

    @Test func picturesOfOneProfileShareIt() throws {
        let first = try decoders.decode(Self.bytes("adobe-rgb.jpg"), in: Self.inSRGB)
        let second = try decoders.decode(Self.bytes("adobe-rgb-png.png"), in: Self.inSRGB)
        #expect(first.colour === second.colour)
    }

    /// No bytes of a profile stop anything: a damaged one converts in some way, or says nothing.
    @Test(arguments: ["display-p3.jpg", "table.jpg", "grey.jpg", "cicp-p3.png"])
    func damagedProfilesDoNoHarm(name: String) throws {
        let format: ImageFormat = name.hasSuffix("jpg") ? .jpeg : .png
        let profile = try #require(try Metadata(of: Self.bytes(name), format: format).block(.icc))
        let pixels = try #require(PixelBuffer(width: 64, height: 1))
        var random = SeededRandom(seed: UInt64(profile.count))
        var readable = 0
        for round in 0..<TestLength.count(3000, short: 600) {
            var bytes = Array(profile.pointer)
            switch round % 3 {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            case 1:
                let place = Int.random(in: 0..<bytes.count - 4, using: &random)
                for offset in 0..<4 {
                    bytes[place + offset] = [0, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
                }
            default:
                for _ in 0..<8 {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            var description = ColourDescription()
            description.profile = bytes.withUnsafeBytes { Bytes(copying: $0) }
            description.isGrey = round % 2 == 0
            guard let colour = PictureColour.made(of: description) else { continue }
            readable += 1
            for y in 0..<256 { (pixels.base + y).storeBytes(of: UInt8(y), as: UInt8.self) }
            try colour.converter?.convert(pixels)
        }
        #expect(readable > 100 && readable < 3000)
    }

    /// Of a picture with a long profile a cache notes the kind and the name.
    @Test func aNoteIsShort() throws {
        let profile = try #require(try Metadata(of: Self.bytes("display-p3.jpg"), format: .jpeg).block(.icc))
        var bytes = Array(profile.pointer) + [UInt8](repeating: 7, count: 100_000)
        withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { bytes.replaceSubrange(0..<4, with: $0) }
        var description = ColourDescription()
        description.profile = bytes.withUnsafeBytes { Bytes(copying: $0) }
        let colour = try #require(PictureColour.made(of: description))
        let note = ColourNote.bytes(of: colour)
        let again = try #require(note.withUnsafeBytes { ColourNote.colour($0) })
        #expect(note.count < 100 && again.kind == .matrix && again.isConvertible)
        #expect(again.name.pointer.map { String(cString: $0) } == "Display P3")
        withExtendedLifetime((profile, again)) {}
    }

    /// A profile that takes half of the bytes that are allowed is left out, and the picture converted.
    @Test(arguments: [ImageFormat.jpeg, .png])
    func aProfileLeavesRoom(format: ImageFormat) throws {
        let image = try decoders.decode(Self.bytes("display-p3.jpg"), in: DecodeOptions())
        var options = EncodeOptions(format: format)
        options.byteLimit = 900
        let made = try ImageEncoder.encode(image.decoded(), options, colour: EncodedColour(of: image))
        #expect(try made.count <= 900 && decoders.decode(made, in: Self.inSRGB).colour == nil)
    }

    /// A JPEG of greys may not have a profile of three channels, so the picture is converted.
    @Test func greysHaveNoProfileOfColours() throws {
        let image = try decoders.decode(Self.bytes("display-p3.jpg"), in: DecodeOptions(format: .grey8))
        let made = try ImageEncoder.encode(
            image.decoded(), EncodeOptions(format: .jpeg), colour: EncodedColour(of: image))
        let again = try decoders.decode(made, in: DecodeOptions())
        #expect(image.colour?.origin == .profile && again.colour == nil)
        // One channel or three, the file says what its numbers are.
        #expect(again.facts?.channels == 3)
    }

    /// An image as stored serves both who asks for that and who asks for nothing else than that.
    @Test func imagesAsStoredServeEachOther() throws {
        let stored = DecodeOptions(colour: .asStored)
        for (name, others) in [("display-p3.jpg", false), ("tables.png", false), ("unstated.png", true)] {
            for form in [DecodeOptions(), stored] {
                let image = try decoders.decode(Self.bytes(name), in: form)
                #expect(image.serves(stored) && image.serves(DecodeOptions()))
                #expect(image.serves(Self.inSRGB) == others)
            }
        }
    }

    @Test func rowsOfZerosAtTheEndAreCounted() throws {
        let pixels = try #require(PixelBuffer(width: 4, height: 3))
        pixels.clear(from: 0)
        #expect(pixels.rowsAboveZeros == 0)
        pixels.base.storeBytes(of: 1, toByteOffset: pixels.stride + 3, as: UInt8.self)
        #expect(pixels.rowsAboveZeros == 2)
    }

    // MARK: - Encoding

    @Test(arguments: [ImageFormat.jpeg, .png], cases)
    func encodedPicturesSayWhatTheyAre(format: ImageFormat, picture: Case) throws {
        for form in [DecodeOptions(), Self.inSRGB] {
            let image = try decoders.decode(Self.bytes(picture.name), in: form)
            var options = EncodeOptions(format: format)
            (options.quality, options.chroma) = (100, .full)
            let made = try ImageEncoder.encode(image.decoded(), options, colour: EncodedColour(of: image))
            let again = try decoders.decode(made, in: Self.inSRGB)
            // A JPEG at its best quality, behind steep curves.
            let most = format == .png ? 1 : 20
            if picture.name != "glass.png" || format == .png {
                #expect(difference(Raster(again), try Self.expected(picture.name)) <= most)
            }
            if form.colour == .sRGB && picture.isConverted { #expect(again.colour == nil) }
            if image.colour?.origin == .profile && (format == .jpeg || picture.name != "intent.jpg")
                && !image.isConverted
            {
                #expect(again.colour?.description.profile?.count == image.colour?.description.profile?.count)
            }
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .png], cases)
    func whatACacheStoresKnowsWhatItWas(format: ImageFormat, picture: Case) throws {
        let image = try decoders.decode(Self.bytes(picture.name), in: Self.inSRGB)
        let options = EncodeOptions(format: format)
        let made = try ImageEncoder.encode(
            image.decoded(), options, colour: EncodedColour(of: image, isForItself: true))
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn, isMade: true)
        let again = try #require(try stream.read(made, forms: [Self.inSRGB], isLast: true).pictures?.first).image.get()
        #expect(again.isConverted == picture.isConverted)
        if picture.isConverted { #expect(again.colour == image.colour) }
        if format == .png { #expect(Raster(again) == Raster(image)) }
        // For everybody else it is a picture in sRGB.
        if picture.isConverted { #expect(try decoders.decode(made, in: Self.inSRGB).colour == nil) }
    }
}

import SDDBase
import SDDCoders
import TestSupport
import Testing

/// The picture is the same for any sizes of the pieces.
@Suite struct PictureStreamTests {
    static let forms = [DecodeOptions.stored, DecodeOptions(isUpright: false, size: SizeRule(width: 7, height: 7))]

    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func singleBytesGiveTheSamePicture(name: String) throws {
        try expectTheSame(name) { _ in 1 }
    }

    @Test(arguments: Pictures.jpegs + Pictures.pngs, [1, 2, 3])
    func piecesGiveTheSamePicture(name: String, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        try expectTheSame(name) { count in Int.random(in: 1...max(2, count / 3), using: &random) }
    }

    private func expectTheSame(_ name: String, _ step: (Int) -> Int) throws {
        let whole = try Fixtures.array(name)
        for form in Self.forms {
            // given
            let expected = try DecoderSet(registry: .builtIn).decode(bytes(of: whole), form: form, maxPixels: 1 << 20)
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            // when
            var count = 0
            var last: PictureStream.Step?
            while count < whole.count {
                count = min(whole.count, count + step(whole.count))
                last = try stream.read(bytes(of: whole[..<count]), forms: [form], isLast: count == whole.count)
                if count < whole.count { #expect(last?.pictures == nil) }
            }
            // then
            let image = try #require(try last?.pictures?.first?.image.get())
            #expect(Raster(image) == Raster(expected))
            #expect(image.bytes?.count == whole.count)
        }
    }

    /// A file cut anywhere, and ended there, gives the error that the cut file would give at once.
    @Test(arguments: [
        "jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg", "jpeg/restart-markers.jpg", "png/rgb8-interlaced.png",
        "png/palette4.png", "facts/animated.png", "jpeg/arithmetic.jpg", "jpeg/arithmetic-progressive.jpg",
        "jpeg/arithmetic-restarts.jpg", "jpeg/arithmetic-scans.jpg", "png/bad/idat-apart.png",
    ])
    func reportsEveryCut(name: String) throws {
        let whole = try Fixtures.array(name)
        for form in Self.forms {
            for count in 0..<whole.count {
                let cut = bytes(of: whole[..<count])
                let (expected, _) = Self.outcome([cut], form)
                // when
                let (outcome, _) = Self.outcome([bytes(of: whole[..<(count / 2)]), cut], form)
                // then
                #expect(outcome == expected, "\(name) \(count)")
            }
        }
    }

    /// Each preview shows at least as much as the one before, and the last shows everything.
    @Test(arguments: Pictures.jpegs + Pictures.pngs)
    func showsMoreAndMore(name: String) throws {
        let whole = try Fixtures.array(name)
        for form in Self.forms {
            let steps = (1...whole.count).map { bytes(of: whole[..<$0]) }
            let (outcome, previews) = Self.outcome(steps, form)
            guard case .picture(let picture) = outcome else { throw TestSupportFailure("no picture") }
            var rows = 0
            for preview in previews {
                #expect(preview.isPreview && preview.bytes == nil)
                #expect(preview.pixels.width == picture.width && preview.pixels.height == picture.height)
                let good = try #require(preview.goodRows)
                #expect(good >= rows)
                rows = good
            }
            let isProgressive = try Self.isProgressive(name)
            for preview in previews {
                if isProgressive {
                    #expect(preview.goodRows == picture.height)
                } else {
                    Self.expectUpperRows(of: picture, in: preview, isAlone: !name.hasSuffix("-scans.jpg"))
                }
            }
        }
    }

    private static func isProgressive(_ name: String) throws -> Bool {
        let bytes = try Fixtures.bytes(name)
        return try withExtendedLifetime(bytes) { try ImageFacts(of: bytes.pointer).isProgressive }
    }

    /// Expects the good rows to be the picture's, and the others to be empty if no other scan fills them.
    private static func expectUpperRows(of picture: Raster, in preview: Image, isAlone: Bool) {
        let length = picture.width * 4
        let rows = preview.goodRows ?? 0
        let shown = Raster(preview).rgba
        #expect(shown[..<(rows * length)] == picture.rgba[..<(rows * length)])
        if isAlone { #expect(shown[(rows * length)...].allSatisfy { $0 == 0 }) }
    }

    /// While the last of several scans with one component each arrives, more and more rows are final.
    @Test(arguments: [SizeRule.none, SizeRule(width: 300), SizeRule(width: 80)])
    func rowsOfTheLastScanAreGood(rule: SizeRule) throws {
        let whole = try Fixtures.array("large/sequential-scans.jpg")
        let form = DecodeOptions(isUpright: false, size: rule)
        let picture = Raster(
            try DecoderSet(registry: .builtIn).decode(bytes(of: whole), form: form, maxPixels: 1 << 20))
        let lastScan = try #require(whole.indices.dropLast().last { whole[$0] == 0xff && whole[$0 + 1] == 0xda })
        var counts: [Int] = []
        for count in stride(from: 2_000, to: whole.count, by: TestLength.isLong ? 200 : 600) {
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            // when
            let step = try stream.read(bytes(of: whole[..<count]), forms: [form], isLast: false, previewScans: 0)
            // then
            guard let preview = step.previews.first?.image else { continue }
            let rows = try #require(preview.goodRows)
            #expect(rows == 0 || count > lastScan, "\(count)")
            #expect(rows < picture.height)
            Self.expectUpperRows(of: picture, in: preview, isAlone: false)
            counts.append(rows)
        }
        #expect(counts.first == 0 && counts == counts.sorted() && (counts.last ?? 0) > picture.height / 2)
    }

    /// libjpeg cannot suspend in the middle of arithmetic coding, so each scan is shown once it is complete.
    @Test func showsScansOfArithmeticCoding() throws {
        // given
        let whole = try Fixtures.array("large/arithmetic-progressive.jpg")
        let scans = whole.indices.dropLast().filter { whole[$0] == 0xff && whole[$0 + 1] == 0xda }.count
        let steps = stride(from: 100, to: whole.count, by: 100).map { bytes(of: whole[..<$0]) } + [bytes(of: whole)]
        // when
        let (outcome, previews) = Self.outcome(steps, .stored)
        // then
        #expect(outcome == DecoderSet(registry: .builtIn).outcome(whole))
        #expect(scans > 3 && previews.count > scans / 2 && previews.count < scans)
    }

    @Test func showsEveryScanOnce() throws {
        // given
        let whole = try Fixtures.array("jpeg/progressive-420.jpg")
        let scans = whole.indices.dropLast().filter { whole[$0] == 0xff && whole[$0 + 1] == 0xda }.count
        let steps = (1...whole.count).map { bytes(of: whole[..<$0]) }
        // when
        let (_, previews) = Self.outcome(steps, .stored)
        // then: the last scan is the picture
        #expect(scans > 3)
        #expect(previews.count == scans - 1)
    }

    @Test(arguments: [
        "large/baseline.jpg", "large/progressive.jpg", "large/rows.png", "large/interlaced.png",
    ])
    func showsTheSamePreviewAgainOnRequest(name: String) throws {
        let half = try Fixtures.array(name).dropLast(10_000)
        // For a reduced progressive JPEG, a part would already be the whole.
        for form in [DecodeOptions.stored, DecodeOptions(isUpright: false, size: SizeRule(width: 300, height: 300))] {
            // given
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            let first = try stream.read(bytes(of: half), forms: [form], isLast: false, previewScans: 1).previews
            // when
            let none = try stream.read(bytes(of: half), forms: [form], isLast: false, previewScans: 1).previews
            let again = try stream.read(bytes(of: half), forms: [form], isLast: false, previewScans: 0).previews
            // then
            #expect(first.count == 1 && none.isEmpty && again.count == 1)
            #expect(first.first.map { Raster($0.image) } == again.first.map { Raster($0.image) })
        }
    }

    @Test func isCompleteBeforeScansOfUnneededDetail() throws {
        // given
        let whole = try Fixtures.array("jpeg/progressive-420.jpg")
        let form = DecodeOptions(isUpright: false, size: SizeRule(width: 4, height: 4))
        let expected = try DecoderSet(registry: .builtIn).decode(bytes(of: whole), form: form, maxPixels: 1 << 20)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        // when
        var used = 0
        var made: Image?
        while made == nil, used < whole.count {
            used += 1
            let step = try stream.read(bytes(of: whole[..<used]), forms: [form], isLast: false, endsEarly: true)
            made = try step.pictures?.first?.image.get()
        }
        // then
        let image = try #require(made)
        #expect(used < whole.count * 9 / 10)
        #expect(Raster(image) == Raster(expected))
        #expect(image.bytes == nil)
    }

    /// The remaining scans are checked nevertheless, and their loss is found.
    @Test func aPictureThatIsCompleteMustStillHaveItsEnd() throws {
        // given
        let whole = try Fixtures.array("jpeg/progressive-420.jpg")
        let form = DecodeOptions(isUpright: false, size: SizeRule(width: 4, height: 4))
        let cut = bytes(of: whole.dropLast(20))
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        // when
        let isComplete = try stream.read(cut, forms: [form], isLast: false).isComplete
        // then
        #expect(isComplete)
        let error = #expect(throws: CoderError.self) { try stream.read(cut, forms: [form], isLast: true) }
        #expect(error?.kind == .truncated)
    }

    /// Returns the previews, and the final picture if there is one.
    static func images(_ steps: [Bytes], _ form: DecodeOptions) -> [Image] {
        let stream = PictureStream(limits: DecodeLimits(maxPixels: 1 << 20), registry: .builtIn)
        var images: [Image] = []
        do throws(CoderError) {
            for (index, bytes) in steps.enumerated() {
                let isLast = index == steps.count - 1
                let step = try stream.read(bytes, forms: [form], isLast: isLast, previewScans: 1)
                images += step.previews.map(\.image) + (step.pictures ?? []).compactMap { try? $0.image.get() }
            }
        } catch {
            // The file is damaged, and the stream says so.
        }
        return images
    }

    static func outcome(_ steps: [Bytes], _ form: DecodeOptions) -> (Outcome, [Image]) {
        let stream = PictureStream(limits: DecodeLimits(maxPixels: 1 << 20), registry: .builtIn)
        var previews: [Image] = []
        do throws(CoderError) {
            for bytes in steps.dropLast() {
                previews += try stream.read(bytes, forms: [form], isLast: false, previewScans: 1).previews.map(\.image)
            }
            guard let last = steps.last else { return (.failure(.empty), []) }
            let step = try stream.read(last, forms: [form], isLast: true)
            guard let image = try step.pictures?.first?.image.get() else { return (.failure(.empty), previews) }
            return (.picture(Raster(image)), previews)
        } catch {
            return (.failure(error.kind), previews)
        }
    }
}

/// With `isLenient`, a damaged picture gives its good part.
@Suite struct LenientTests {
    @Test(arguments: ["jpeg/baseline-444.jpg", "jpeg/arithmetic.jpg", "png/rgb8.png"])
    func keepsTheRowsAboveTheCut(name: String) throws {
        let whole = try Fixtures.array(name)
        let picture = try Pictures.expected(name)
        let form = DecodeOptions(isUpright: false, isLenient: true)
        var most = 0
        for count in 1..<whole.count {
            // when
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            guard let step = try? stream.read(bytes(of: whole[..<count]), forms: [form], isLast: true),
                let image = try step.pictures?.first?.image.get()
            else { continue }
            // then
            let rows = image.goodRows ?? image.pixels.height
            #expect(rows >= most)
            most = max(most, rows)
            let length = picture.width * 4
            #expect(Raster(image).rgba[..<(rows * length)] == picture.rgba[..<(rows * length)])
            #expect(Raster(image).rgba[(rows * length)...].allSatisfy { $0 == 0 })
        }
        #expect(most > 0)
    }

    /// A form that cannot be made does not affect the others.
    @Test(arguments: ["jpeg/baseline-444.jpg", "png/rgb8.png"], [1, 7, 1 << 20])
    func formsThatRefuseACutFailAlone(name: String, step: Int) throws {
        // given: a cut below which there is no whole row of the second form
        let whole = try Fixtures.array(name)
        let cut = Array(whole[..<(whole.count * 3 / 4)])
        let keeping = DecodeOptions(isUpright: false, isLenient: true)
        let forms = [
            DecodeOptions(isUpright: false), keeping,
            DecodeOptions(isUpright: false, size: SizeRule(width: 1, height: 1, fit: .stretch), isLenient: true),
        ]
        let alone = try read(cut, keeping)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        for count in stride(from: step, to: cut.count, by: step) {
            _ = try stream.read(bytes(of: cut[..<count]), forms: forms, isLast: false)
        }
        // when
        let made = try #require(try stream.read(bytes(of: cut), forms: forms, isLast: true).pictures)
        // then
        let kinds = made.map { picture -> CoderError.Kind? in
            if case .failure(let error) = picture.image { error.kind } else { nil }
        }
        #expect(made.map(\.form) == forms)
        #expect(kinds == [.truncated, nil, .truncated])
        #expect(try made[1].image.get().goodRows == alone.goodRows)
        #expect(try Raster(made[1].image.get()) == Raster(alone))
    }

    /// A picture that is decoded only later is not refused for another form's sake.
    @Test func aLazyPictureIsNotRefusedForOthers() throws {
        let name = "png/rgb8.png"
        let cut = bytes(of: try Fixtures.array(name).dropLast(20))
        let lazy = DecodeOptions(isUpright: false, isLenient: true, isLazy: true)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let made = try stream.read(cut, forms: [lazy, DecodeOptions(isUpright: false)], isLast: true).pictures
        let height = try made?.first { $0.form == lazy }?.image.get().decoded().height
        #expect(try height == Pictures.expected(name).height)
    }

    /// Below the damage a JPEG goes on as libjpeg does: all rows show something, and behind a restart marker they are
    /// right again.
    @Test(arguments: ["jpeg/restart-markers.jpg", "jpeg/baseline-420.jpg", "jpeg/baseline-444.jpg", "jpeg/grey.jpg"])
    func goesOnBehindTheDamageOfAJPEG(name: String) throws {
        let whole = try Fixtures.array(name), picture = try Pictures.expected(name)
        let row = picture.width * 4
        var (kept, mended) = (0, 0)
        for place in scanBegin(whole) + 12..<whole.count - 5 {
            // given: bytes that do not decode, and no marker is lost
            guard !whole[place - 1...place + 3].contains(0xff) else { continue }
            var damaged = whole
            for index in place..<place + 3 { damaged[index] = place % 2 == 0 ? 0xfe : 0x00 }
            guard case .failure(.corrupt) = DecoderSet(registry: .builtIn).outcome(damaged) else { continue }
            // when
            let image = try read(damaged, DecodeOptions(isUpright: false, isLenient: true))
            let small = try read(damaged, DecodeOptions(isUpright: false, size: SizeRule(width: 7), isLenient: true))
            // then
            let rgba = Raster(image).rgba, good = try #require(image.goodRows)
            try #require(image.isPartial && good < picture.height)
            try #require(rgba[..<(good * row)] == picture.rgba[..<(good * row)], "\(place)")
            #expect(rgba.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
            let smallRows = try #require(small.goodRows)
            #expect(small.isPartial && smallRows * picture.height <= good * small.height)
            #expect(Raster(small).rgba.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
            if good > 0 { kept += 1 }
            if rgba[(rgba.count - row)...] == picture.rgba[(rgba.count - row)...] { mended += 1 }
        }
        #expect(kept > 0)
        #expect(mended > 0 || name != "jpeg/restart-markers.jpg")
    }

    /// Returns the offset of the only scan's header.
    private func scanBegin(_ jpeg: [UInt8]) -> Int {
        jpeg.indices.dropLast().first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xda } ?? 0
    }

    private func read(_ array: [UInt8], _ form: DecodeOptions) throws -> Image {
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        return try #require(try stream.read(bytes(of: array), forms: [form], isLast: true).pictures?.first?.image.get())
    }

    @Test func keepsTheScansBeforeTheCut() throws {
        let whole = try Fixtures.array("jpeg/progressive-420.jpg")
        let form = DecodeOptions(isUpright: false, isLenient: true)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let step = try stream.read(bytes(of: whole[..<(whole.count * 2 / 3)]), forms: [form], isLast: true)
        let image = try #require(try step.pictures?.first?.image.get())
        #expect(image.goodRows == image.pixels.height)
        #expect(Raster(image) != (try Pictures.expected("jpeg/progressive-420.jpg")))
    }
}

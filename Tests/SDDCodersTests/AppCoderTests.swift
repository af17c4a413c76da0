import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

@Suite struct AppCoderTests {
    private let own = AppCoderList()
    private let process = AppCoderList()
    private var decoders: DecoderSet { DecoderSet(registry: .builtIn.asking([own, process])) }

    private func decode(_ array: [UInt8], _ form: DecodeOptions = DecodeOptions(), maxPixels: Int = 1 << 20)
        throws(CoderError)
        -> Image
    {
        try decoders.decode(bytes(of: array), form: form, maxPixels: maxPixels)
    }

    /// Decodes one frame of a coder that `change` adjusts.
    private func outcome(
        maxPixels: Int = 1 << 20, _ change: @escaping @Sendable (inout AppFrame) -> Void
    ) -> Outcome {
        own.add(ToyCoder(change: change))
        defer { _ = own.remove(named: "toy") }
        return decoders.outcome(bytes(of: [7, 1]), maxPixels: maxPixels)
    }

    // MARK: - Order of coders

    @Test func asksTheNewestFirstAndADownloadersBeforeTheProcess() throws {
        // given
        process.add(ToyCoder("old", format: 1001))
        process.add(ToyCoder("new", format: 1002))
        own.add(ToyCoder("own", format: 1003))
        own.add(ToyCoder("other", format: 1004, first: 8))
        // when
        var formats: [Int32] = []
        for name in ["own", "new", "old"] {
            formats.append(try #require(decode([7, 1]).format?.rawValue))
            #expect(own.remove(named: name) != process.remove(named: name))
        }
        // then
        #expect(formats == [1003, 1002, 1001])
        #expect(decoders.outcome([7, 1]) == .failure(.unknownFormat))
    }

    @Test func asksTheBuiltInCodersLast() throws {
        // given
        let png = try Fixtures.bytes("png/rgb8.png")
        let decoders = decoders
        own.add(ToyCoder("png", format: 2, first: 0x89) { ($0.pixelFormat, $0.stride) = (5, 3) })
        own.add(ToyCoder())
        // when
        let image = try decoders.decode(png, form: DecodeOptions(), maxPixels: 1 << 20)
        let jpeg = try decoders.outcome(Fixtures.bytes("jpeg/grey.jpg"))
        own.removeAll()
        let after = decoders.outcome(png)
        // then
        #expect(image.format == .png)
        #expect(image.pixels.plainBytes == [0, 1, 2, 255])
        #expect(try jpeg == .picture(Pictures.expected("jpeg/grey.jpg")))
        #expect(try after == .picture(Pictures.expected("png/rgb8.png")))
    }

    @Test func aPartialBodyIsForTheCoderThatTakesItsBeginning() throws {
        // given: a coder that needs two bytes to decide, before one that needs one
        process.add(ToyCoder("quick", format: 1001))
        own.add(ToyCoder("slow", format: 1002, first: 8, least: 2))
        let streams = (0..<4).map { [own, process] _ in
            PictureStream(limits: DecodeLimits(), registry: .builtIn.asking([own, process]))
        }
        let format = { (stream: Int, array: [UInt8], isLast: Bool) in
            try streams[stream].read(bytes(of: array), forms: [DecodeOptions()], isLast: isLast).pictures?.first?.image
                .get()
                .format?.rawValue
        }
        // then: the first coder is waited for
        #expect(try format(0, [], false) == nil)
        #expect(try format(0, [8], false) == nil)
        #expect(try format(0, [8, 1], false) == nil)
        #expect(try streams[0].read(bytes(of: [8, 1]), forms: [DecodeOptions()], isLast: false).wantsWhole)
        #expect(try format(0, [8, 1, 2], true) == 1002)
        #expect(try format(1, [7], false) == nil)
        #expect(try format(1, [7, 1], true) == 1001)
        // and its decision is not waited for beyond the last byte
        #expect(throws: CoderError(.unknownFormat)) { try format(2, [8], true) }
        // and a coder that was removed is not used any more
        #expect(try format(3, [8, 1], false) == nil)
        own.removeAll()
        #expect(throws: CoderError(.unknownFormat)) { try format(3, [8, 1, 2], true) }
    }

    @Test func isFreedWithItsLastUser() throws {
        // given
        let hasEnded = Monitor(false)
        own.add(ToyCoder(isAnimated: true, ended: { hasEnded.withLock { $0 = true } }))
        var image: Image? = try decode([7, 1, 2, 3, 4])
        // when
        own.removeAll()
        // then
        #expect(hasEnded.withLock { $0 } == false)
        #expect(try image?.animation?.frame(3).plainBytes == [4, 4, 4, 255])
        image = nil
        #expect(hasEnded.withLock { $0 })
    }

    /// Each form has a hint of its own; those that differ are decoded one after the other.
    @Test func aHintIsForItsFormAlone() throws {
        // given: coders that take nothing by its bytes
        own.add(ToyCoder("red", format: 1001, first: 0))
        own.add(ToyCoder("green", format: 1002, first: 0))
        let red = ImageFormat(rawValue: 1001)
        var forms = [
            DecodeOptions(), DecodeOptions(formatHint: red), DecodeOptions(formatHint: ImageFormat(rawValue: 1002)),
            DecodeOptions(format: .grey8, formatHint: red),
        ]
        // when
        var formats: [[Int32?]] = []
        for _ in 0..<3 {
            let made = try decoders.decode(bytes(of: [1, 2]), forms: forms, limits: DecodeLimits())
            formats.append(made.map { try? $0.image.get().format?.rawValue })
            forms.removeAll { form in made.contains { $0.form == form } }
        }
        // then: only the form without a hint fails
        #expect(formats == [[nil], [1001, 1001], [1002]])
    }

    // MARK: - Frames of a coder

    @Test(
        arguments: [
            (1, [1, 2, 3, 4], [1, 2, 3, 4]), (2, [64, 32, 0, 128], [128, 64, 0, 128]),
            (2, [9, 200, 1, 0], [0, 0, 0, 0]), (2, [255, 1, 2, 100], [255, 3, 5, 100]),
            (2, [5, 6, 7, 255], [5, 6, 7, 255]),
            (3, [1, 2, 3, 4], [3, 2, 1, 4]), (4, [0, 32, 64, 128], [128, 64, 0, 128]),
            (5, [1, 2, 3, 4], [1, 2, 3, 255]), (6, [9, 2, 3, 4], [9, 9, 9, 255]),
        ] as [(Int32, [UInt8], [UInt8])])
    func takesEveryPixelFormat(format: Int32, pixel: [UInt8], expected: [UInt8]) throws {
        // given
        own.add(
            ToyCoder { frame in
                guard let pixels = frame.pixels else { return }
                let target = UnsafeMutableRawPointer(mutating: pixels)
                for index in 0..<4 { target.storeBytes(of: pixel[index], toByteOffset: index, as: UInt8.self) }
                (frame.pixelFormat, frame.stride) = (format, 4)
            })
        // then
        #expect(try decode([7, 1]).pixels.plainBytes == expected)
        #expect(
            try decode([7, 1], DecodeOptions(format: .bgra8)).pixels.plainBytes == [2, 1, 0, 3].map { expected[$0] })
    }

    @Test func copiesRowsAndTurnsThem() throws {
        // given: 2 x 3 pixels, rows 10 bytes apart, to be turned to the right
        own.add(
            ToyCoder { frame in
                (frame.width, frame.height, frame.stride, frame.orientation) = (2, 3, 10, 6)
            })
        // when
        let upright = try decode([7, 1], DecodeOptions(format: .grey8))
        let stored = try decode([7, 1], DecodeOptions(format: .grey8, isUpright: false))
        // then
        #expect(upright.pixels.width == 3)
        #expect(upright.pixels.plainBytes == [20, 10, 0, 21, 11, 1])
        #expect(stored.pixels.plainBytes == [0, 1, 10, 11, 20, 21])
        #expect(upright.facts?.orientation == 6)
        #expect(upright.facts?.width == 2)
    }

    @Test func reducesFramesAndTellsTheCoderTheWantedSize() throws {
        // given: 4 x 2 pixels of 0 ... 7
        let coder = ToyCoder { frame in (frame.width, frame.height, frame.stride) = (4, 2, 4) }
        own.add(coder)
        let grey = { (width: Int, limit: Int64) in
            DecodeOptions(format: .grey8, size: SizeRule(width: width, byteLimit: limit))
        }
        // when
        let small = try decode([7, 1], grey(2, 0))
        let limited = try decode([7, 1], grey(0, 8))
        let both = try decoders.decode(
            bytes(of: [7, 1]), forms: [grey(1, 0), grey(3, 0), grey(0, 0)], limits: DecodeLimits())
        // then: means of 0 1 4 5 and 2 3 6 7, halves rounded to even
        #expect(small.pixels.plainBytes == [2, 4])
        #expect(limited.pixels.width * limited.pixels.height <= 2)
        #expect(try both.map { try $0.image.get().pixels.width } == [1, 3, 4])
        #expect(coder.log.withLock { $0 }.filter { $0.hasPrefix("open") } == ["open 2", "open 0", "open 0"])
        #expect(coder.log.withLock { $0 }.filter { $0.hasPrefix("frame") }.count == 3)
    }

    /// A coder reduces in its own way, so that it is not asked to where a form wants the exact means.
    @Test func exactMeansAreMadeOfAllPixels() throws {
        let coder = ToyCoder { frame in (frame.width, frame.height, frame.stride) = (4, 2, 4) }
        own.add(coder)
        let exact = DecodeOptions(format: .grey8, size: SizeRule(width: 2, isExact: true))
        #expect(try decode([7, 1], exact).pixels.plainBytes == [2, 4])
        #expect(coder.log.withLock { $0 }.first == "open 0")
    }

    @Test func aCoderMayReduceThePictureItselfButNotTooFar() throws {
        // given: a picture of 8 x 4 pixels, of which the coder gives 4 x 2
        own.add(
            ToyCoder { frame in
                (frame.width, frame.height, frame.stride) = (4, 2, 4)
                (frame.pictureWidth, frame.pictureHeight) = (8, 4)
            })
        let sized = { (width: Int) in DecodeOptions(format: .grey8, size: SizeRule(width: width)) }
        // then
        #expect(try decode([7, 1], sized(2)).pixels.plainBytes == [2, 4])
        #expect(try decode([7, 1], sized(4)).pixels.plainBytes == [0, 1, 2, 3, 4, 5, 6, 7])
        #expect(try decode([7, 1], sized(4)).facts?.width == 8)
        #expect(throws: CoderError.self) { try decode([7, 1], sized(6)) }
        #expect(decoders.outcome([7, 1]) == .failure(.coder))
    }

    @Test(
        arguments: [
            (SizeRule(width: 8, height: 4, fit: .stretch, allowsEnlarging: true), 8, 4),
            (SizeRule(width: 3, height: 5, fit: .stretch, allowsEnlarging: true), 3, 5),
            (SizeRule(width: 8, height: 1, fit: .fill, allowsEnlarging: true), 8, 1),
            (SizeRule(width: 12, allowsEnlarging: true), 12, 6),
        ])
    func enlargesFramesAsThePicturesOfTheLibrary(size: SizeRule, width: Int, height: Int) throws {
        // given: 4 x 2 pixels
        own.add(ToyCoder { frame in (frame.width, frame.height, frame.stride) = (4, 2, 4) })
        let whole = try decode([7, 1]).pixels
        let plan = size.plan(width: 4, height: 2)
        let reduction = Reduction(
            width: 4, height: 2, plan: plan, storedWidth: 4, storedHeight: 2, format: .rgba8, isOpaque: true)
        // when
        let enlarged = try decode([7, 1], DecodeOptions(size: size)).pixels
        // then
        #expect((enlarged.width, enlarged.height) == (width, height))
        #expect(try enlarged.plainBytes == reduction.reduce(whole).plainBytes)
    }

    @Test func aFrameBelowItsPictureIsNotEnlarged() {
        own.add(
            ToyCoder { frame in
                (frame.width, frame.height, frame.stride) = (4, 2, 4)
                (frame.pictureWidth, frame.pictureHeight) = (8, 4)
            })
        let enlarged = DecodeOptions(size: SizeRule(width: 16, allowsEnlarging: true))
        #expect(throws: CoderError.self) { try decode([7, 1], enlarged) }
    }

    // MARK: - Invalid frames

    @Test(
        arguments: [
            { $0.width = 0 }, { $0.height = 0 }, { $0.width = -1 }, { $0.height = .min }, { $0.pixels = nil },
            { $0.pixelFormat = 0 }, { $0.pixelFormat = -1 }, { $0.pixelFormat = .max }, { $0.stride = 0 },
            { $0.stride = -1 }, { $0.stride = .min }, { ($0.height, $0.stride) = (3, .max) }, { $0.width = 2 },
            { ($0.width, $0.pixelFormat, $0.stride) = (3, 1, 11) }, { $0.orientation = 9 }, { $0.orientation = -1 },
            { $0.frameCount = -1 }, { $0.loopCount = -1 }, { $0.duration = -1 },
            { ($0.pictureWidth, $0.pictureHeight) = (1, 0) }, { ($0.pictureWidth, $0.pictureHeight) = (-1, -1) },
            { ($0.pictureWidth, $0.pictureHeight) = (.min, .max) }, { ($0.pictureWidth, $0.pictureHeight) = (2, 1) },
        ] as [@Sendable (inout AppFrame) -> Void])
    func refusesInvalidFrames(change: @escaping @Sendable (inout AppFrame) -> Void) {
        #expect(outcome(change) == .failure(.coder))
    }

    @Test func countsPixelsBeforeItTakesMemory() {
        #expect(outcome(maxPixels: 5) { ($0.width, $0.height, $0.stride) = (2, 3, 2) } == .failure(.tooManyPixels))
        #expect(
            outcome { ($0.width, $0.height, $0.stride, $0.pixelFormat) = (.max, .max, 1 << 32, 6) }
                == .failure(.tooManyPixels))
        #expect(
            outcome(maxPixels: 5) { ($0.pictureWidth, $0.pictureHeight) = (3, 2) } == .failure(.tooManyPixels))
    }

    @Test func coderErrorsAreErrorsOfThePicture() {
        // given
        let coder = ToyCoder()
        own.add(coder)
        // then
        #expect(decoders.outcome([7, 0xee]) == .failure(.corrupt))
        #expect(decoders.outcome([7, 0xff]) == .failure(.truncated))
        #expect(decoders.outcome([7]) == .failure(.coder))
        #expect(throws: CoderError(.corrupt, "coder toy: 0xee")) { try decode([7, 0xee]) }
        #expect(coder.log.withLock { $0 } == Array(repeating: ["open 0", "close"], count: 4).flatMap { $0 })
    }

    /// What there is of a damaged body is shown where that is allowed, and only there.
    @Test func aDamagedBodyIsKeptAsAskedFor() throws {
        // given
        own.add(ToyCoder { $0.goodRows = 1 })
        let forms = [DecodeOptions(), DecodeOptions(isLenient: true), DecodeOptions(format: .grey8, isLenient: true)]
        // when
        let pictures = try decoders.decode(bytes(of: [7, 50]), forms: forms, limits: DecodeLimits())
        // then
        #expect(throws: CoderError(.corrupt, "coder toy")) { try pictures[0].image.get() }
        for picture in pictures[1...] {
            let image = try picture.image.get()
            #expect(image.isPartial && image.goodRows == 1)
        }
        #expect(outcome { $0.goodRows = 2 } == .failure(.coder))
        #expect(outcome { $0.goodRows = -1 } == .failure(.coder))
    }

    /// A form that refuses damage gets the error that it would have got alone.
    @Test func theReasonOfDamageIsKeptForWhoRefusesIt() throws {
        // given: a coder that keeps the rest of a cut body where it may
        own.add(ToyCoder(keepsCuts: true) { $0.goodRows = 1 })
        let forms = [DecodeOptions(isLenient: true), DecodeOptions()]
        // when
        let pictures = try decoders.decode(bytes(of: [7, 0xff]), forms: forms, limits: DecodeLimits())
        // then
        #expect(try pictures[0].image.get().goodRows == 1)
        #expect(throws: CoderError(.truncated, "coder toy")) { try pictures[1].image.get() }
    }

    /// A coder that reduces keeps the aspect ratio, so a picture that is stretched along one side needs all of it.
    @Test(arguments: [SizeRule(width: 1, fit: .stretch), SizeRule(height: 1, fit: .stretch)])
    func stretchingOneSideNeedsAllOfTheOther(size: SizeRule) throws {
        let coder = ToyCoder()
        own.add(coder)
        _ = try decode([7, 1], DecodeOptions(size: size))
        _ = try decode([7, 1], DecodeOptions(size: SizeRule(width: 1, height: 2, fit: .stretch)))
        #expect(coder.log.withLock { $0.filter { $0.hasPrefix("open") } } == ["open 0", "open 2"])
    }

    // MARK: - Frames

    @Test func aStillPictureHasNoFrames() throws {
        own.add(ToyCoder())
        #expect(try decode([7, 1, 2]).animation == nil)
    }

    @Test func framesComeInAnyOrder() throws {
        // given
        let coder = ToyCoder(isAnimated: true)
        own.add(coder)
        let image = try decode([7, 50, 60, 70, 80])
        let frames = try #require(image.animation)
        // when
        let greys = try [2, 3, 0, 1, 3, 3].map { try frames.frame($0).plainBytes[0] }
        // then: a later frame is read up to, and an earlier one starts anew
        #expect(greys == [70, 80, 50, 60, 80, 80])
        let first = ["open 0", "frame 0", "close"]
        let all = ["open 0", "frame 0", "frame 1", "frame 2", "frame 3", "close"]
        #expect(coder.log.withLock { $0 } == first + all + all + all)
        #expect((0..<4).map { frames.duration(of: $0) } == [1000, 2000, 3000, 4000])
        #expect(frames.frameCount == 4)
        #expect(frames.duration(of: 4) == 0)
        #expect(frames.duration(of: -1) == 0)
        #expect(throws: CoderError.self) { try frames.frame(4) }
        #expect(throws: CoderError.self) { try frames.frame(-1) }
        #expect(image.facts?.frameCount == 4)
    }

    @Test func aDurationMayBeReadBeforeAnyFrame() throws {
        own.add(ToyCoder(isAnimated: true))
        let frames = try #require(decode([7, 1, 2, 3, 4]).animation)
        #expect(frames.duration(of: 2) == 3000)
    }

    @Test func fewerFramesThanAnnouncedAreAnError() throws {
        // given
        own.add(ToyCoder(isAnimated: true))
        // then
        let cut = try #require(decode([7, 1, 2, 0xff]).animation)
        #expect(try cut.frame(1).plainBytes[0] == 2)
        #expect(throws: CoderError(.truncated, "coder toy")) { try cut.frame(2) }
        let few = try #require(decode([7, 1, 2]).animation)
        #expect(throws: CoderError(.coder, "coder toy: 2 frames, where 4 were announced")) { try few.frame(3) }
        #expect(few.duration(of: 3) == 0)
        #expect(try few.frame(0).plainBytes[0] == 1)
    }

    @Test func aFrameOfAnotherSizeIsAnError() throws {
        own.add(
            ToyCoder(isAnimated: true) { frame in
                if frame.duration > 1000 { (frame.width, frame.stride) = (2, 2) }
            })
        let frames = try #require(decode([7, 1, 2, 3, 4]).animation)
        #expect(throws: CoderError.self) { try frames.frame(1) }
    }

    @Test func manyThreadsMayAskForFrames() throws {
        // given
        own.add(ToyCoder(isAnimated: true))
        let frames = try #require(decode([7, 10, 20, 30, 40]).animation)
        let wrong = Monitor(0)
        // when
        let threads = (0..<4).map { _ in
            try? NativeThread(name: "frames") {
                for index in 0..<400 {
                    let grey = (try? frames.frame(index * 7 % 4))?.plainBytes[0]
                    if grey != [10, 20, 30, 40][index * 7 % 4] { wrong.withLock { $0 += 1 } }
                }
            }
        }
        for thread in threads { try #require(thread).join() }
        // then
        #expect(wrong.withLock { $0 } == 0)
    }

    // MARK: - Encoding

    @Test func encodesWithTheNewestCoderThatCan() throws {
        // given
        own.add(ToyCoder("encodes", first: 7, canEncode: true))
        own.add(ToyCoder("decodes", first: 8))
        process.add(ToyCoder("hidden", first: 9, canEncode: true))
        let registry = CoderRegistry.builtIn.asking([own, process])
        let pixels = try decode([7, 1], DecodeOptions(format: .bgra8)).pixels
        pixels.base.copyMemory(from: [1, 2, 3, 4] as [UInt8], byteCount: 4)
        let toy = try #require(ImageFormat(rawValue: 1000))
        // when
        let found = try registry.encodingCoder(toy)
        let coder = try #require(found)
        let made = try CoderRegistry.encode(pixels, StoredColour(), with: coder, quality: 80)
        // then: RGBA8, whatever it was
        #expect(Array(made.pointer) == [7, 1, 1, 80, 3, 2, 1, 4])
        #expect(throws: CoderError(.unsupported)) {
            try CoderRegistry.encode(pixels, StoredColour(), with: coder, quality: 1)
        }
        let none = try registry.encodingCoder(.jpeg)
        #expect(none == nil)
    }

    @Test func picturesOfAppCodersAreTransformed() throws {
        // given
        let coder = ToyCoder()
        own.add(coder)
        var form = DecodeOptions(size: SizeRule(width: 1, height: 1))
        form.transforms = TransformChain([
            .custom(key: "two") { _ in PixelBuffer(width: 2, height: 1, format: .rgba8) }
        ])
        // when
        let image = try decode([7, 1], form)
        let made = try decoders.decode(bytes(of: [7, 1]), in: form, isMade: true)
        // then
        #expect(image.width == 2 && image.bytes == nil && image.form == form)
        #expect(made.width == 1 && made.bytes != nil && made.form == form)
        #expect(coder.log.withLock { $0 }.filter { $0.hasPrefix("open") } == ["open 1", "open 0"])
    }
}

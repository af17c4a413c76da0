import SDDBase
import SDDCoders
import TestSupport
import Testing

@Suite struct InstalledCodersTests {
    /// A body that begins as a WebP does.
    private let webp = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8)

    private final class Source: CoderSource {
        let loads = Monitor<[Int32]>([])
        private let found: [ImageFormat]
        private let make: @Sendable (ImageFormat) -> Result<any AppCoder, CoderError>

        init(_ found: [ImageFormat], _ make: @escaping @Sendable (ImageFormat) -> Result<any AppCoder, CoderError>) {
            self.found = found
            self.make = make
        }

        func findCoders() -> FoundCoders {
            FoundCoders(
                places: Dictionary(uniqueKeysWithValues: found.map { ($0, "here") }),
                refusals: [.gif: "gif.so is not used"])
        }
        func load(_ format: ImageFormat, in place: String) throws(CoderError) -> any AppCoder {
            loads.withLock { $0.append(format.rawValue) }
            return try make(format).get()
        }
        func findDecoder(_ limits: DecodeLimits) throws(CoderError) -> HelperProgram { throw CoderError(.noDecoder) }
    }

    private func installed(_ source: Source) -> InstalledCoders {
        let coders = InstalledCoders()
        coders.setSource(source)
        return coders
    }

    private func decode(_ array: [UInt8], _ coders: InstalledCoders) throws(CoderError) -> Image {
        let decoders = DecoderSet(registry: .builtIn.asking([], installed: coders))
        return try decoders.decode(bytes(of: array), in: DecodeOptions())
    }

    @Test func loadsACoderForTheFirstBodyOfItsFormatAndOnce() throws {
        // given
        let source = Source([.webp, .gif]) { .success(ToyCoder(format: $0.rawValue, first: 0)) }
        let coders = installed(source)
        // when
        let formats = Set(coders.formats)
        let before = source.loads.withLock { $0 }
        let images = try (0..<3).map { _ in try decode(webp, coders) }
        // then
        #expect(formats == [.webp, .gif])
        #expect(before == [])
        #expect(source.loads.withLock { $0 } == [ImageFormat.webp.rawValue])
        #expect(images.allSatisfy { $0.format == .webp })
    }

    @Test func repeatsTheReasonOfACoderThatCannotBeLoaded() throws {
        // given
        let failure = CoderError(.unknownFormat, "webp.so is broken")
        let source = Source([.webp]) { _ in .failure(failure) }
        let coders = installed(source)
        // then
        for _ in 0..<2 { #expect(throws: failure) { try decode(webp, coders) } }
        #expect(source.loads.withLock { $0.count } == 1)
    }

    @Test func namesTheFormatThatNoCoderDecodes() throws {
        let error = CoderError(.unknownFormat, "no decoder for WebP is installed: libsdd-coder-webp has one")
        #expect(throws: error) { try decode(webp, InstalledCoders()) }
    }

    @Test func saysWhyACoderThatIsThereIsNotUsed() throws {
        let coders = installed(Source([.webp]) { _ in .failure(CoderError(.unknownFormat)) })
        #expect(coders.formats == [.webp])
        #expect(throws: CoderError(.unknownFormat, "no decoder for GIF is installed: gif.so is not used")) {
            try decode(Array("GIF89a".utf8), coders)
        }
    }

    @Test func aPictureOfTheLibrarysOwnFormatNeedsNone() throws {
        // given
        let source = Source([.png]) { _ in .failure(CoderError(.unknownFormat, "not asked")) }
        let coders = installed(source)
        // then: a damaged PNG is the library's
        #expect(throws: CoderError.self) { try decode([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], coders) }
        #expect(source.loads.withLock { $0 } == [])
    }

    @Test func waitsForTheBytesThatTellTheFormat() throws {
        // given: "mif1" allows any kind of picture; the compatible brand tells
        let source = Source([.avif]) { .success(ToyCoder(format: $0.rawValue, first: 0)) }
        let registry = CoderRegistry.builtIn.asking([], installed: installed(source))
        let body = [0, 0, 0, 24] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("miafavif".utf8)
        // then
        for count in 1..<body.count {
            let stream = PictureStream(limits: DecodeLimits(), registry: registry)
            let step = try stream.read(bytes(of: Array(body[..<count])), forms: [DecodeOptions()], isLast: false)
            #expect(!step.wantsWhole && step.facts == nil, "\(count) bytes")
        }
        let stream = PictureStream(limits: DecodeLimits(), registry: registry)
        let step = try stream.read(bytes(of: body), forms: [DecodeOptions()], isLast: false)
        #expect(step.wantsWhole)
    }

    @Test func recognizesJPEGXLAsCodestreamAndAsFile() {
        let file: [UInt8] = [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]
        for magic in [[0xff, 0x0a], file] {
            #expect(magic.withUnsafeBytes { ImageFormat(magicNumberOf: $0) } == .jxl)
        }
        #expect(file.dropLast().withUnsafeBytes { ImageFormat(magicNumberOf: $0) } == nil)
    }

    // MARK: - Previews

    /// A coder of pictures of one column: a byte 7, the number of rows, then each row's grey value.
    private final class RowCoder: AppCoder {
        let name = "rows"
        let format = ImageFormat(rawValue: 1000)!
        let canEncode = false
        let hasPreviews = true
        /// Whether later bytes improve all rows.
        let isRefined: Bool
        let opened = Monitor(0)
        let closed = Monitor(0)

        init(isRefined: Bool = false) { self.isRefined = isRefined }

        func canDecode(_ bytes: UnsafeRawBufferPointer) -> Bool? { bytes.first == 7 }
        func open(_ task: AppDecodeTask) throws(CoderError) -> any AppDecoder {
            opened.withLock { $0 += 1 }
            return RowDecoder(self)
        }
        func encode(
            _ pixels: PixelBuffer, _ colour: StoredColour, quality: Int, into bytes: ByteBuilder
        ) throws(CoderError) {
            throw CoderError(.unsupported)
        }
    }

    private final class RowDecoder: AppDecoder {
        private let coder: RowCoder
        private let body = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        private var count = 0

        init(_ coder: RowCoder) { self.coder = coder }
        deinit { body.deallocate() }

        func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError) {
            for byte in piece {
                body[count] = byte
                count += 1
            }
        }

        private var frame: AppFrame {
            var frame = AppFrame()
            (frame.width, frame.height, frame.stride, frame.pixelFormat) = (1, Int32(body[1]), 1, 6)
            frame.pixels = UnsafeRawPointer(body + 2)
            return frame
        }

        func preview() throws(CoderError) -> AppPreview {
            guard count > 1 else { return .nothing }
            if body[1] == 99 { throw CoderError(.corrupt) }
            return .frame(frame, goodRows: coder.isRefined ? nil : count - 2)
        }

        func next() throws(CoderError) -> AppAnswer {
            if count < 2 || count - 2 < Int(body[1]) { return .incomplete }
            return .frame(frame)
        }

        func close() { coder.closed.withLock { $0 += 1 } }
    }

    @Test func showsTheRowsThatACoderHasSoFar() throws {
        // given
        let (coder, list) = (RowCoder(), AppCoderList())
        list.add(coder)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn.asking([list]))
        let body: [UInt8] = [7, 4, 10, 20, 30, 40]
        // when
        var rows: [Int] = []
        for count in 1...5 {
            let step = try stream.read(
                bytes(of: Array(body[..<count])), forms: [DecodeOptions()], isLast: false, previewScans: 1)
            #expect((step.facts?.height == 4) == (count > 1))
            rows += step.previews.map { $0.image.goodRowCount }
        }
        let last = try stream.read(bytes(of: body), forms: [DecodeOptions()], isLast: true)
        let result = try #require(last.pictures?.first?.image)
        let image = try result.get()
        // then: one decoder has done it all
        #expect(rows == [1, 2, 3])
        #expect(image.height == 4 && image.goodRowCount == 4)
        #expect(coder.opened.withLock { $0 } == 1 && coder.closed.withLock { $0 } == 1)
    }

    /// It has all rows, none of which is final.
    @Test(arguments: [true, false]) func aPreviewThatIsImprovedSaysSo(isRefined: Bool) throws {
        let list = AppCoderList()
        list.add(RowCoder(isRefined: isRefined))
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn.asking([list]))
        let step = try stream.read(
            bytes(of: [7, 4, 10]), forms: [DecodeOptions()], isLast: false, previewScans: 1)
        let preview = try #require(step.previews.first?.image)
        #expect(preview.facts?.isProgressive == isRefined && step.facts?.isProgressive == isRefined)
        #expect(preview.goodRowCount == (isRefined ? 4 : 1))
    }

    @Test func decodesTheWholeBodyAgainIfItIsDamaged() throws {
        // given
        let (coder, list) = (RowCoder(), AppCoderList())
        list.add(coder)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn.asking([list]))
        _ = try stream.read(bytes(of: [7, 4, 1]), forms: [DecodeOptions()], isLast: false, previewScans: 1)
        // then
        #expect(throws: CoderError(.truncated, "coder rows")) {
            try stream.read(bytes(of: [7, 4, 1, 2]), forms: [DecodeOptions()], isLast: true)
        }
        #expect(coder.opened.withLock { $0 } == 2 && coder.closed.withLock { $0 } == 2)
    }

    @Test func aStreamThatNobodyWatchesWaitsForTheWholeBody() throws {
        let (coder, list) = (RowCoder(), AppCoderList())
        list.add(coder)
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn.asking([list]))
        let step = try stream.read(bytes(of: [7, 4, 1]), forms: [DecodeOptions()], isLast: false, mayWait: true)
        #expect(step.wantsWhole && coder.opened.withLock { $0 } == 0)
    }
}

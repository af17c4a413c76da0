import SDDBase
import SDDCoders
import TestSupport
import Testing

/// Row O9: an image is complete except for its pixels, which are decoded on demand.
@Suite struct LazyPixelsTests {
    private func image(_ bytes: Bytes, _ form: DecodeOptions) throws -> Image {
        let stream = PictureStream(limits: DecodeLimits(maxPixels: 1 << 20), registry: .builtIn)
        return try #require(try stream.read(bytes, forms: [form], isLast: true).pictures?.first?.image.get())
    }

    @Test(
        arguments: ["facts/orientation-6.jpg", "jpeg/progressive-420.jpg", "png/rgba16.png"],
        [SizeRule.none, SizeRule(width: 5, height: 9), SizeRule(width: 6, height: 6, fit: .fill)])
    func givesTheSamePixelsAsEagerDecoding(name: String, size: SizeRule) throws {
        // given
        let bytes = try Fixtures.bytes(name)
        let eager = try image(bytes, DecodeOptions(format: .bgra8, size: size))
        // when
        let lazy = try image(bytes, DecodeOptions(format: .bgra8, size: size, isLazy: true))
        // then
        #expect(lazy.ready == nil)
        #expect(lazy.width == eager.width && lazy.height == eager.height)
        #expect(lazy.pixelFormat == .bgra8 && lazy.facts == eager.facts && lazy.bytes === bytes)
        #expect(try lazy.decoded().plainBytes == eager.decoded().plainBytes)
        #expect(lazy.ready === (try lazy.decoded()))
    }

    @Test func manyThreadsShareOneDecode() throws {
        // given
        let lazy = try image(Fixtures.bytes("large/progressive.jpg"), DecodeOptions(isLazy: true))
        let seen = Monitor<[ObjectIdentifier]>([])
        // when
        let threads = try (0..<8).map { _ in
            try NativeThread(name: "asks") {
                guard let pixels = try? lazy.decoded() else { return }
                seen.withLock { $0.append(ObjectIdentifier(pixels)) }
            }
        }
        for thread in threads { thread.join() }
        // then
        #expect(seen.withLock { $0.count } == 8)
        #expect(Set(seen.withLock { $0 }).count == 1)
    }

    @Test func damageIsReportedOnDecoding() throws {
        let whole = try Fixtures.array("jpeg/baseline-420.jpg")
        let lazy = try image(bytes(of: whole[..<(whole.count / 2)]), DecodeOptions(isLazy: true))
        for _ in 0..<2 {
            let error = #expect(throws: CoderError.self) { try lazy.decoded() }
            #expect(error?.kind == .truncated)
        }
        #expect(lazy.ready == nil)
    }

    @Test func missingRowsAreToldOnDecoding() throws {
        let lazy = try image(Fixtures.bytes("png/bad/too-few-rows.png"), DecodeOptions(isLenient: true, isLazy: true))
        #expect(!lazy.isPartial && lazy.goodRows == nil)
        _ = try lazy.decoded()
        #expect(lazy.isPartial && lazy.goodRowCount < lazy.height)
    }

    @Test func bytesThatAreNoPictureFailAtOnce() throws {
        #expect(throws: CoderError.self) { try image(Fixtures.bytes("png/bad/huge.png"), DecodeOptions(isLazy: true)) }
        #expect(throws: CoderError.self) { try image(bytes(of: [1, 2, 3]), DecodeOptions(isLazy: true)) }
    }

    @Test func otherOptionsAreDecodedAtOnce() throws {
        let bytes = try Fixtures.bytes("png/rgb8.png")
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let forms = [DecodeOptions(isLazy: true), DecodeOptions()]
        let pictures = try #require(try stream.read(bytes, forms: forms, isLast: true).pictures)
        #expect(try pictures.map { try $0.image.get().ready == nil } == [true, false])
    }
}

/// The frames of an animation are counted while its bytes arrive.
@Suite struct FramesSoFarTests {
    @Test(arguments: [DecodeOptions.Frames.access, .preload])
    func previewsHaveTheFramesSoFar(frames: DecodeOptions.Frames) throws {
        // given
        let whole = try Fixtures.array("frames/as-pillow.png")
        let form = DecodeOptions(frames: frames)
        let all = try #require(
            try PictureStream(limits: DecodeLimits(), registry: .builtIn).read(
                bytes(of: whole), forms: [form], isLast: true
            ).pictures?.first?.image.get())
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        // when
        var counts: [Int] = []
        for count in 1..<whole.count {
            let step = try stream.read(bytes(of: whole[..<count]), forms: [form], isLast: false, previewScans: 1)
            guard let preview = step.previews.first?.image else { continue }
            // then
            counts.append(preview.frameCount)
            let last = try #require(try preview.frame(preview.frameCount - 1))
            if preview.frameCount > 1 {
                #expect(try last.decoded().plainBytes == all.frame(preview.frameCount - 1)?.decoded().plainBytes)
            }
        }
        #expect(counts == counts.sorted())
        #expect(all.frameCount > 3 && Set(counts).isSuperset(of: 2..<all.frameCount))
    }
}

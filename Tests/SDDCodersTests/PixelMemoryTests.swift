import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Row Z15: pixels in memory of the host's.
@Suite struct PixelMemoryTests {
    private static let names = [
        "facts/grey.jpg", "facts/inks.jpg", "facts/orientation-6.jpg", "facts/orientation.png", "facts/levels.png",
        "png/rgba16.png", "png/rgba8-interlaced.png", "png/palette4-trns.png",
    ]
    private static let sizes = [SizeRule.none, SizeRule(width: 5), SizeRule(width: 40, allowsEnlarging: true)]
    private static let forms = PixelFormat.allCases.flatMap { format in
        sizes.map { DecodeOptions(format: format, background: 0x0102_03, size: $0) }
    }

    private let decoders = DecoderSet(registry: .builtIn)

    @Test(arguments: names)
    func anAllocatorIsAskedAndGivenBackTo(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for form in Self.forms {
            // given
            let expected = try decode(bytes, form)
            let host = HostMemory()
            // when
            var image: Image? = try decode(bytes, form.with(.allocator(host.allocator), alignment: 32))
            // then
            #expect(image?.pixels.plainBytes == expected.pixels.plainBytes, "\(form)")
            #expect((image?.pixels.stride ?? 1) % 32 == 0)
            #expect(host.sizes == [image?.pixels.byteCount] && host.alignments == [32] && host.givenBack == [])
            image = nil
            #expect(host.givenBack == host.sizes)
        }
    }

    @Test func nothingIsKeptOfWhatFails() throws {
        for name in ["jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg", "png/rgba8.png", "png/rgba8-interlaced.png"] {
            let whole = try Fixtures.array(name)
            for form in Self.forms {
                let host = HostMemory()
                let form = form.with(.allocator(host.allocator))
                for count in [whole.count / 3, whole.count / 2, whole.count * 9 / 10] {
                    #expect(throws: CoderError.self) { try decode(bytes(of: whole[..<count]), form) }
                }
                #expect(host.givenBack == host.sizes)
            }
        }
    }

    @Test func anAllocatorMayHaveNone() throws {
        let bytes = try Fixtures.bytes("facts/orientation.png")
        for form in Self.forms {
            let host = HostMemory()
            host.isEmpty = true
            let error = #expect(throws: CoderError.self) { try decode(bytes, form.with(.allocator(host.allocator))) }
            #expect(error?.kind == .noMemory)
            host.isEmpty = false
            host.isOdd = true
            #expect(throws: CoderError.self) { try decode(bytes, form.with(.allocator(host.allocator))) }
            #expect(host.sizes.count == 1 && host.givenBack == host.sizes)
        }
    }

    @Test(arguments: names)
    func aBufferIsWrittenToAndNothingBesideIt(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for form in Self.forms {
            for padding in [0, 1, 32] {
                // given
                let expected = try decode(bytes, form).pixels
                let rowBytes = expected.width * form.format.bytesPerPixel
                let (stride, rows) = (rowBytes + padding, expected.height * form.format.planeCount)
                let size = stride * rows - padding
                let space = try #require(malloc(size + 8))
                defer { free(space) }
                memset(space, 0xa5, size + 8)
                let lent = PixelSpace(base: space, size: size, stride: padding == 0 ? 0 : stride)
                // when
                let pixels = try decode(bytes, form.with(.caller(lent))).pixels
                // then
                #expect(pixels.base == space && pixels.stride == stride && pixels.byteCount == size)
                #expect(pixels.plainBytes == expected.plainBytes, "\(form)")
                for row in 0..<rows {
                    let between = UnsafeRawBufferPointer(
                        start: space + row * stride + rowBytes, count: row == rows - 1 ? 8 : padding)
                    #expect(between.allSatisfy { $0 == 0xa5 })
                }
                // and one byte less is not enough
                let short = PixelSpace(base: space, size: size - 1, stride: padding == 0 ? 0 : stride)
                #expect(
                    throws: CoderError(
                        .bufferTooSmall, "\(size) bytes for \(expected.width) x \(expected.height) pixels")
                ) { try decode(bytes, form.with(.caller(short))) }
                let narrow = PixelSpace(base: space, size: size, stride: rowBytes - 1)
                guard narrow.stride > 0 else { continue }
                #expect(
                    throws: CoderError(
                        .bufferTooSmall, "rows of \(rowBytes) bytes for \(expected.width) x \(expected.height) pixels")
                ) { try decode(bytes, form.with(.caller(narrow))) }
            }
        }
    }

    /// Its previews are elsewhere: what the host has in its hands does not change.
    @Test(arguments: ["jpeg/baseline-444.jpg", "jpeg/grey.jpg", "png/rgba8.png", "png/rgb16.png", "png/grey8.png"])
    func aBufferIsForThePictureAlone(name: String) throws {
        let whole = try Fixtures.array(name)
        for form in Self.forms where form.size.width != 40 {
            // given
            let expected = try decode(bytes(of: whole), form).pixels
            let space = try #require(malloc(expected.byteCount))
            defer { free(space) }
            let lent = PixelSpace(base: space, size: expected.byteCount, stride: 0)
            let memory = form.with(.caller(lent))
            let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
            // when
            var previews: [Image] = []
            var picture: Image?
            for count in stride(from: whole.count % 40, through: whole.count, by: 40) {
                let step = try stream.read(
                    bytes(of: whole[..<count]), forms: [memory], isLast: count == whole.count, previewScans: 1)
                previews += step.previews.map(\.image)
                picture = try step.pictures?.first?.image.get()
            }
            // then
            let made = try #require(picture).pixels
            #expect(made.base == space && made.plainBytes == expected.plainBytes)
            #expect(previews.count > 1)
            for preview in previews {
                let rows = preview.goodRowCount * expected.stride
                #expect(preview.pixels.base != space)
                #expect(preview.pixels.plainBytes.prefix(rows) == made.plainBytes.prefix(rows), "\(form)")
            }
        }
    }

    /// What is one for all ends it as soon as it is known; what is one form's does not.
    @Test func aFormMayFailBeforeTheOthersAreDone() throws {
        // given
        let whole = try Fixtures.array("png/rgba8.png")
        let space = try #require(malloc(1))
        defer { free(space) }
        let small = DecodeOptions().with(.caller(PixelSpace(base: space, size: 1, stride: 0)))
        let half = bytes(of: whole[..<(whole.count / 2)])
        // when
        let forms = [small, DecodeOptions(size: SizeRule(width: 3))]
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let step = try stream.read(half, forms: forms, isLast: false)
        let pictures = try stream.read(bytes(of: whole), forms: forms, isLast: true).pictures
        // then
        #expect(step.pictures == nil && !step.isComplete)
        #expect(throws: CoderError(.bufferTooSmall, "988 bytes for 19 x 13 pixels")) { try pictures?[0].image.get() }
        #expect(try pictures?[1].image.get().pixels.width == 3)
        let alone = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        #expect(throws: CoderError.self) { try alone.read(half, forms: [small], isLast: false) }
    }

    /// Who brought it may be gone, and the memory with it: nobody else's picture is made of what is there.
    @Test func nothingIsMadeOfAnothersBuffer() throws {
        // given
        let whole = try Fixtures.array("png/rgba8.png")
        let half = bytes(of: whole[..<(whole.count / 2)])
        let space = try #require(malloc(988))
        let lent = DecodeOptions(isUpright: false).with(.caller(PixelSpace(base: space, size: 988, stride: 0)))
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        // when
        _ = try stream.read(half, forms: [lent], isLast: false)
        _ = try stream.read(half, forms: [lent, .stored], isLast: false)
        free(space)
        let pictures = try stream.read(bytes(of: whole), forms: [.stored], isLast: true).pictures
        // then
        let image = try #require(try pictures?.first?.image.get())
        #expect(try Raster(image) == Pictures.expected("png/rgba8.png"))
        #expect(image.pixels.base != space && pictures?.count == 1)
    }

    /// One that fails does not take the others with it.
    @Test func eachGetsItsOwnInCompany() throws {
        // given
        let bytes = try Fixtures.bytes("facts/orientation.png")
        let (host, size) = (HostMemory(), 13 * 19 * 4)
        let space = try #require(malloc(size))
        defer { free(space) }
        let owners: [PixelMemory.Owner] = [
            .library, .allocator(host.allocator), .caller(PixelSpace(base: space, size: size, stride: 0)),
            .caller(PixelSpace(base: space, size: size - 1, stride: 0)),
        ]
        // when
        let pictures = try decoders.decode(
            bytes, forms: owners.map { DecodeOptions().with($0) }, limits: DecodeLimits(maxPixels: 13 * 19))
        // then
        let made = pictures.map { try? $0.image.get().pixels }
        #expect(made[0]?.plainBytes == made[1]?.plainBytes && made[0]?.plainBytes == made[2]?.plainBytes)
        #expect(made[2]?.base == space && host.sizes == [size] && made[0] != nil)
        #expect(throws: CoderError(.bufferTooSmall, "988 bytes for 13 x 19 pixels")) { try pictures[3].image.get() }
    }

    @Test func onlyTheSameIsTheSame() throws {
        let (one, other) = (HostMemory(), HostMemory())
        #expect(DecodeOptions().with(.allocator(one.allocator)) == DecodeOptions().with(.allocator(one.allocator)))
        #expect(DecodeOptions().with(.allocator(one.allocator)) != DecodeOptions().with(.allocator(other.allocator)))
        #expect(DecodeOptions().with(.allocator(one.allocator)) != DecodeOptions())
        let place = UnsafeMutableRawPointer(Unmanaged.passUnretained(one).toOpaque())
        let space = PixelSpace(base: place, size: 8, stride: 0)
        #expect(DecodeOptions().with(.caller(space)) == DecodeOptions().with(.caller(space)))
        let next = PixelSpace(base: place + 1, size: 8, stride: 0)
        #expect(DecodeOptions().with(.caller(space)) != DecodeOptions().with(.caller(next)))
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (Int.max, 1), (Int.max / 4, 2), (1 << 31, 1 << 31)])
    func sizesThatCannotBeAreNotAskedFor(width: Int, height: Int) {
        let host = HostMemory()
        for format in PixelFormat.allCases {
            let memory = DecodeOptions(format: format).with(.allocator(host.allocator), alignment: 4096).memory
            #expect(throws: CoderError.self) {
                try PixelBuffer.make(width: width, height: height, format, in: memory)
            }
        }
        #expect(host.sizes.isEmpty)
    }

    private func decode(_ bytes: Bytes, _ form: DecodeOptions) throws -> Image {
        try decoders.decode(bytes, form: form, maxPixels: 1 << 20)
    }
}

extension DecodeOptions {
    fileprivate func with(_ owner: PixelMemory.Owner, alignment: Int = 1) -> DecodeOptions {
        DecodeOptions(
            format: format, isUpright: isUpright, background: background, size: size,
            memory: PixelMemory(owner: owner, rowAlignment: alignment))
    }
}

/// A host's allocator, which remembers what it was asked for. One thread.
private final class HostMemory {
    var sizes: [Int?] = []
    var alignments: [Int] = []
    var givenBack: [Int?] = []
    var isEmpty = false
    /// Memory is given that is not aligned.
    var isOdd = false

    var allocator: PixelAllocator {
        PixelAllocator(
            allocate: { size, alignment, host in
                guard let host = HostMemory.at(host), !host.isEmpty else { return nil }
                host.sizes.append(size)
                host.alignments.append(alignment)
                let base = aligned_alloc(alignment, (size + 2 * alignment - 1) & ~(alignment - 1))
                return host.isOdd ? base.map { $0 + 8 } : base
            },
            release: { base, size, host in
                guard let host = HostMemory.at(host) else { return }
                host.givenBack.append(size)
                free(host.isOdd ? base.map { $0 - 8 } : base)
            }, userData: Unmanaged.passUnretained(self).toOpaque())
    }

    private static func at(_ place: UnsafeMutableRawPointer?) -> HostMemory? {
        place.map { Unmanaged<HostMemory>.fromOpaque($0).takeUnretainedValue() }
    }
}

import SDDBase
import SDDCoders
import TestSupport
import Testing

/// The memory that a stream reserves before it allocates pixels.
@Suite struct DecodeCostTests {
    /// Grants every reservation, and records the sizes.
    private final class Notes: MemoryKeeping, @unchecked Sendable {
        // Safety: a test uses it on one thread.
        private(set) var asked: [Int] = []

        func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? {
            asked.append(bytes)
            return Room(bytes)
        }
    }

    private final class Room: MemoryReserved {
        let bytes: Int

        init(_ bytes: Int) { self.bytes = bytes }

        func shrink(to bytes: Int) {}
        func settle() {}
        func decoded(keeping bytes: Int) {}
    }

    private func asked(for name: String, step: Int? = nil, size: SizeRule = .none) throws -> [Int] {
        let whole = try Fixtures.array(name)
        let notes = Notes()
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn, memory: notes)
        let form = DecodeOptions(isUpright: false, size: size)
        for count in step.map({ Array(stride(from: $0, to: whole.count, by: $0)) }) ?? [] {
            _ = try stream.read(bytes(of: whole[..<count]), forms: [form], isLast: false)
        }
        let last = try stream.read(bytes(of: whole[...]), forms: [form], isLast: true)
        _ = try #require(try last.pictures?.first?.image.get())
        return notes.asked
    }

    private static let pixels = 640 * 480 * 4
    /// The two colour components have half as many rows and columns, of 40 blocks of 8 and 30.
    private static let coefficients = 640 * 480 * 2 + 2 * 320 * 240 * 2

    @Test func aScanForEachComponentCostsAsMuchAsAProgressivePicture() throws {
        #expect(try asked(for: "large/baseline.jpg") == [Self.pixels])
        #expect(try asked(for: "large/progressive.jpg") == [Self.pixels + Self.coefficients])
        #expect(try asked(for: "large/sequential-scans.jpg") == [Self.pixels + Self.coefficients])
    }

    /// The reservation is the same for any piece size and any size of the picture.
    @Test(arguments: ["baseline", "progressive", "sequential-scans", "arithmetic-progressive"])
    func nothingIsReservedBeforeTheFirstScanIsKnown(name: String) throws {
        for size in [SizeRule.none, SizeRule(width: 160)] {
            let whole = try asked(for: "large/\(name).jpg", size: size)
            for step in [1, 7, 100] {
                #expect(try asked(for: "large/\(name).jpg", step: step, size: size) == whole, "\(name), \(step)")
            }
        }
    }

    /// 37 x 29 pixels, so that blocks reach beyond the picture.
    @Test(arguments: [
        ("jpeg/progressive-420", (48 * 32 + 2 * 24 * 16) * 2), ("jpeg/sequential-scans", (48 * 32 + 2 * 24 * 16) * 2),
        ("jpeg/progressive-grey", 40 * 32 * 2), ("jpeg/ycck-progressive", 4 * 40 * 32 * 2), ("jpeg/baseline-444", 0),
    ])
    func coefficientsAreCountedByTheSampling(name: String, coefficients: Int) throws {
        let file = try Fixtures.bytes("\(name).jpg")
        let size = try withExtendedLifetime(file) { try ImageFacts(of: file.pointer) }
        #expect(try asked(for: "\(name).jpg") == [size.width * size.height * 4 + coefficients])
    }

    /// At an eighth only the means of the blocks of the first component are kept, and a window of ten rows of blocks:
    /// 80 x 60 blocks. libjpeg makes the other components from all coefficients. While the body arrives, all are kept.
    @Test func aReducedPictureKeepsFewCoefficients() throws {
        let pixels = 80 * 60 * 4
        let colours = 2 * 320 * 240 * 2
        let means = 80 * 60 * 2 + 80 * 10 * 64 * 2
        #expect(try asked(for: "large/progressive.jpg", size: SizeRule(width: 80)) == [pixels + means + colours])
        #expect(
            try asked(for: "large/progressive.jpg", step: 1000, size: SizeRule(width: 80))
                == [pixels + Self.coefficients])
        #expect(try asked(for: "large/sequential-scans.jpg", size: SizeRule(width: 80)) == [pixels + Self.coefficients])
    }

    /// Each of the forms that share a body is held to the limits by itself, as if it were alone.
    @Test func theLimitsHoldForEachForm() throws {
        let body = try Fixtures.bytes("large/baseline.jpg")
        let forms = [DecodeOptions(isUpright: false), DecodeOptions(isUpright: false, size: SizeRule(width: 320))]
        let read = { (limit: Int) throws(CoderError) in
            var limits = DecodeLimits()
            limits.maxBytes = limit
            let stream = PictureStream(limits: limits, registry: .builtIn)
            return try stream.read(body, forms: forms, isLast: true).pictures ?? []
        }
        // Both together would take more, so that the second one has its turn later.
        let first = try read(Self.pixels)
        #expect(try first.map { try $0.image.get().pixels.width } == [640])
        #expect(try read(Self.pixels + Self.pixels / 4).map { try $0.image.get().pixels.width } == [640, 320])
        // One that is too large by itself does not affect the other.
        let second = try read(Self.pixels - 1)
        #expect(second.map(\.form) == [forms[1], forms[0]])
        #expect(try second[0].image.get().pixels.width == 320)
        #expect(throws: CoderError(.tooMuchMemory, "about \(Self.pixels) bytes")) { try second[1].image.get() }
        #expect(throws: CoderError(.tooMuchMemory, "about \(Self.pixels) bytes")) { try read(1) }
    }

    /// Without its end marker the scans cannot be told, so that all are read.
    @Test func aReducedPictureWithoutItsEndKeepsAllCoefficients() throws {
        let whole = try Fixtures.array("large/progressive.jpg")
        let notes = Notes()
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn, memory: notes)
        let form = DecodeOptions(isUpright: false, size: SizeRule(width: 80))
        let step = try stream.read(bytes(of: whole.dropLast(2)), forms: [form], isLast: true)
        #expect(try step.pictures?.first?.image.get().pixels.width == 80)
        #expect(notes.asked == [80 * 60 * 4 + Self.coefficients])
    }
}

import Testing

@testable import SDDCoders

/// Layout of pictures in an application's memory for a batch.
@Suite struct TensorTests {
    /// The value of bytes that have not been written.
    private static let untouched: UInt8 = 0xa5
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)

    init() { memory.initializeMemory(as: UInt8.self, repeating: Self.untouched) }

    private func tensor(
        _ format: PixelFormat = .rgb8, slots: Int = 3, stride: Int = 0, _ width: Int = 4, _ height: Int = 3,
        fit: SizeRule.Fit = .inside
    ) -> Tensor? {
        memory.baseAddress.flatMap {
            Tensor(
                base: $0, slotCount: slots, slotStride: stride, format: format,
                size: SizeRule(width: width, height: height, fit: fit, allowsEnlarging: true), background: 0)
        }
    }

    /// Returns a picture whose bytes count from 1, plane after plane, row after row.
    private func image(_ format: PixelFormat, _ width: Int, _ height: Int) throws -> Image {
        let pixels = try PixelBuffer.make(width: width, height: height, format, in: PixelMemory(rowAlignment: 16))
        var next: UInt8 = 1
        for y in 0..<height * format.planeCount {
            for x in 0..<width * format.bytesPerPixel {
                (pixels.base + y * pixels.stride + x).storeBytes(of: next, as: UInt8.self)
                next += 1
            }
        }
        return Image(pixels: pixels, format: nil, bytes: nil)
    }

    private func bytes(_ range: Range<Int>) -> [UInt8] { Array(memory[range]) }

    @Test("Z14: rows of a slot have no padding, and zeros fill the space beside and below a smaller picture")
    func fillsWithZerosAround() throws {
        defer { memory.deallocate() }
        let tensor = try #require(self.tensor(.rgb8))
        try tensor.fill(1, with: image(.rgb8, 2, 2))
        let rows: [[UInt8]] = [
            [1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0], [7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0],
            Array(repeating: 0, count: 12),
        ]
        #expect(bytes(36..<72) == rows.flatMap { $0 })
        #expect(
            bytes(0..<36).allSatisfy { $0 == Self.untouched } && bytes(72..<256).allSatisfy { $0 == Self.untouched })
    }

    @Test("Z14: each plane has its own place, also for a smaller picture") func fillsPlanes() throws {
        defer { memory.deallocate() }
        let tensor = try #require(self.tensor(.rgb8Planar, slots: 2, stride: 40, 3, 2))
        try tensor.fill(1, with: image(.rgb8Planar, 2, 1))
        #expect(bytes(40..<58) == [1, 2, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0])
        #expect(bytes(58..<80).allSatisfy { $0 == Self.untouched })
        tensor.clear(1)
        #expect(bytes(40..<58).allSatisfy { $0 == 0 } && bytes(58..<80).allSatisfy { $0 == Self.untouched })
    }

    @Test func aPictureThatDoesNotFitIsRefused() throws {
        defer { memory.deallocate() }
        let tensor = try #require(self.tensor(.grey8))
        #expect(throws: CoderError.self) { try tensor.fill(0, with: image(.grey8, 5, 1)) }
        #expect(throws: CoderError.self) { try tensor.fill(0, with: image(.rgb8, 1, 1)) }
        #expect(bytes(0..<256).allSatisfy { $0 == Self.untouched })
    }

    @Test("Z14: a picture that is as large as its slot is decoded there", arguments: [SizeRule.Fit.fill, .stretch])
    func decodesIntoTheSlot(fit: SizeRule.Fit) throws {
        defer { memory.deallocate() }
        let tensor = try #require(self.tensor(.rgb8, fit: fit))
        #expect(tensor.form(for: 2).isCallers && !tensor.form(for: nil).isCallers)
        #expect(try #require(self.tensor(.rgb8)).form(for: 2).isCallers == false)
        let pixels = try PixelBuffer.make(width: 4, height: 3, .rgb8, in: tensor.form(for: 2).memory)
        #expect(pixels.base == memory.baseAddress.map { $0 + 72 })
        // The picture is there already.
        try tensor.fill(2, with: Image(pixels: pixels, format: nil, bytes: nil))
        #expect(bytes(72..<108).allSatisfy { $0 == Self.untouched })
    }

    @Test func impossibleSizesAreRefused() {
        defer { memory.deallocate() }
        #expect(tensor(slots: 0) == nil && tensor(slots: -1) == nil)
        #expect(tensor(stride: 35) == nil && tensor(stride: -1) == nil && tensor(stride: 36) != nil)
        #expect(tensor(slots: .max) == nil && tensor(slots: 2, stride: .max) == nil)
        #expect(tensor(.rgba8, Int(Int32.max), Int(Int32.max)) == nil)
    }
}

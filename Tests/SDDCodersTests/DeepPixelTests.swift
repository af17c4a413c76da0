import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Row C7: 16 bits per channel where the options ask for them.
@Suite struct DeepPixelTests {
    private static let deep = Pictures.pngs.filter { $0.contains("16") }

    private let decoders = DecoderSet(registry: .builtIn)

    @Test func theFixturesHaveDeepPictures() { #expect(Self.deep.count == 10) }

    @Test(arguments: deep)
    func all16BitsAreKept(name: String) throws {
        // given
        let stored = try Fixtures.array(name.dropLast(3) + "rgba16")
        let expected = stride(from: 0, to: stored.count, by: 2).map { UInt16(stored[$0]) << 8 | UInt16(stored[$0 + 1]) }
        // when
        let straight = try channels(name, .rgba16)
        let multiplied = try channels(name, .rgba16Premultiplied)
        // then
        #expect(straight == expected)
        #expect(multiplied == Self.multiplied(expected))
    }

    /// A channel of 8 bits is widened to the value times 257, in any picture.
    @Test(arguments: Pictures.pngs.filter { !$0.contains("16") } + Pictures.jpegs)
    func fewerBitsAreWidened(name: String) throws {
        let expected = try Pictures.expected(name).rgba.map { UInt16($0) * 257 }
        #expect(try channels(name, .rgba16) == expected)
        #expect(try channels(name, .rgba16Premultiplied) == Self.multiplied(expected))
    }

    @Test(arguments: 1...8)
    func deepPixelsAreTurned(orientation: Int) throws {
        let name = "facts/orientation-\(orientation)"
        let expected = try Raster(pam: Fixtures.array("\(name).upright.pam")).rgba.map { UInt16($0) * 257 }
        #expect(try channels("\(name).jpg", .rgba16, isUpright: true) == expected)
    }

    @Test(arguments: deep)
    func allBitsTakePartInReducing(name: String) throws {
        // given
        let whole = try decode(name, DecodeOptions(format: .rgba16, isUpright: false))
        for rule in [SizeRule(width: 7, height: 7), SizeRule(width: 5, height: 2, fit: .fill), SizeRule(height: 3)] {
            let plan = rule.plan(width: whole.width, height: whole.height)
            let expected = Means.of(Self.picture(whole), plan)
            // when
            let made = Self.picture(try decode(name, DecodeOptions(format: .rgba16, isUpright: false, size: rule)))
            // then
            for (row, expectedRow) in zip(made, expected) {
                for (pixel, mean) in zip(row, expectedRow) {
                    let difference = pixel - mean
                    // A float has 24 bits, and rounding affects those beyond the 16; colours that are nearly
                    // transparent are less precise.
                    let most = max(abs(difference.x), abs(difference.y), abs(difference.z), abs(difference.w))
                    try #require(most < 0.6, "\(rule): \(pixel), not \(mean)")
                }
            }
        }
    }

    private static func multiplied(_ channels: [UInt16]) -> [UInt16] {
        channels.indices.map { index in
            let alpha = UInt64(channels[index | 3])
            return index % 4 == 3 ? channels[index] : UInt16((UInt64(channels[index]) * alpha * 2 + 65_535) / 131_070)
        }
    }

    private static func picture(_ pixels: PixelBuffer) -> [[SIMD4<Double>]] {
        let channels = Self.channels(pixels).map { Double($0) }
        return (0..<pixels.height).map { y in
            (0..<pixels.width).map { x in
                let place = (y * pixels.width + x) * 4
                return SIMD4(channels[place], channels[place + 1], channels[place + 2], channels[place + 3])
            }
        }
    }

    /// The channels, in the machine's byte order.
    private static func channels(_ pixels: PixelBuffer) -> [UInt16] {
        pixels.plainBytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 2).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self) }
        }
    }

    private func decode(_ name: String, _ form: DecodeOptions) throws -> PixelBuffer {
        try decoders.decode(Fixtures.bytes(name), form: form, maxPixels: 1 << 20).pixels
    }

    private func channels(_ name: String, _ format: PixelFormat, isUpright: Bool = false) throws -> [UInt16] {
        let pixels = try decode(name, DecodeOptions(format: format, isUpright: isUpright))
        #expect(pixels.format == format)
        return Self.channels(pixels)
    }
}

import TestSupport
import Testing

@testable import SDDCoders

@Suite struct AnimationCanvasTests {
    /// Compares every pair of alphas, with colours that show each rounding, with the definition in real numbers.
    @Test func blendsExactly() throws {
        // given: lower alphas along x, upper ones along y
        let colours: [(UInt8, UInt8)] = [(255, 0), (0, 255), (200, 100), (1, 254), (77, 78), (255, 255)]
        for (upper, lower) in colours {
            let source = try plane { _, y in (upper, upper, upper, UInt8(y)) }
            let canvas = try AnimationCanvas(copying: plane { x, _ in (lower, lower, lower, UInt8(x)) })
            // when
            canvas.blend(source, at: FrameArea(x: 0, y: 0, width: 256, height: 256))
            // then
            let made = canvas.pixels.plainBytes
            for y in 0..<256 {
                for x in 0..<256 {
                    let place = (y * 256 + x) * 4
                    let expected = over((Double(upper), Double(y)), (Double(lower), Double(x)))
                    try #require(made[place] == expected.0 && made[place + 2] == expected.0, "\(x), \(y)")
                    try #require(made[place + 3] == expected.1, "\(x), \(y)")
                }
            }
        }
    }

    @Test func blendsSixteenBitsExactly() throws {
        // given
        var random = SeededRandom(seed: 16)
        let extremes: [UInt16] = [0, 1, 65_534, 65_535]
        let some = { (random: inout SeededRandom) in
            SIMD4<UInt16>(
                (0..<4).map { _ in
                    (extremes + [UInt16.random(in: .min ... .max, using: &random)]).randomElement(using: &random) ?? 0
                })
        }
        let upper = try PixelBuffer.make(width: 4096, height: 1, .rgba16)
        let lower = try PixelBuffer.make(width: 4096, height: 1, .rgba16)
        for x in 0..<4096 {
            upper.base.storeBytes(of: some(&random), toByteOffset: x * 8, as: SIMD4<UInt16>.self)
            lower.base.storeBytes(of: some(&random), toByteOffset: x * 8, as: SIMD4<UInt16>.self)
        }
        let canvas = try AnimationCanvas(copying: lower)
        // when
        canvas.blend(upper, at: FrameArea(x: 0, y: 0, width: 4096, height: 1))
        // then
        for x in 0..<4096 {
            let pixel = { (row: PixelBuffer) in
                SIMD4<Double>(row.base.loadUnaligned(fromByteOffset: x * 8, as: SIMD4<UInt16>.self))
            }
            let (above, below, made) = (pixel(upper), pixel(lower), pixel(canvas.pixels))
            let share = below.w * (65_535 - above.w) / 65_535
            let alpha = above.w + share
            try #require(abs(made.w - alpha) <= 0.500_001, "\(above) over \(below): \(made)")
            guard alpha > 0 else { continue }
            let expected = (above * above.w + below * share) / alpha
            for channel in 0..<3 {
                try #require(abs(made[channel] - expected[channel]) <= 0.500_001, "\(above) over \(below): \(made)")
            }
        }
    }

    @Test func drawsOnlyItsArea() throws {
        // given
        let canvas = try AnimationCanvas(copying: plane { x, y in (UInt8(x), UInt8(y), 9, 255) })
        let area = FrameArea(x: 250, y: 3, width: 6, height: 2)
        let before = canvas.pixels.plainBytes
        let part = try canvas.part(area)
        // when
        canvas.clear(area)
        // then
        for place in 0..<256 * 256 {
            let isInside = place % 256 >= 250 && (3..<5).contains(place / 256)
            #expect(
                canvas.pixels.plainBytes(at: place)
                    == (isInside ? [0, 0, 0, 0] : Array(before[place * 4..<place * 4 + 4])))
        }
        canvas.put(part, at: area)
        #expect(canvas.pixels.plainBytes == before)
    }

    /// No byte beside the canvas is written, whatever the frame says.
    @Test func refusesFramesBeyondTheCanvas() throws {
        let canvas = try AnimationCanvas(width: 4, height: 4)
        let source = try #require(PixelBuffer(width: 2, height: 2))
        memset(source, 255)
        for (x, y) in [(3, 0), (0, 3), (-1, 0), (0, -1), (Int.max, 0), (4, 4)] {
            canvas.put(source, at: FrameArea(x: x, y: y, width: 2, height: 2))
        }
        canvas.put(source, at: FrameArea(x: 0, y: 0, width: 3, height: 3))
        #expect(canvas.pixels.plainBytes.allSatisfy { $0 == 0 })
    }

    private func memset(_ pixels: PixelBuffer, _ value: UInt8) {
        pixels.base.initializeMemory(as: UInt8.self, repeating: value, count: pixels.byteCount)
    }

    /// Returns colour and alpha of one pixel over another, by the definition.
    private func over(_ upper: (Double, Double), _ lower: (Double, Double)) -> (UInt8, UInt8) {
        if upper.1 == 0 { return (UInt8(lower.0), UInt8(lower.1)) }
        let share = upper.1 / 255, rest = lower.1 / 255 * (1 - upper.1 / 255)
        return (
            UInt8(((upper.0 * share + lower.0 * rest) / (share + rest) + 0.5 + 1e-9).rounded(.down)),
            UInt8(((share + rest) * 255).rounded())
        )
    }

    private func plane(_ pixel: (Int, Int) -> (UInt8, UInt8, UInt8, UInt8)) throws -> PixelBuffer {
        let made = try #require(PixelBuffer(width: 256, height: 256))
        for y in 0..<256 {
            for x in 0..<256 {
                let (red, green, blue, alpha) = pixel(x, y)
                let word = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
                made.base.storeBytes(of: word.littleEndian, toByteOffset: y * made.stride + x * 4, as: UInt32.self)
            }
        }
        return made
    }
}

extension PixelBuffer {
    fileprivate func plainBytes(at place: Int) -> [UInt8] {
        let start = base + place / width * stride + place % width * 4
        return (0..<4).map { start.load(fromByteOffset: $0, as: UInt8.self) }
    }
}

import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Row Z11: the mean of the area each new pixel covers, against the definition written out.
@Suite struct AreaReducerTests {
    private typealias Pixels = [[SIMD4<Double>]]

    @Test(arguments: [
        (SizeRule(width: 7, height: 5, fit: .stretch), 13, 11), (SizeRule(width: 5, height: 11, fit: .stretch), 17, 11),
        (SizeRule(width: 1, height: 1, fit: .stretch), 9, 31), (SizeRule(width: 10, height: 10, fit: .fill), 33, 21),
        (SizeRule(width: 10, height: 30, fit: .fill), 33, 21), (SizeRule(width: 16), 64, 64),
        (SizeRule(width: 63, height: 64, fit: .stretch), 64, 64),
    ])
    func isTheMeanOfTheArea(rule: SizeRule, width: Int, height: Int) throws {
        for isOpaque in [true, false] {
            // given
            let picture = Self.picture(width, height, isOpaque: isOpaque)
            let plan = rule.plan(width: width, height: height)
            // when
            let made = try Self.reduce(picture, plan, isOpaque: isOpaque)
            // then
            let expected = Self.means(of: picture, plan)
            for y in 0..<plan.height {
                for x in 0..<plan.width {
                    let difference = made[y][x] - expected[y][x]
                    let most = max(abs(difference.x), abs(difference.y), abs(difference.z), abs(difference.w))
                    // Half for the rounding, and a little for the arithmetic; no colour of what is transparent.
                    try #require(most < 0.51, "\(x), \(y): \(made[y][x]), not \(expected[y][x])")
                }
            }
        }
    }

    @Test func keepsWhatIsOneColour() throws {
        let colour = SIMD4<Double>(200, 3, 77, 128)
        let picture = Array(repeating: Array(repeating: colour, count: 50), count: 40)
        let plan = SizeRule(width: 17, height: 13, fit: .stretch).plan(width: 50, height: 40)
        let made = try Self.reduce(picture, plan, isOpaque: false)
        #expect(made.allSatisfy { $0.allSatisfy { $0 == colour } })
    }

    @Test func whatIsTransparentHasNoSay() throws {
        let row = [SIMD4<Double>(255, 0, 0, 255), SIMD4<Double>(0, 255, 0, 0)]
        let plan = SizeRule(width: 1, height: 1, fit: .stretch).plan(width: 2, height: 1)
        #expect(try Self.reduce([row], plan, isOpaque: false) == [[SIMD4(255, 0, 0, 128)]])
        #expect(try Self.reduce([[row[1], row[1]]], plan, isOpaque: false) == [[SIMD4(0, 0, 0, 0)]])
    }

    private static func picture(_ width: Int, _ height: Int, isOpaque: Bool) -> Pixels {
        var random = SeededRandom(seed: 5)
        return (0..<height).map { _ in
            (0..<width).map { _ in
                let value = { Double(UInt8.random(in: 0...255, using: &random)) }
                let alpha = isOpaque ? 255 : [0, 255, value()].randomElement(using: &random)
                return SIMD4(value(), value(), value(), alpha ?? 0)
            }
        }
    }

    private static func reduce(_ picture: Pixels, _ plan: SizePlan, isOpaque: Bool) throws -> Pixels {
        let target = try #require(PixelBuffer(width: plan.width, height: plan.height))
        let (width, height) = (picture[0].count, picture.count)
        let reducer = AreaReducer(
            width: width, height: height, plan: plan, storedWidth: width, storedHeight: height, into: target,
            isOpaque: isOpaque)
        for row in picture {
            let bytes = row.flatMap { [UInt8($0.x), UInt8($0.y), UInt8($0.z), UInt8($0.w)] }
            bytes.withUnsafeBytes { bytes in if let base = bytes.baseAddress { reducer.take(base) } }
        }
        let made = target.plainBytes.map { Double($0) }
        return (0..<plan.height).map { y in
            (0..<plan.width).map { x in
                let place = (y * plan.width + x) * 4
                return SIMD4(made[place], made[place + 1], made[place + 2], made[place + 3])
            }
        }
    }

    private static func means(of picture: Pixels, _ plan: SizePlan) -> Pixels {
        let (stepX, stepY) = (plan.partWidth / Double(plan.width), plan.partHeight / Double(plan.height))
        return (0..<plan.height).map { y in
            (0..<plan.width).map { x in
                let (left, top) = (plan.x + Double(x) * stepX, plan.y + Double(y) * stepY)
                var (colour, alpha, area) = (SIMD3<Double>.zero, 0.0, 0.0)
                for row in picture.indices {
                    let tall = min(Double(row + 1), top + stepY) - max(Double(row), top)
                    guard tall > 0 else { continue }
                    for column in picture[row].indices {
                        let wide = min(Double(column + 1), left + stepX) - max(Double(column), left)
                        guard wide > 0 else { continue }
                        let pixel = picture[row][column]
                        area += wide * tall
                        alpha += pixel.w * wide * tall
                        colour += SIMD3(pixel.x, pixel.y, pixel.z) * (pixel.w * wide * tall)
                    }
                }
                let mean = alpha > 0 ? colour / alpha : .zero
                return SIMD4(mean, alpha / area)
            }
        }
    }
}

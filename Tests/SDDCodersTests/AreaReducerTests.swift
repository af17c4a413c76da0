import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Row Z11: the mean of the area that each new pixel covers, compared with the definition written out.
@Suite struct AreaReducerTests {
    private typealias Pixels = Means.Pixels

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
            try Self.check(made, Means.of(picture, plan))
        }
    }

    /// Enlarged pictures are linear; if one side grows and the other does not, each is as it would be alone.
    @Test(arguments: [
        (SizeRule(width: 50, height: 41, fit: .stretch), 13, 11),
        (SizeRule(width: 14, height: 12, fit: .stretch), 13, 11),
        (SizeRule(width: 9, height: 9, fit: .stretch), 1, 1), (SizeRule(width: 30, height: 7, fit: .stretch), 1, 3),
        (SizeRule(width: 40, height: 30, fit: .fill), 9, 21),
    ])
    func isLinearWhereItEnlarges(rule: SizeRule, width: Int, height: Int) throws {
        let rule = SizeRule(width: rule.width, height: rule.height, fit: rule.fit, allowsEnlarging: true)
        for isOpaque in [true, false] {
            let picture = Self.picture(width, height, isOpaque: isOpaque)
            let plan = rule.plan(width: width, height: height)
            try Self.check(Self.reduce(picture, plan, isOpaque: isOpaque), Means.between(picture, plan))
        }
    }

    @Test func aSideMayGrowWhileTheOtherShrinks() throws {
        let picture = Self.picture(8, 6, isOpaque: true)
        let taller = SizeRule(width: 8, height: 15, fit: .stretch, allowsEnlarging: true).plan(width: 8, height: 6)
        let narrower = SizeRule(width: 4, height: 15, fit: .stretch).plan(width: 8, height: 15)
        let both = SizeRule(width: 4, height: 15, fit: .stretch, allowsEnlarging: true).plan(width: 8, height: 6)
        let expected = Means.of(Means.between(picture, taller), narrower)
        try Self.check(Self.reduce(picture, both, isOpaque: true), expected)
    }

    private static func check(_ made: Pixels, _ expected: Pixels) throws {
        try #require(made.count == expected.count && made[0].count == expected[0].count)
        for y in made.indices {
            for x in made[y].indices {
                let difference = made[y][x] - expected[y][x]
                let most = max(abs(difference.x), abs(difference.y), abs(difference.z), abs(difference.w))
                // Tolerates half for the rounding and a little for the arithmetic; colours of transparent pixels are
                // not compared.
                try #require(most < 0.51, "\(x), \(y): \(made[y][x]), not \(expected[y][x])")
            }
        }
    }

    @Test func keepsASingleColour() throws {
        let colour = SIMD4<Double>(200, 3, 77, 128)
        let picture = Array(repeating: Array(repeating: colour, count: 50), count: 40)
        let plan = SizeRule(width: 17, height: 13, fit: .stretch).plan(width: 50, height: 40)
        let made = try Self.reduce(picture, plan, isOpaque: false)
        #expect(made.allSatisfy { $0.allSatisfy { $0 == colour } })
    }

    @Test func transparentPixelsDoNotCount() throws {
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
        let reducer = try AreaReducer(
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
}

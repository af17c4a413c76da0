import TestSupport
import Testing

@testable import SDDCoders

/// Rows C9 and Z11: the size that a picture is made.
@Suite struct SizeRuleTests {
    @Test(arguments: [
        // none: unchanged
        (SizeRule(), 400, 300, 400, 300), (SizeRule(width: 400, height: 300), 400, 300, 400, 300),
        // inside: the tighter side counts; a side without limit follows; rounded; at least 1; never enlarged
        (SizeRule(width: 100, height: 100), 400, 300, 100, 75), (SizeRule(width: 100, height: 100), 300, 400, 75, 100),
        (SizeRule(width: 100), 400, 300, 100, 75), (SizeRule(height: 100), 400, 300, 133, 100),
        (SizeRule(width: 3, height: 100), 400, 300, 3, 2), (SizeRule(width: 10, height: 10), 4000, 3, 10, 1),
        (SizeRule(width: 800, height: 800), 400, 300, 400, 300), (SizeRule(width: 263), 5250, 3450, 263, 173),
        // fill: exactly that size, or what there is
        (SizeRule(width: 100, height: 100, fit: .fill), 400, 300, 100, 100),
        (SizeRule(width: 100, height: 900, fit: .fill), 400, 300, 100, 300),
        (SizeRule(width: 800, height: 900, fit: .fill), 400, 300, 400, 300),
        (SizeRule(width: 100, fit: .fill), 400, 300, 100, 75),
        // stretch: each side on its own
        (SizeRule(width: 100, height: 100, fit: .stretch), 400, 300, 100, 100),
        (SizeRule(width: 100, height: 900, fit: .stretch), 400, 300, 100, 300),
        (SizeRule(height: 7, fit: .stretch), 400, 300, 400, 7),
        // bytes: floor(sqrt(pixels * w / h)), then the height from that, floor; overrides the size
        (SizeRule(byteLimit: 480_000), 400, 300, 400, 300), (SizeRule(byteLimit: 479_999), 400, 300, 399, 299),
        (SizeRule(width: 5, byteLimit: 60 << 20), 12_000, 9000, 4579, 3434), (SizeRule(byteLimit: 1), 400, 300, 1, 1),
        (SizeRule(byteLimit: 400), 100_000, 1, 3162, 1), (SizeRule(byteLimit: .max), 400, 300, 400, 300),
    ])
    func givesTheSize(rule: SizeRule, width: Int, height: Int, madeWidth: Int, madeHeight: Int) {
        let plan = rule.plan(width: width, height: height)
        #expect(plan.width == madeWidth && plan.height == madeHeight)
        #expect(plan.isWhole == (madeWidth == width && madeHeight == height))
    }

    /// A picture is enlarged only if the options ask for it, and never because of a limit.
    @Test(arguments: [
        (SizeRule(width: 800, height: 800, allowsEnlarging: true), 400, 300, 800, 600),
        (SizeRule(width: 1000, allowsEnlarging: true), 400, 300, 1000, 750),
        (SizeRule(width: 100, height: 900, allowsEnlarging: true), 400, 300, 100, 75),
        (SizeRule(width: 800, height: 900, fit: .fill, allowsEnlarging: true), 400, 300, 800, 900),
        (SizeRule(width: 100, height: 900, fit: .stretch, allowsEnlarging: true), 400, 300, 100, 900),
        (SizeRule(height: 600, fit: .stretch, allowsEnlarging: true), 400, 300, 400, 600),
        (SizeRule(width: 400, height: 300, fit: .fill, allowsEnlarging: true), 400, 300, 400, 300),
        (SizeRule(allowsEnlarging: true), 400, 300, 400, 300),
        (SizeRule(width: 900, byteLimit: 1 << 40, allowsEnlarging: true), 400, 300, 400, 300),
    ])
    func enlarges(rule: SizeRule, width: Int, height: Int, madeWidth: Int, madeHeight: Int) {
        let plan = rule.plan(width: width, height: height)
        #expect(plan.width == madeWidth && plan.height == madeHeight)
        #expect(plan.isWhole == (madeWidth == width && madeHeight == height))
    }

    @Test func fillTakesTheMiddleToEnlargeIt() {
        let plan = SizeRule(width: 800, height: 800, fit: .fill, allowsEnlarging: true).plan(width: 400, height: 200)
        #expect(plan.x == 100 && plan.y == 0 && plan.partWidth == 200 && plan.partHeight == 200)
    }

    @Test func fillTakesTheMiddle() {
        let wide = SizeRule(width: 100, height: 100, fit: .fill).plan(width: 400, height: 300)
        #expect(wide.x == 50 && wide.y == 0 && wide.partWidth == 300 && wide.partHeight == 300)
        let cut = SizeRule(width: 101, height: 900, fit: .fill).plan(width: 400, height: 300)
        #expect(cut.x == 149 && cut.y == 0 && cut.partWidth == 101 && cut.partHeight == 300)
        #expect(wide.transposed.y == 50 && wide.transposed.partHeight == 300 && wide.transposed.transposed == wide)
    }

    @Test func partsStayWithinPictures() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<20_000 {
            let side = { [1, 2, 3, 7, 640, 65_500, 1 << 31 - 1].randomElement(using: &random) ?? 1 }
            let (width, height) = (side(), side())
            let rule = SizeRule(
                width: side() - 1, height: side() - 1, fit: [.inside, .fill, .stretch].randomElement(using: &random)!,
                byteLimit: Bool.random(using: &random) ? 0 : Int64(side()), allowsEnlarging: .random(using: &random))
            let plan = rule.plan(width: width, height: height)
            #expect(plan.width >= 1 && plan.height >= 1)
            #expect(rule.allowsEnlarging || plan.width <= width && plan.height <= height)
            #expect(plan.x >= 0 && plan.x + plan.partWidth <= Double(width) + 0.001)
            #expect(plan.y >= 0 && plan.y + plan.partHeight <= Double(height) + 0.001)
            if rule.allowsEnlarging { continue }
            #expect(plan.partWidth > Double(plan.width) - 0.001 && plan.partHeight > Double(plan.height) - 0.001)
        }
    }

    @Test func equalRulesAreEqual() {
        #expect(SizeRule(width: 5, height: 5, fit: .fill, byteLimit: 9) == SizeRule(byteLimit: 9))
        #expect(SizeRule(fit: .stretch) == .none && SizeRule(width: -1, byteLimit: -1) == .none)
        #expect(SizeRule(width: 5, fit: .fill) != SizeRule(width: 5))
        #expect(SizeRule(width: 5, allowsEnlarging: true) != SizeRule(width: 5))
        #expect(SizeRule(byteLimit: 9, allowsEnlarging: true) == SizeRule(byteLimit: 9))
    }
}

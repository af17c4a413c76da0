/// How much memory a decode takes at its height. An estimate, made from what is known before it begins. A value.
struct DecodeCost {
    /// Kept until the picture is complete.
    let working: Int
    /// The picture itself.
    let pixels: Int

    var total: Int { working + pixels }

    /// - Parameter sources: one for each reader that is at it.
    init(of facts: ImageFacts, _ sources: [PictureSource]) {
        let stored = Self.product(facts.width, facts.height)
        var (working, pixels) = (0, 0)
        for source in sources {
            let plan = source.plan(facts.width, facts.height)
            pixels = Self.sum(pixels, Self.product(Self.product(plan.width, plan.height), source.bytesPerPixel))
            guard facts.isProgressive else { continue }
            switch facts.format {
            // All coefficients, of 2 bytes; of colours mostly half as many as of light.
            case .jpeg: working = Self.sum(working, Self.product(stored, facts.channels == 1 ? 2 : facts.channels))
            // All pixels, for the next pass.
            default: if !plan.isWhole { working = Self.sum(working, Self.product(stored, source.bytesPerPixel)) }
            }
        }
        self.working = working
        self.pixels = pixels
    }

    /// The sizes are a server's.
    private static func product(_ a: Int, _ b: Int) -> Int {
        let (product, overflow) = a.multipliedReportingOverflow(by: b)
        return overflow ? most : min(product, most)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, most) }

    private static let most = Int.max / 8
}

/// Whoever decides how much memory pictures may take together. Any thread.
package protocol MemoryKeeping: Sendable {
    /// Waits until there is room, if `waits`.
    /// - Returns: what gives it back with its last reference; nil: there is no room now.
    func reserve(_ bytes: Int, waits: Bool) -> (any MemoryReserved)?
}

package protocol MemoryReserved: AnyObject, Sendable {
    /// Not all of it is needed any more; 0: nothing, at any time, and again.
    func shrink(to bytes: Int)
}

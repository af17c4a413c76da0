/// An estimate of the peak memory of a decode, from what is known before it begins. A value.
struct DecodeCost {
    /// Bytes that readers keep until the picture is complete, in addition to the picture itself.
    let working: Int
    /// Bytes of the picture itself.
    let pixels: Int
    /// The part of `working` that a coder which is not the library's own takes.
    let coder: Int
    /// The part of `pixels` by which transforms make pictures larger.
    let growth: Int

    var total: Int { working + pixels }

    /// The bytes that are compared with the size of the body, see `DecodeLimits.maxRatio`. Of what a coder takes only a
    /// quarter counts: its pixels are the same as those of `pixels`, and libraries of modern formats keep several times
    /// as much of any picture, also of those whose few colours need few bytes.
    var suspicious: Int { max(total - coder, coder / 4) }

    /// - Parameter coder: bytes that a coder takes of which nothing else is known.
    init(coder: Int) {
        let bytes = min(max(coder, 0), Self.most)
        (working, pixels, self.coder, growth) = (bytes, 0, bytes, 0)
    }

    /// - Parameters:
    ///   - hasScans: true for a JPEG that is not progressive, but has one scan per component.
    ///   - sources: the sources of all readers at work.
    ///   - growth: bytes by which transforms make pictures larger.
    ///   - coder: bytes that a coder takes which is not the library's own.
    init(of facts: ImageFacts, hasScans: Bool = false, _ sources: [PictureSource], growth: Int = 0, coder: Int = 0) {
        let stored = Self.product(facts.width, facts.height)
        self.coder = min(max(coder, 0), Self.most)
        self.growth = min(growth, Self.most)
        var (working, pixels) = (self.coder, self.growth)
        for source in sources {
            let plan = source.plan(facts.width, facts.height)
            pixels = Self.sum(pixels, Self.product(Self.product(plan.width, plan.height), source.bytesPerPixel))
            // The canvas, and the part of it that the frame covers.
            if source.key.isOfFrame {
                working = Self.sum(working, Self.product(stored, 2 * source.bytesPerPixel))
            }
            guard facts.isProgressive || hasScans else { continue }
            switch facts.format {
            // libjpeg keeps coefficients until the last scan.
            case .jpeg: working = Self.sum(working, source.coefficientBytes(of: facts))
            // All pixels are kept for the next pass.
            default: if !plan.isWhole { working = Self.sum(working, Self.product(stored, source.bytesPerPixel)) }
            }
        }
        self.working = working
        self.pixels = pixels
    }

    /// Adds the bytes of some pixels of a source to the bytes counted before.
    static func bytes(_ pixels: Int, _ source: PictureSource, and before: Int) -> Int {
        sum(before, product(pixels, source.bytesPerPixel))
    }

    /// Multiplies two numbers. A server chooses the sizes, so products may overflow.
    private static func product(_ a: Int, _ b: Int) -> Int {
        let (product, overflow) = a.multipliedReportingOverflow(by: b)
        return overflow ? most : min(product, most)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, most) }

    private static let most = Int.max / 8
}

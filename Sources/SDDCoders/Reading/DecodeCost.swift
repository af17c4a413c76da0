/// How much memory a decode takes at its height. An estimate, made from what is known before it begins. A value.
struct DecodeCost {
    /// Bytes beside the picture that a reader keeps until the picture is complete.
    let working: Int
    /// Bytes of the picture itself.
    let pixels: Int

    var total: Int { working + pixels }

    /// - Parameters:
    ///   - hasScans: a JPEG that is not progressive, but has a scan for each component.
    ///   - sources: one for each reader that is at it.
    ///   - growth: bytes that transforms make pictures larger by.
    init(of facts: ImageFacts, hasScans: Bool = false, _ sources: [PictureSource], growth: Int = 0) {
        let stored = Self.product(facts.width, facts.height)
        var (working, pixels) = (0, min(growth, Self.most))
        for source in sources {
            let plan = source.plan(facts.width, facts.height)
            pixels = Self.sum(pixels, Self.product(Self.product(plan.width, plan.height), source.bytesPerPixel))
            guard facts.isProgressive || hasScans else { continue }
            switch facts.format {
            // All coefficients are kept until the last scan.
            case .jpeg: working = Self.sum(working, facts.coefficientBytes)
            // All pixels are kept for the next pass.
            default: if !plan.isWhole { working = Self.sum(working, Self.product(stored, source.bytesPerPixel)) }
            }
        }
        self.working = working
        self.pixels = pixels
    }

    /// Of so many pixels of a source, and of what has been counted before.
    static func bytes(_ pixels: Int, _ source: PictureSource, and before: Int) -> Int {
        sum(before, product(pixels, source.bytesPerPixel))
    }

    /// A server chooses the sizes, so products may overflow.
    private static func product(_ a: Int, _ b: Int) -> Int {
        let (product, overflow) = a.multipliedReportingOverflow(by: b)
        return overflow ? most : min(product, most)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, most) }

    private static let most = Int.max / 8
}

/// Decides how much memory pictures may take together. Any thread; no call waits.
package protocol MemoryKeeping: Sendable {
    /// Takes room, if there is some now.
    /// - Parameter isArriving: more of the picture's body is to come: its room may be wanted back.
    /// - Returns: what gives it back with its last reference; nil: there is no room now.
    func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)?
}

/// Room that was taken. Any thread.
package protocol MemoryReserved: AnyObject, Sendable {
    /// The bytes that have not been given back.
    var bytes: Int { get }
    /// Gives back all but so many bytes. It may be called at any time, and again; 0 gives back everything.
    func shrink(to bytes: Int)
    /// The body has arrived: the room is not wanted back any more.
    func settle()
    /// The picture is made, and takes so much until it has been delivered.
    func decoded(keeping bytes: Int)
}

/// The code points of a picture's colours (ITU-T H.273): its primaries and the curve from light to stored values. PNG has
/// them in cICP, AVIF and HEIF in nclx. A value.
package struct CodePoints: Equatable, Sendable {
    /// 1: BT.709 and sRGB; 9: BT.2020; 12: Display P3. 2: unspecified (8.1).
    package var primaries = 2
    /// 13: sRGB; 1: BT.709; 16: PQ; 18: HLG. 2: unspecified (8.2).
    package var transfer = 2
    /// True for the box nclx of AVIF and HEIF: whoever made stills with the curve of films there meant sRGB, and browsers
    /// show them so.
    package var isOfStills = false

    package init(primaries: Int, transfer: Int, isOfStills: Bool = false) {
        (self.primaries, self.transfer, self.isOfStills) = (primaries, transfer, isOfStills)
    }

    static let unspecified = 2

    /// True for curves whose light has no upper end on paper: they are not converted.
    var isHDR: Bool { transfer == 16 || transfer == 18 }

    private static let films = [1, 6, 11, 14, 15]

    /// The numbers that say the same in every format: those of a still with the curve of films, or that leave something
    /// open, mean what browsers take them for (MIAF, ISO/IEC 23000-22, 7.3.6.4).
    var explicit: CodePoints {
        guard isOfStills, primaries != Self.unspecified || transfer != Self.unspecified else { return self }
        var points = self
        if primaries == Self.unspecified { points.primaries = 1 }
        if transfer == Self.unspecified || Self.films.contains(transfer) { points.transfer = 13 }
        return points
    }

    /// True for what every format with code points can store. The curve of films means another one outside PNG.
    var isOfMostFormats: Bool { [1, 9, 12].contains(primaries) && [8, 13, 16, 18].contains(transfer) }

    /// Returns what converts the colours; `nil` if these numbers do not say how.
    var shaper: ColourShaper? {
        let points = explicit
        guard let curve = points.curve, let matrix = points.matrix else { return nil }
        return ColourShaper(curve, curve, curve, toXYZ: matrix)
    }

    /// The curve to light (table 3).
    private var curve: ToneCurve? {
        switch transfer {
        // Films that were stored by this curve are shown by that of ITU-R BT.1886.
        case 1, 6, 11, 14, 15: .gamma(2.4)
        case 4: .gamma(2.2)
        case 5: .gamma(2.8)
        case 7: .function(g: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 1 / 4, d: 0.0913, e: 0, f: 0)
        case 8: .linear
        case 13: .sRGB
        case 17: .function(g: 2.6, a: 1.0340080084, b: 0, c: 0, d: 0, e: 0, f: 0)
        default: nil
        }
    }

    /// From linear light to XYZ with the white D50 (table 2).
    private var matrix: ColourMatrix? {
        let d65 = (0.3127, 0.3290), c = (0.310, 0.316)
        switch primaries {
        case 1:
            return ColourMatrix(red: (0.640, 0.330), green: (0.300, 0.600), blue: (0.150, 0.060), white: d65)
        case 4: return ColourMatrix(red: (0.67, 0.33), green: (0.21, 0.71), blue: (0.14, 0.08), white: c)
        case 5: return ColourMatrix(red: (0.64, 0.33), green: (0.29, 0.60), blue: (0.15, 0.06), white: d65)
        case 6, 7: return ColourMatrix(red: (0.630, 0.340), green: (0.310, 0.595), blue: (0.155, 0.070), white: d65)
        case 8: return ColourMatrix(red: (0.681, 0.319), green: (0.243, 0.692), blue: (0.145, 0.049), white: c)
        case 9: return ColourMatrix(red: (0.708, 0.292), green: (0.170, 0.797), blue: (0.131, 0.046), white: d65)
        case 11:
            return ColourMatrix(red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060), white: (0.314, 0.351))
        case 12: return ColourMatrix(red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060), white: d65)
        case 22: return ColourMatrix(red: (0.630, 0.340), green: (0.295, 0.605), blue: (0.155, 0.077), white: d65)
        default: return nil
        }
    }

    /// The name of the colour space, or of its primaries.
    var name: String {
        switch explicit.primaries {
        case 1 where transfer == 13: "sRGB"
        case 1: "BT.709"
        case 4: "BT.470 M"
        case 5, 6, 7: "BT.601"
        case 8: "Film"
        case 9: "BT.2020"
        case 11: "DCI-P3"
        case 12: "Display P3"
        case 22: "EBU Tech 3213-E"
        default: ""
        }
    }
}

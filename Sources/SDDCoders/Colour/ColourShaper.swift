internal import Glibc
internal import SDDBase

/// Converts pixels to sRGB: three curves to light, a matrix to the primaries of sRGB, and the curve of sRGB back. Colours
/// that sRGB does not have are clipped, as browsers do it. Immutable; callable from any thread.
final class ColourShaper: PixelConverting {
    let takesBytesAlone = false
    private let curves: (ToneCurve, ToneCurve, ToneCurve)
    /// From linear light to linear sRGB.
    private let matrix: ColourMatrix
    private let tables = OnceReference<ShaperTables>()
    private let deepTables = OnceReference<DeepShaperTables>()

    /// - Parameter matrix: from linear light to XYZ with the white D50.
    init?(_ red: ToneCurve, _ green: ToneCurve, _ blue: ToneCurve, toXYZ matrix: ColourMatrix) {
        guard matrix.isFinite, matrix.inverse != nil else { return nil }
        curves = (red, green, blue)
        self.matrix = ColourMatrix.toSRGB * matrix
    }

    /// Converts greys, which have the white of sRGB.
    init(grey curve: ToneCurve) {
        curves = (curve, curve, curve)
        matrix = .identity
    }

    /// True if no colour is moved by more than one level of 255.
    var isOfSRGB: Bool {
        let greys = stride(from: 5.0, to: 255, by: 10).map { SIMD3(repeating: $0) }
        if !greys.allSatisfy(isKept) { return false }
        let steps = stride(from: 0.0, through: 255, by: 51)
        for red in steps {
            for green in steps {
                for blue in steps where !isKept(SIMD3(red, green, blue)) { return false }
            }
        }
        return true
    }

    private func isKept(_ colour: SIMD3<Double>) -> Bool {
        let moved = (converted(colour / 255) * 255).rounded(.toNearestOrAwayFromZero) - colour
        return max(abs(moved.x), abs(moved.y), abs(moved.z)) <= 1
    }

    /// Returns a colour in sRGB, each channel from 0 to 1.
    func converted(_ colour: SIMD3<Double>) -> SIMD3<Double> {
        let light =
            matrix
            * SIMD3(curves.0.light(colour.x), curves.1.light(colour.y), curves.2.light(colour.z))
        return SIMD3(Self.stored(light.x), Self.stored(light.y), Self.stored(light.z))
    }

    /// The curve of sRGB from light to stored values (IEC 61966-2-1).
    static func stored(_ light: Double) -> Double {
        let light = light > 0 ? min(light, 1) : 0
        return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    func convert(_ pixels: PixelBuffer) throws(CoderError) {
        switch pixels.format {
        case .rgba16, .rgba16Premultiplied:
            let tables: DeepShaperTables
            if let known = deepTables.load() {
                tables = known
            } else {
                tables = deepTables.storeIfNil(try DeepShaperTables(curves, matrix))
            }
            for y in 0..<pixels.height { tables.convert(pixels.base + y * pixels.stride, count: pixels.width) }
        default:
            let tables: ShaperTables
            if let known = self.tables.load() {
                tables = known
            } else {
                tables = self.tables.storeIfNil(try ShaperTables(curves, matrix))
            }
            for y in 0..<pixels.height {
                tables.convert(pixels.base + y * pixels.stride, count: pixels.width, pixels.format)
            }
        }
    }
}

/// A 3 x 3 matrix of colours, row by row. A value.
struct ColourMatrix: Equatable {
    typealias Vector = SIMD3<Double>

    /// The columns: what the first, second and third primary give.
    var columns: (Vector, Vector, Vector)

    init(_ first: Vector, _ second: Vector, _ third: Vector) { columns = (first, second, third) }

    static let identity = ColourMatrix(Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))

    static func == (a: ColourMatrix, b: ColourMatrix) -> Bool { a.columns == b.columns }

    static func * (matrix: ColourMatrix, vector: Vector) -> Vector {
        matrix.columns.0 * vector.x + matrix.columns.1 * vector.y + matrix.columns.2 * vector.z
    }

    static func * (a: ColourMatrix, b: ColourMatrix) -> ColourMatrix {
        ColourMatrix(a * b.columns.0, a * b.columns.1, a * b.columns.2)
    }

    /// The columns, each multiplied by a number.
    func scaled(_ factors: Vector) -> ColourMatrix {
        ColourMatrix(columns.0 * factors.x, columns.1 * factors.y, columns.2 * factors.z)
    }

    /// The inverse; `nil` if there is none, or if it has no use because the primaries lie almost on a line.
    var inverse: ColourMatrix? {
        let (a, b, c) = columns
        let rows = (Self.cross(b, c), Self.cross(c, a), Self.cross(a, b))
        let determinant = (a * rows.0).sum()
        guard determinant.isFinite, abs(determinant) > 1e-6 else { return nil }
        let scale = 1 / determinant
        return ColourMatrix(
            Vector(rows.0.x, rows.1.x, rows.2.x) * scale, Vector(rows.0.y, rows.1.y, rows.2.y) * scale,
            Vector(rows.0.z, rows.1.z, rows.2.z) * scale)
    }

    private static func cross(_ a: Vector, _ b: Vector) -> Vector {
        Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }

    var isFinite: Bool {
        [columns.0, columns.1, columns.2].allSatisfy { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite }
    }
}

// MARK: - Colour spaces

extension ColourMatrix {
    /// The white of profiles (ICC.1:2022, 7.2.16).
    static let d50 = Vector(0.9642, 1, 0.8249)

    /// From linear sRGB to XYZ with the white D50, as in the profiles of sRGB (IEC 61966-2-1, adapted by Bradford).
    static let sRGB = ColourMatrix(
        Vector(0.436065674, 0.222488403, 0.013916016), Vector(0.385147095, 0.716873169, 0.097076416),
        Vector(0.143066406, 0.060607910, 0.714096069))

    /// From XYZ with the white D50 to linear sRGB.
    static let toSRGB = sRGB.inverse ?? identity

    /// Makes the matrix from linear light of primaries to XYZ with the white D50.
    /// - Parameters: coordinates x and y of the chromaticity diagram.
    /// - Returns: `nil` if there is no such colour space.
    init?(red: (Double, Double), green: (Double, Double), blue: (Double, Double), white: (Double, Double)) {
        guard let white = Self.xyz(white), let red = Self.xyz(red), let green = Self.xyz(green),
            let blue = Self.xyz(blue)
        else { return nil }
        let primaries = ColourMatrix(red, green, blue)
        guard let inverse = primaries.inverse, let adaptation = Self.adaptation(from: white) else { return nil }
        self = adaptation * primaries.scaled(inverse * white)
        guard isFinite else { return nil }
    }

    /// Returns XYZ with Y of 1.
    private static func xyz(_ point: (x: Double, y: Double)) -> Vector? {
        guard point.x >= 0, point.x <= 1, point.y > 0, point.y <= 1, point.x + point.y <= 1 else { return nil }
        return Vector(point.x / point.y, 1, (1 - point.x - point.y) / point.y)
    }

    /// Returns the matrix that turns one white to D50: Bradford's (ICC.1:2022, annex E).
    private static func adaptation(from white: Vector) -> ColourMatrix? {
        let cones = ColourMatrix(
            Vector(0.8951, -0.7502, 0.0389), Vector(0.2664, 1.7135, -0.0685), Vector(-0.1614, 0.0367, 1.0296))
        let (from, to) = (cones * white, cones * d50)
        guard let back = cones.inverse, from.x > 0, from.y > 0, from.z > 0 else { return nil }
        let scale = to / from
        let scales = ColourMatrix(Vector(scale.x, 0, 0), Vector(0, scale.y, 0), Vector(0, 0, scale.z))
        return back * scales * cones
    }
}

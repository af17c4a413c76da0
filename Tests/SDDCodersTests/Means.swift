@testable import SDDCoders

/// Resized pictures by the definition, written out: rows of red, green, blue and alpha.
enum Means {
    typealias Pixels = [[SIMD4<Double>]]

    /// Returns the mean of the area that each new pixel covers, with colours weighted by alpha.
    static func of(_ picture: Pixels, _ plan: SizePlan) -> Pixels {
        let (stepX, stepY) = (plan.partWidth / Double(plan.width), plan.partHeight / Double(plan.height))
        return made(of: picture, plan) { x, y, column, row in
            let (left, top) = (plan.x + Double(x) * stepX, plan.y + Double(y) * stepY)
            let wide = min(Double(column + 1), left + stepX) - max(Double(column), left)
            let tall = min(Double(row + 1), top + stepY) - max(Double(row), top)
            return max(wide, 0) * max(tall, 0)
        }
    }

    /// Interpolates linearly between the pixels around the middle of each new one; beyond the middle of the last pixel
    /// its value counts alone.
    static func between(_ picture: Pixels, _ plan: SizePlan) -> Pixels {
        let (stepX, stepY) = (plan.partWidth / Double(plan.width), plan.partHeight / Double(plan.height))
        let near = { (place: Double, index: Int, count: Int) in
            max(0, 1 - abs(min(max(place, 0), Double(count - 1)) - Double(index)))
        }
        return made(of: picture, plan) { x, y, column, row in
            near(plan.x + (Double(x) + 0.5) * stepX - 0.5, column, picture[0].count)
                * near(plan.y + (Double(y) + 0.5) * stepY - 0.5, row, picture.count)
        }
    }

    private static func made(
        of picture: Pixels, _ plan: SizePlan, weight: (_ x: Int, _ y: Int, _ column: Int, _ row: Int) -> Double
    ) -> Pixels {
        (0..<plan.height).map { y in
            (0..<plan.width).map { x in
                var (colour, alpha, all) = (SIMD3<Double>.zero, 0.0, 0.0)
                for row in picture.indices {
                    for column in picture[row].indices {
                        let weight = weight(x, y, column, row)
                        guard weight > 0 else { continue }
                        let pixel = picture[row][column]
                        all += weight
                        alpha += pixel.w * weight
                        colour += SIMD3(pixel.x, pixel.y, pixel.z) * (pixel.w * weight)
                    }
                }
                return SIMD4(alpha > 0 ? colour / alpha : .zero, alpha / all)
            }
        }
    }
}

internal import SDDBase

/// The products of a shaper's matrix with the light of each of 256 values, for each channel. Immutable; callable from
/// any thread.
final class ShaperTables: @unchecked Sendable {
    // Safety: written only by `init`.
    private let products: Scratch<SIMD4<Float>>
    private let stored: Scratch<UInt8>
    private let greys: Scratch<UInt8>

    /// Light is a whole number up to this one. Between two neighbours the curve of sRGB rises by at most 0.2 levels.
    private static let most: Float = 16_383

    init(_ curves: (ToneCurve, ToneCurve, ToneCurve), _ matrix: ColourMatrix) throws(CoderError) {
        products = try Scratch(3 * 256)
        stored = try Scratch(Int(Self.most) + 1)
        greys = try Scratch(256)
        let channels = [(curves.0, matrix.columns.0), (curves.1, matrix.columns.1), (curves.2, matrix.columns.2)]
        for (channel, (curve, column)) in channels.enumerated() {
            for value in 0..<256 {
                let light = column * curve.light(Double(value) / 255) * Double(Self.most)
                products.base[channel * 256 + value] = SIMD4(Float(light.x), Float(light.y), Float(light.z), 0)
            }
        }
        fillStored()
        for value in 0..<256 {
            let grey = colour(value, value, value)
            // Luma, as where colours become grey.
            let luma = grey.0 &* 19_595 &+ grey.1 &* 38_470 &+ grey.2 &* 7_471 &+ 0x8000
            greys.base[value] = UInt8(truncatingIfNeeded: luma >> 16)
        }
    }

    /// Fills in the level of each light: a level ends where the next one is nearer.
    private func fillStored() {
        var place = 0
        for level in 0..<255 {
            let end = ToneCurve.sRGB.light((Double(level) + 0.5) / 255) * Double(Self.most)
            while Double(place) < end {
                stored.base[place] = UInt8(truncatingIfNeeded: level)
                place += 1
            }
        }
        while place <= Int(Self.most) {
            stored.base[place] = 255
            place += 1
        }
    }

    /// Converts `count` pixels of 8 bits a channel in place.
    func convert(_ row: UnsafeMutableRawPointer, count: Int, _ format: PixelFormat) {
        let row = row.assumingMemoryBound(to: UInt8.self)
        switch format.byteOrder {
        case .rgba: convert(row, count: count, step: 4, red: 0, blue: 2)
        case .bgra: convert(row, count: count, step: 4, red: 2, blue: 0)
        case .rgb: convert(row, count: count, step: 3, red: 0, blue: 2)
        case .grey: for x in 0..<count { row[x] = greys.base[Int(row[x])] }
        // No decoder writes it: it is made from RGBA.
        case nil: break
        }
    }

    @inline(__always)
    private func convert(_ row: UnsafeMutablePointer<UInt8>, count: Int, step: Int, red: Int, blue: Int) {
        for x in 0..<count {
            let pixel = row + x &* step
            let (r, g, b) = colour(Int(pixel[red]), Int(pixel[1]), Int(pixel[blue]))
            pixel[red] = UInt8(truncatingIfNeeded: r)
            pixel[1] = UInt8(truncatingIfNeeded: g)
            pixel[blue] = UInt8(truncatingIfNeeded: b)
        }
    }

    @inline(__always)
    private func colour(_ red: Int, _ green: Int, _ blue: Int) -> (UInt32, UInt32, UInt32) {
        let (products, stored) = (products.base, stored.base)
        var light = products[red] + products[256 &+ green] + products[512 &+ blue]
        // The compiler makes vector instructions of these two, but none of `clamp`.
        light.replace(with: 0, where: light .< 0)
        light.replace(with: Self.most, where: light .> Self.most)
        // The addition rounds: a float from 2^23 on is an integer, held in its lowest bits.
        let places = unsafeBitCast(light + 0x1p23, to: SIMD4<UInt32>.self) & 0x3fff
        return (UInt32(stored[Int(places.x)]), UInt32(stored[Int(places.y)]), UInt32(stored[Int(places.z)]))
    }
}

/// The same for 16 bits a channel: the light of each of 65,536 values. Immutable; callable from any thread.
final class DeepShaperTables: @unchecked Sendable {
    // Safety: written only by `init`.
    private let light: Scratch<Float>
    /// Stored values by the square root of light, which makes the curve of sRGB almost straight.
    private let stored: Scratch<Float>
    private let columns: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)
    private let areEqual: Bool

    private static let steps = 4096

    init(_ curves: (ToneCurve, ToneCurve, ToneCurve), _ matrix: ColourMatrix) throws(CoderError) {
        areEqual = curves.0 == curves.1 && curves.1 == curves.2
        light = try Scratch((areEqual ? 1 : 3) * 65_536)
        stored = try Scratch(Self.steps + 2)
        let wide = { (column: SIMD3<Double>) in SIMD4(SIMD3<Float>(column), 0) }
        columns = (wide(matrix.columns.0), wide(matrix.columns.1), wide(matrix.columns.2))
        for (channel, curve) in [curves.0, curves.1, curves.2].prefix(areEqual ? 1 : 3).enumerated() {
            for value in 0..<65_536 {
                light.base[channel * 65_536 + value] = Float(curve.light(Double(value) / 65_535))
            }
        }
        for step in 0..<Self.steps + 2 {
            let root = Double(step) / Double(Self.steps)
            stored.base[step] = Float(ColourShaper.stored(root * root) * 65_535)
        }
    }

    /// Converts `count` pixels in place.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) {
        let row = row.assumingMemoryBound(to: UInt16.self)
        let (green, blue) = areEqual ? (0, 0) : (65_536, 131_072)
        for x in 0..<count {
            let pixel = row + x &* 4
            var sum = columns.0 * light.base[Int(pixel[0])]
            sum += columns.1 * light.base[green &+ Int(pixel[1])]
            sum += columns.2 * light.base[blue &+ Int(pixel[2])]
            sum.replace(with: 0, where: sum .< 0)
            sum.replace(with: 1, where: sum .> 1)
            let roots = sum.squareRoot() * Float(Self.steps)
            pixel[0] = value(roots.x)
            pixel[1] = value(roots.y)
            pixel[2] = value(roots.z)
        }
    }

    /// - Parameter root: from 0 to `steps`.
    @inline(__always)
    private func value(_ root: Float) -> UInt16 {
        let step = Int(root)
        let (low, high) = (stored.base[step], stored.base[step &+ 1])
        return UInt16(truncatingIfNeeded: Int(low + (high - low) * (root - Float(step)) + 0.5))
    }
}

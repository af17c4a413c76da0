// Hashes become pictures.

extension ThumbHash {
    /// Returns the picture of a hash: RGBA8, with a longest side of 32 pixels; `nil` for bytes that are no hash.
    /// - Throws: if there is no memory.
    package static func picture(of hash: UnsafeRawBufferPointer) throws(CoderError) -> PixelBuffer? {
        var cursor = ByteCursor(hash, .littleEndian)
        guard let low = cursor.number16(), let high = cursor.number8(), let scales = cursor.number16() else {
            return nil
        }
        let colours = low | high << 16
        guard let shape = shape(colours, scales), hash.count == shape.byteCount else { return nil }
        let alpha = shape.hasAlpha ? cursor.number8() ?? 0 : 15
        var waves = WaveReader(bytes: cursor.takeRest())
        let difference = { (shift: Int) in Double(colours >> shift & 63) / 31.5 - 1 }
        // A saturation of 1.25 makes up for what rounding has taken, as in the first implementation.
        let channels = [
            waves.channel(Double(colours & 63) / 63, shape.luminance, scale: Double(colours >> 18 & 31) / 31),
            waves.channel(difference(6), Shape.difference, scale: Double(scales >> 3 & 63) / 63 * 1.25),
            waves.channel(difference(12), Shape.difference, scale: Double(scales >> 9 & 63) / 63 * 1.25),
            waves.channel(
                Double(alpha & 15) / 15, shape.hasAlpha ? Shape.alpha : [], scale: Double(alpha >> 4) / 15),
        ]
        return try drawn(channels, shape)
    }

    /// Returns the shape that a head describes; `nil` for one that no picture has.
    private static func shape(_ colours: Int, _ scales: Int) -> Shape? {
        let hasAlpha = colours >> 23 & 1 == 1, isLandscape = scales >> 15 & 1 == 1
        let (shorter, longer) = (scales & 7, Shape.most(hasAlpha: hasAlpha))
        guard (1...longer).contains(shorter) else { return nil }
        return Shape(
            across: isLandscape ? longer : shorter, down: isLandscape ? shorter : longer, hasAlpha: hasAlpha)
    }

    private static func drawn(_ channels: [WaveSum], _ shape: Shape) throws(CoderError) -> PixelBuffer {
        let longest = max(shape.across, shape.down)
        let side = { (waves: Int) in (2 * longestMade * waves + longest) / (2 * longest) }
        let made = try PixelBuffer.make(width: side(shape.across), height: side(shape.down), .rgba8)
        let across = Cosines(waves: 7, count: made.width), down = Cosines(waves: 7, count: made.height)
        for y in 0..<made.height {
            for x in 0..<made.width {
                let values = channels.map { $0.value(x, y, across, down) }
                let blue = values[0] - 2.0 / 3 * values[1]
                let red = (3 * values[0] - blue + values[2]) / 2
                let pixel = SIMD4(red, red - values[2], blue, values[3]).clamped(lowerBound: .zero, upperBound: .one)
                // Safety: (x, y) is within the picture. All values are finite: they are sums of a few small numbers.
                (made.base + y * made.stride).storeBytes(
                    of: SIMD4<UInt8>(pixel * 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        return made
    }
}

/// One channel of a hash. A value.
private struct WaveSum {
    let constant: Double
    let waves: [(wave: ThumbHash.Wave, strength: Double)]

    func value(_ x: Int, _ y: Int, _ across: ThumbHash.Cosines, _ down: ThumbHash.Cosines) -> Double {
        waves.reduce(constant) { $0 + $1.strength * across[$1.wave.across, x] * down[$1.wave.down, y] * 2 }
    }
}

/// Reads the strengths of waves, four bits each, the lower half of a byte first. A value.
private struct WaveReader {
    let bytes: UnsafeRawBufferPointer
    private var next = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func channel(_ constant: Double, _ waves: [ThumbHash.Wave], scale: Double) -> WaveSum {
        WaveSum(
            constant: constant,
            waves: waves.map { wave in
                let half = bytes[next / 2] >> UInt8(next % 2 * 4) & 15
                next += 1
                return (wave, (Double(half) / 7.5 - 1) * scale)
            })
    }
}

package import SDDBase

// Pictures become hashes.

extension ThumbHash {
    /// Returns the hash of a picture.
    /// - Throws: if there is no memory.
    package static func hash(of picture: PixelBuffer) throws(CoderError) -> Bytes {
        let small = try picture.resized(SizeRule(width: longestHashed, height: longestHashed))
        let mean = try Mean(of: small)
        let most = Shape.most(hasAlpha: mean.hasAlpha), longest = max(small.width, small.height)
        let waves = { (side: Int) in max(1, (2 * most * side + longest) / (2 * longest)) }
        let shape = Shape(across: waves(small.width), down: waves(small.height), hasAlpha: mean.hasAlpha)
        let bytes = written(shape, isLandscape: small.width > small.height, try Spectrum(of: small, shape, over: mean))
        guard let hash = bytes.withUnsafeBytes({ Bytes(copying: $0) }) else { throw CoderError(.noMemory) }
        return hash
    }

    private static func written(_ shape: Shape, isLandscape: Bool, _ spectrum: Spectrum) -> [UInt8] {
        let channels =
            [
                spectrum.channel(0, shape.luminance), spectrum.channel(1, Shape.difference),
                spectrum.channel(2, Shape.difference),
            ] + (shape.hasAlpha ? [spectrum.channel(3, Shape.alpha)] : [])
        let (l, p, q) = (channels[0], channels[1], channels[2])
        let colours =
            step(l.constant, of: 63) | step(0.5 + 0.5 * p.constant, of: 63) << 6
            | step(0.5 + 0.5 * q.constant, of: 63) << 12 | step(l.scale, of: 31) << 18 | (shape.hasAlpha ? 1 << 23 : 0)
        let scales =
            (isLandscape ? shape.down : shape.across) | step(p.scale, of: 63) << 3 | step(q.scale, of: 63) << 9
            | (isLandscape ? 1 << 15 : 0)
        var bytes = [colours, colours >> 8, colours >> 16, scales, scales >> 8].map { UInt8(truncatingIfNeeded: $0) }
        if shape.hasAlpha {
            bytes.append(UInt8(step(channels[3].constant, of: 15) | step(channels[3].scale, of: 15) << 4))
        }
        let waves = channels.flatMap { $0.waves }
        for index in stride(from: 0, to: waves.count, by: 2) {
            let next = index + 1 < waves.count ? step(waves[index + 1], of: 15) : 0
            bytes.append(UInt8(step(waves[index], of: 15) | next << 4))
        }
        return bytes
    }

    /// Returns the nearest of `most` equal steps to a value from 0 to 1.
    private static func step(_ value: Double, of most: Int) -> Int {
        Int(min(max(value, 0), 1) * Double(most) + 0.5)
    }
}

/// The mean colour of a picture, weighted by alpha: what shows through where it is transparent. A value.
private struct Mean {
    let colour: SIMD4<Double>
    let hasAlpha: Bool

    init(of pixels: PixelBuffer) throws(CoderError) {
        // A picture of 100 x 100 pixels has sums below 2^30.
        var sum = SIMD4<Int>.zero
        try pixels.eachStraightPixel { pixel, _, _ in
            let pixel = SIMD4<Int>(truncatingIfNeeded: pixel)
            sum &+= SIMD4(pixel.x, pixel.y, pixel.z, 255) &* SIMD4(repeating: pixel.w)
        }
        colour = sum.w == 0 ? .zero : SIMD4<Double>(sum) / Double(sum.w)
        hasAlpha = sum.w < 255 * 255 * pixels.width * pixels.height
    }
}

/// The strength of every wave that a hash may have, in L, P, Q and alpha. A value.
private struct Spectrum {
    private static let side = 7
    /// Weaker waves are rounding errors.
    private static let weakest = 1e-9

    struct Channel {
        let constant: Double
        /// From 0 to 1, with 0.5 for a wave that is absent.
        let waves: [Double]
        let scale: Double
    }

    private var sums = [SIMD4<Double>](repeating: .zero, count: side * side)

    init(of pixels: PixelBuffer, _ shape: ThumbHash.Shape, over mean: Mean) throws(CoderError) {
        let cosines = { (waves: Int, count: Int) in
            ThumbHash.Cosines(waves: Self.side, count: count, parts: (waves + count - 1) / count)
        }
        let across = cosines(shape.most.across, pixels.width), down = cosines(shape.most.down, pixels.height)
        var row = [SIMD4<Double>](repeating: .zero, count: Self.side), sums = sums
        try pixels.eachStraightPixel { pixel, x, y in
            let value = Self.channels(of: pixel, over: mean.colour)
            for wave in 0..<Self.side { row[wave] += value * across[wave, x] }
            guard x == pixels.width - 1 else { return }
            for wave in 0..<Self.side * Self.side { sums[wave] += row[wave % Self.side] * down[wave / Self.side, y] }
            row = [SIMD4<Double>](repeating: .zero, count: Self.side)
        }
        self.sums = sums.map { $0 / Double(pixels.width * pixels.height) }
    }

    private static func channels(of pixel: SIMD4<UInt8>, over mean: SIMD4<Double>) -> SIMD4<Double> {
        let straight = SIMD4<Double>(pixel) / 255
        let colour = mean * (1 - straight.w) + straight * straight.w
        let (red, green, blue) = (colour.x, colour.y, colour.z)
        return SIMD4((red + green + blue) / 3, (red + green) / 2 - blue, red - green, straight.w)
    }

    func channel(_ index: Int, _ waves: [ThumbHash.Wave]) -> Channel {
        let found = waves.map { wave in
            let value = sums[wave.down * Self.side + wave.across][index]
            return value.magnitude < Self.weakest ? 0 : value
        }
        let scale = found.reduce(0) { max($0, $1.magnitude) }
        // A channel without waves has zeros, as in the first implementation.
        return Channel(
            constant: sums[0][index], waves: scale > 0 ? found.map { 0.5 + 0.5 / scale * $0 } : found, scale: scale)
    }
}

extension PixelBuffer {
    /// Calls a function with each pixel, alpha not premultiplied, and its place, row by row.
    fileprivate func eachStraightPixel(_ body: (SIMD4<UInt8>, _ x: Int, _ y: Int) -> Void) throws(CoderError) {
        let row = try Scratch<SIMD4<UInt8>>(width)
        for y in 0..<height {
            readRow(y, to: row.base)
            for x in 0..<width { body(row.base[x], x, y) }
        }
    }
}

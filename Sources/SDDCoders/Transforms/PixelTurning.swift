internal import Glibc

extension PixelBuffer {
    /// Returns the picture turned by any angle. What the picture does not reach is transparent, and its edges are soft;
    /// the result has alpha, even if the picture had none.
    func turned(by rotation: PictureTransform.Rotation) throws(CoderError) -> PixelBuffer {
        if rotation.isNone { return self }
        let turning = PixelTurning(rotation, width: width, height: height)
        return try turning.apply(to: PixelPlane(self)).pixels(like: format)
    }
}

/// A rotation of a picture about its centre.
struct PixelTurning {
    private let source: (width: Int, height: Int)
    private let cosine: Double
    private let sine: Double
    /// Size of the turned picture.
    let width: Int
    let height: Int

    init(_ rotation: PictureTransform.Rotation, width: Int, height: Int) {
        source = (width, height)
        (cosine, sine) = rotation.cosineAndSine
        if rotation.keepsSize {
            (self.width, self.height) = (width, height)
        } else {
            let (wide, high) = (Double(width), Double(height))
            self.width = Self.whole(abs(wide * cosine) + abs(high * sine))
            self.height = Self.whole(abs(wide * sine) + abs(high * cosine))
        }
    }

    /// A hundredth of a pixel needs no pixel of its own. A side is below 2^32, as those of the picture have 31 bits.
    private static func whole(_ side: Double) -> Int { max(1, Int((side - 0.01).rounded(.up))) }

    func apply(to plane: PixelPlane) throws(CoderError) -> PixelPlane {
        let made = try plane.empty(width: width, height: height)
        for y in 0..<height {
            for x in 0..<width { made[x, y] = pixel(x, y, of: plane) }
        }
        return made
    }

    /// Turns the centre of a pixel back, and mixes the four pixels around that place.
    private func pixel(_ x: Int, _ y: Int, of plane: PixelPlane) -> SIMD4<Double> {
        let right = Double(x) + 0.5 - Double(width) / 2
        let down = Double(y) + 0.5 - Double(height) / 2
        let placeX = right * cosine + down * sine + Double(source.width) / 2 - 0.5
        let placeY = down * cosine - right * sine + Double(source.height) / 2 - 0.5
        guard placeX > -1, placeY > -1, placeX < Double(source.width), placeY < Double(source.height) else {
            return .zero
        }
        let (left, top) = (placeX.rounded(.down), placeY.rounded(.down))
        let (partX, partY) = (placeX - left, placeY - top)
        let (column, row) = (Int(left), Int(top))
        var sum = SIMD4<Double>.zero
        for (y, share) in [(row, 1 - partY), (row + 1, partY)] where y >= 0 && y < source.height && share > 0 {
            if column >= 0 { sum += plane[column, y] * (share * (1 - partX)) }
            if column + 1 < source.width { sum += plane[column + 1, y] * (share * partX) }
        }
        return sum
    }
}

extension PictureTransform {
    /// A clockwise rotation by any angle.
    package struct Rotation: Sendable {
        /// Thousandths of a degree, 0 to 359,999.
        private let thousandths: Int
        /// Whether the result has the picture's size, so that corners are cut off.
        let keepsSize: Bool

        /// - Parameter degrees: any finite number; it is rounded to thousandths.
        package init(degrees: Double, keepsSize: Bool) {
            let within = (fmod(degrees, 360) * 1000).rounded()
            thousandths = (Int(within) + 360_000) % 360_000
            self.keepsSize = keepsSize
        }

        var isNone: Bool { thousandths == 0 }

        private var turns: QuarterTurns? {
            thousandths % 1000 == 0 ? QuarterTurns(rawValue: thousandths / 1000) : nil
        }

        /// The quarter turns that the rotation is of any picture; `nil` if it is none, or may cut edges off.
        package var quarterTurns: QuarterTurns? { keepsSize ? nil : turns }

        /// The same for a picture of that size, of which a rotation that keeps the size may cut nothing off.
        func quarterTurns(ofWidth width: Int, height: Int) -> QuarterTurns? {
            turns == .two || width == height ? turns : quarterTurns
        }

        /// Exact for quarter turns.
        fileprivate var cosineAndSine: (Double, Double) {
            switch thousandths {
            case 90_000: (0, 1)
            case 180_000: (-1, 0)
            case 270_000: (0, -1)
            default: (cos(Double(thousandths) * .pi / 180_000), sin(Double(thousandths) * .pi / 180_000))
            }
        }

        /// The degrees as text, with as many digits as they need.
        var text: String {
            let (whole, part) = thousandths.quotientAndRemainder(dividingBy: 1000)
            if part == 0 { return "\(whole)" }
            var digits = "\(1000 + part)".dropFirst()
            while digits.last == "0" { digits = digits.dropLast() }
            return "\(whole).\(digits)"
        }
    }
}

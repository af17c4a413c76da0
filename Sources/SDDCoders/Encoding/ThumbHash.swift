internal import SDDBase

/// A ThumbHash: at most 25 bytes that describe a picture's colours, and roughly its aspect ratio, as sums of cosine
/// waves (https://evanw.github.io/thumbhash/). The luminance L, the differences P (yellow to blue) and Q (red to green)
/// and alpha each have a constant, and waves that share a scale.
package enum ThumbHash {
    /// The longest side, in pixels, of the picture that is hashed; a larger one is reduced first.
    static let longestHashed = 100
    /// The longest side of a picture that is made of a hash.
    static let longestMade = 32

    /// What the head of a hash says of the waves behind it. A value.
    struct Shape: Equatable {
        /// Waves of L across and down; the larger is 7, or 5 with alpha. Their ratio is that of the picture's sides.
        let across: Int
        let down: Int
        let hasAlpha: Bool

        static func most(hasAlpha: Bool) -> Int { hasAlpha ? 5 : 7 }

        var luminance: [Wave] { Wave.all(max(across, 3), max(down, 3)) }
        static let difference = Wave.all(3, 3)
        static let alpha = Wave.all(5, 5)

        /// Waves of any channel across and down, with the constants.
        var most: (across: Int, down: Int) {
            let others = hasAlpha ? 5 : 3
            return (max(across, others), max(down, others))
        }

        var headSize: Int { hasAlpha ? 6 : 5 }

        /// Bytes of the hash: the head, then four bits for each wave.
        var byteCount: Int {
            let waves = luminance.count + 2 * Shape.difference.count + (hasAlpha ? Shape.alpha.count : 0)
            return headSize + (waves + 1) / 2
        }
    }

    /// The numbers of half waves that fit into the width and into the height. A value.
    struct Wave: Equatable {
        let across: Int
        let down: Int

        /// The waves of a channel, without the constant: those below the diagonal from (`across`, 0) to (0, `down`).
        static func all(_ across: Int, _ down: Int) -> [Wave] {
            (0..<down).flatMap { y in
                (0..<across).filter { x in x + y > 0 && x * down < across * (down - y) }
                    .map { Wave(across: $0, down: y) }
            }
        }
    }

    /// The cosines of waves at the middle of each of `count` places. A value.
    ///
    /// They take IEEE additions and multiplications alone, and no cos(3), whose last bit depends on the machine: so a
    /// picture has one hash everywhere, and waves that a symmetrical picture lacks cancel out.
    struct Cosines {
        private let values: [Double]
        private let count: Int

        /// - Parameters:
        ///   - waves: number of waves.
        ///   - parts: each value is the mean over so many parts of a place. With fewer parts in all than waves, different
        ///     waves would be the same: in the middle of two places, the fourth is as flat as the constant.
        init(waves: Int, count: Int, parts: Int = 1) {
            self.count = count
            values = (0..<waves).flatMap { wave in
                (0..<count).map { place in
                    (0..<parts).reduce(0) { sum, part in
                        sum + Cosines.cosine(wave * (2 * (place * parts + part) + 1), ofHalfTurn: 2 * count * parts)
                    } / Double(parts)
                }
            }
        }

        subscript(wave: Int, place: Int) -> Double { values[wave * count + place] }

        /// Returns cos(π · `angle` / `half`), for even `half`.
        private static func cosine(_ angle: Int, ofHalfTurn half: Int) -> Double {
            let turned = angle % (2 * half)
            let upper = turned > half ? 2 * half - turned : turned
            let (part, sign) = upper > half / 2 ? (half - upper, -1.0) : (upper, 1.0)
            let isNear = part <= half / 4
            let radians = Double(isNear ? part : half / 2 - part) * .pi / Double(half)
            return sign * (isNear ? series(radians, from: 0) : radians * series(radians, from: 1))
        }

        /// Returns the series of the cosine (`from` 0) or of the sine divided by its argument (1), exact to the last
        /// bits up to a quarter of π.
        private static func series(_ radians: Double, from first: Int) -> Double {
            let square = radians * radians
            var sum = 1.0
            for order in stride(from: 18 + first, to: first, by: -2) {
                sum = 1 - sum * square / Double(order * (order - 1))
            }
            return sum
        }
    }
}

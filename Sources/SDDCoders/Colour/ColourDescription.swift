internal import Glibc
package import SDDBase

/// The parts of a picture that speak of its colours, as they lie in the file. A value.
package struct ColourDescription: Sendable {
    /// A profile (ICC.1).
    package var profile: Bytes?
    package var codePoints: CodePoints?
    /// The gAMA chunk of a PNG: 100,000 times the exponent from light to stored values.
    package var gamma: Int?
    /// The cHRM chunk of a PNG: x and y of white, red, green and blue, times 100,000.
    package var chromaticities: [Int]?
    /// The sRGB chunk of a PNG.
    package var isSRGB = false
    /// True for a picture of four inks.
    package var hasInks = false
    /// True for a picture of greys.
    package var isGrey = false

    /// Largest profile that is read, in bytes: those of printers have up to 3 MiB.
    static let largestProfile = 8 << 20

    /// Returns a profile without what lies behind its end; `nil` if it is too large, or ends too early.
    static func usable(_ profile: Bytes) -> Bytes? {
        withExtendedLifetime(profile) {
            var cursor = ByteCursor(profile.pointer)
            guard let size = cursor.number32(), size >= 132, size <= profile.count, size <= largestProfile else {
                return nil
            }
            return size == profile.count
                ? profile : Bytes(copying: UnsafeRawBufferPointer(rebasing: profile.pointer[..<size]))
        }
    }

    package init() {}

    var isEmpty: Bool {
        profile == nil && codePoints == nil && gamma == nil && chromaticities == nil && !isSRGB
    }
}

extension ColourDescription: Equatable {
    package static func == (a: ColourDescription, b: ColourDescription) -> Bool {
        guard a.codePoints == b.codePoints, a.gamma == b.gamma, a.chromaticities == b.chromaticities,
            a.isSRGB == b.isSRGB, a.hasInks == b.hasInks, a.isGrey == b.isGrey
        else { return false }
        switch (a.profile, b.profile) {
        case (nil, nil): return true
        case (let one?, let other?):
            return one === other || withExtendedLifetime((one, other)) { Self.areEqual(one.pointer, other.pointer) }
        default: return false
        }
    }

    private static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard let one = a.baseAddress, let other = b.baseAddress else { return true }
        return memcmp(one, other, a.count) == 0
    }
}

// MARK: - gAMA and cHRM

extension ColourDescription {
    /// Whether gAMA alone says no more than that colours are those of sRGB: by the threshold of libpng, 5 %.
    var isGammaOfSRGB: Bool {
        guard let gamma, chromaticities == nil else { return false }
        return abs(Double(gamma) * 2.2 / 100_000 - 1) < 0.05
    }

    /// The conversion that gAMA and cHRM state; cHRM says nothing alone. Without it the primaries are those of sRGB.
    var gammaShaper: ColourShaper? {
        guard let gamma else { return nil }
        let curve = ToneCurve.gamma(100_000 / Double(gamma))
        guard let points = chromaticities?.map({ Double($0) / 100_000 }), points.count == 8 else {
            return ColourShaper(curve, curve, curve, toXYZ: .sRGB)
        }
        let matrix = ColourMatrix(
            red: (points[2], points[3]), green: (points[4], points[5]), blue: (points[6], points[7]),
            white: (points[0], points[1]))
        return matrix.flatMap { ColourShaper(curve, curve, curve, toXYZ: $0) }
    }

    /// "gamma 1.8": the exponent from stored values to light.
    var gammaName: String {
        guard let gamma else { return "" }
        let tenths = Int((1_000_000 / Double(gamma)).rounded())
        return "gamma \(tenths / 10).\(tenths % 10)"
    }
}

internal import CPNG
internal import SDDBase

// The parts of a JPEG and of a PNG that speak of colours.

extension PictureColour {
    /// Reads what a body says of its colours before its pixels.
    static func stated(by bytes: Bytes, _ facts: ImageFacts) -> PictureColour? {
        var description = withExtendedLifetime(bytes) {
            facts.format == .png ? ColourDescription(ofPNG: bytes.pointer) : ColourDescription(ofJPEG: bytes.pointer)
        }
        if description.isEmpty { return nil }
        description.isGrey = facts.channels <= 2
        description.hasInks = facts.channels == 4 && facts.format == .jpeg
        return KnownColours.ofProcess.colour(of: description)
    }
}

extension ColourDescription {
    /// Largest profile that is read, in bytes: those of printers have up to 3 MiB.
    static let largestProfile = 8 << 20

    /// Reads the profile of a JPEG, from segments before the first scan (ICC.1:2022, B.4).
    init(ofJPEG bytes: UnsafeRawBufferPointer) {
        var parts = ProfileParts()
        for segment in JPEGSegments(bytes) where segment.marker == JPEGSegments.app2 { parts.take(segment.data) }
        if !parts.isEmpty { profile = try? parts.joined() }
    }

    /// Reads the chunks of a PNG before its pixels (PNG, Third Edition, 11.3.2).
    init(ofPNG bytes: UnsafeRawBufferPointer) {
        for chunk in PNGChunks(bytes) {
            if chunk.name == .IDAT || chunk.name == .IEND { return }
            switch chunk.name {
            case .IHDR: isGrey = chunk.data.dropFirst(9).first.map { $0 & 2 == 0 } ?? false
            case .iCCP where profile == nil: profile = try? MetadataBuilder.profile(chunk, isGrey: isGrey)
            case .cICP where codePoints == nil && chunk.isIntact: codePoints = CodePoints(chunk.data)
            case .sRGB where chunk.isIntact: isSRGB = true
            case .gAMA where gamma == nil && chunk.isIntact:
                var cursor = ByteCursor(chunk.data)
                gamma = cursor.number32().flatMap { $0 > 0 ? $0 : nil }
            case .cHRM where chromaticities == nil && chunk.isIntact && chunk.data.count == 32:
                var cursor = ByteCursor(chunk.data)
                chromaticities = (0..<8).compactMap { _ in cursor.number32() }
            default: break
            }
        }
    }

    /// Whether gAMA alone says no more than that colours are those of sRGB: by the threshold of libpng, 5 %.
    var isGammaOfSRGB: Bool {
        guard let gamma, chromaticities == nil else { return false }
        return abs(Double(gamma) * 2.2 / 100_000 - 1) < 0.05
    }

    /// What gAMA says, and cHRM, which says nothing alone. Without it the primaries are those of sRGB.
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

extension CodePoints {
    /// Reads cICP: primaries, transfer function, no matrix, and full range (PNG, Third Edition, 11.3.2.6).
    fileprivate init?(_ data: UnsafeRawBufferPointer) {
        guard data.count == 4, data[2] == 0, data[3] == 1 else { return nil }
        self.init(primaries: Int(data[0]), transfer: Int(data[1]))
    }
}

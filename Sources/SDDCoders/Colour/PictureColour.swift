package import SDDBase

/// What a picture says of its colours. Immutable; callable from any thread.
package final class PictureColour: Sendable {
    /// The raw values are SDD_COLOUR_KIND_ of the C header.
    package enum Kind: Int32, Sendable {
        case unstated = 0
        case sRGB = 1
        case matrix = 2
        case grey = 3
        case tables = 4
        case inks = 5
        case hdr = 6
    }

    package let kind: Kind
    /// Name of the colour space; "" if it has none.
    package let name: CText
    package let description: ColourDescription
    /// What converts the picture to sRGB; `nil` if it needs no conversion, or none is possible.
    let converter: (any PixelConverting)?
    /// True if the pixels can be converted to sRGB, and differ then, or have been converted.
    package let isConvertible: Bool
    /// True if it comes from a profile for pictures of red, green and blue.
    let hasProfileOfColours: Bool

    private init(
        _ kind: Kind, _ name: String, _ description: ColourDescription, _ converter: (any PixelConverting)? = nil,
        hasProfileOfColours: Bool = false, wasConverted: Bool = false
    ) {
        self.kind = kind
        self.name = CText(name)
        self.description = description
        self.converter = converter
        isConvertible = converter != nil || wasConverted
        self.hasProfileOfColours = hasProfileOfColours
    }

    /// True if the pixels are converted by an installed coder, which takes four bytes a pixel.
    var needsEngine: Bool { converter is ProfileEngine }

    /// True if it has a profile that the library does not read.
    private var isForEngine: Bool { kind == .tables || kind == .inks }

    /// Returns the same with what is installed to convert it.
    func asking(_ registry: CoderRegistry) -> PictureColour {
        guard isForEngine, let profile = description.profile,
            let engine = ProfileEngine(profile, hasInks: kind == .inks, registry)
        else { return self }
        return PictureColour(self, engine)
    }

    /// Returns the same for pixels that were converted before they were stored.
    var converted: PictureColour { PictureColour(self, converter, wasConverted: true) }

    private init(_ other: PictureColour, _ converter: (any PixelConverting)?, wasConverted: Bool = false) {
        (kind, name, description, self.converter) = (other.kind, other.name, other.description, converter)
        isConvertible = converter != nil || wasConverted
        hasProfileOfColours = other.hasProfileOfColours
    }

    /// Returns what a description means; `nil` if it says nothing that can be used.
    static func made(of description: ColourDescription) -> PictureColour? {
        if let points = description.codePoints, let made = made(of: points, description) { return made }
        if let profile = description.profile {
            let read = withExtendedLifetime(profile) { ICCProfile(profile.pointer) }
            if let read, let made = made(of: read, description) { return made }
        }
        if description.isSRGB || description.isGammaOfSRGB { return PictureColour(.sRGB, "sRGB", description) }
        return description.gammaShaper.map { made(by: $0, .matrix, description.gammaName, description) }
    }

    private static func made(of points: CodePoints, _ description: ColourDescription) -> PictureColour? {
        if points.isHDR { return PictureColour(.hdr, points.name, description) }
        return points.shaper.map { made(by: $0, .matrix, points.name, description) }
    }

    private static func made(of profile: ICCProfile, _ description: ColourDescription) -> PictureColour? {
        let isOfColours = profile.space == .colour
        if let points = profile.codePoints, points.isHDR {
            return PictureColour(.hdr, profile.name, description, hasProfileOfColours: isOfColours)
        }
        switch profile.space {
        case .inks: return description.hasInks ? PictureColour(.inks, profile.name, description) : nil
        case .other: return nil
        // A profile of greys says nothing of colours.
        case .grey where !description.isGrey: return nil
        default: break
        }
        guard !description.hasInks else { return nil }
        if profile.hasTables {
            return PictureColour(
                .tables, profile.name, description, profile.shaper, hasProfileOfColours: isOfColours)
        }
        return profile.shaper.map {
            made(by: $0, isOfColours ? .matrix : .grey, profile.name, description, hasProfileOfColours: isOfColours)
        }
    }

    /// - Returns: sRGB if the shaper does almost nothing.
    private static func made(
        by shaper: ColourShaper, _ kind: Kind, _ name: String, _ description: ColourDescription,
        hasProfileOfColours: Bool = false
    ) -> PictureColour {
        let isOfSRGB = shaper.isOfSRGB
        return PictureColour(
            isOfSRGB ? .sRGB : kind, isOfSRGB && name.isEmpty ? "sRGB" : name, description, isOfSRGB ? nil : shaper,
            hasProfileOfColours: hasProfileOfColours)
    }

    /// Bytes of memory that it takes, most of them shared with the other pictures of the same profile.
    var byteCount: Int { description.profile?.count ?? 0 }
}

extension PictureColour: Equatable {
    package static func == (a: PictureColour, b: PictureColour) -> Bool {
        a === b || a.kind == b.kind && a.description == b.description
    }
}

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
            return one === other || withExtendedLifetime((one, other)) { one.pointer.elementsEqual(other.pointer) }
        default: return false
        }
    }
}

package import SDDBase

/// The colours that a picture states. Immutable; callable from any thread.
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
    /// The conversion to sRGB; `nil` if it needs no conversion, or none is possible.
    let converter: (any PixelConverting)?
    /// True if the pixels can be converted to sRGB, and differ then, or have been converted.
    package let isConvertible: Bool
    /// The part of the description that it comes from.
    let origin: Origin

    enum Origin {
        case codePoints
        /// A profile for pictures of red, green and blue.
        case profile
        /// A profile for greys, or for inks.
        case otherProfile
        case sRGBChunk
        case gamma
        /// A note without the description.
        case note
    }

    private init(
        _ kind: Kind, _ name: String, _ description: ColourDescription, _ origin: Origin,
        _ converter: (any PixelConverting)? = nil, wasConverted: Bool = false
    ) {
        self.kind = kind
        self.name = CText(name)
        self.description = description
        self.converter = converter
        isConvertible = converter != nil || wasConverted
        self.origin = origin
    }

    /// True if the pixels are converted by an installed coder, which takes four bytes a pixel.
    var needsEngine: Bool { converter?.takesBytesAlone == true }

    /// Returns the same with something else that converts it.
    func converted(by converter: any PixelConverting) -> PictureColour { PictureColour(self, converter) }

    /// Returns the same for pixels that were converted before they were stored.
    var converted: PictureColour { PictureColour(self, converter, wasConverted: true) }

    private init(_ other: PictureColour, _ converter: (any PixelConverting)?, wasConverted: Bool = false) {
        (kind, name, description, self.converter) = (other.kind, other.name, other.description, converter)
        isConvertible = converter != nil || wasConverted
        origin = other.origin
    }

    /// Returns what a note says that has no more than this.
    static func noted(_ kind: Kind, _ name: String) -> PictureColour {
        PictureColour(kind, name, ColourDescription(), .note, wasConverted: true)
    }

    /// True if an installed coder may convert it, though the library does not.
    var mayNeedEngine: Bool { kind == .tables || kind == .inks }

    /// Returns what a description means; `nil` if it says nothing that can be used.
    static func made(of description: ColourDescription) -> PictureColour? {
        if let points = description.codePoints, let made = made(of: points, description) { return made }
        if let profile = description.profile {
            let read = withExtendedLifetime(profile) { ICCProfile(profile.pointer) }
            if let read, let made = made(of: read, description) { return made }
        }
        if description.isSRGB { return PictureColour(.sRGB, "sRGB", description, .sRGBChunk) }
        if description.isGammaOfSRGB { return PictureColour(.sRGB, "sRGB", description, .gamma) }
        return description.gammaShaper.map { made(by: $0, .matrix, description.gammaName, description, .gamma) }
    }

    private static func made(of points: CodePoints, _ description: ColourDescription) -> PictureColour? {
        if points.isHDR { return PictureColour(.hdr, points.name, description, .codePoints) }
        return points.shaper.map { made(by: $0, .matrix, points.name, description, .codePoints) }
    }

    private static func made(of profile: ICCProfile, _ description: ColourDescription) -> PictureColour? {
        let isOfColours = profile.space == .colour
        let origin = isOfColours ? Origin.profile : .otherProfile
        switch profile.space {
        case .inks: return description.hasInks ? PictureColour(.inks, profile.name, description, origin) : nil
        case .other: return nil
        // A profile of greys says nothing of colours.
        case .grey where !description.isGrey: return nil
        default: break
        }
        guard !description.hasInks else { return nil }
        if let points = profile.codePoints, points.isHDR {
            return PictureColour(.hdr, profile.name, description, origin)
        }
        if profile.hasTables { return PictureColour(.tables, profile.name, description, origin, profile.shaper) }
        return profile.shaper.map { made(by: $0, isOfColours ? .matrix : .grey, profile.name, description, origin) }
    }

    /// - Returns: sRGB if the shaper does almost nothing.
    private static func made(
        by shaper: ColourShaper, _ kind: Kind, _ name: String, _ description: ColourDescription, _ origin: Origin
    ) -> PictureColour {
        let isOfSRGB = shaper.isOfSRGB
        return PictureColour(
            isOfSRGB ? .sRGB : kind, isOfSRGB && name.isEmpty ? "sRGB" : name, description, origin,
            isOfSRGB ? nil : shaper)
    }

    /// Bytes of memory that it takes, most of them shared with the other pictures of the same profile.
    var byteCount: Int { description.profile?.count ?? 0 }
}

extension PictureColour: Equatable {
    package static func == (a: PictureColour, b: PictureColour) -> Bool {
        a === b || a.kind == b.kind && a.description == b.description
    }
}

internal import SDDBase

/// The choice of what is stored of a picture's colours beside its pixels. A value.
package struct EncodedColour: Sendable {
    private let colour: PictureColour?
    private let isConverted: Bool
    /// True if the file is the library's own, which is decoded again as what it was made from.
    private let isForItself: Bool

    package static let none = EncodedColour(colour: nil, isConverted: false, isForItself: false)

    private init(colour: PictureColour?, isConverted: Bool, isForItself: Bool) {
        (self.colour, self.isConverted, self.isForItself) = (colour, isConverted, isForItself)
    }

    package init(of image: Image, isForItself: Bool = false) {
        self.init(colour: image.colour, isConverted: image.isConverted, isForItself: isForItself)
    }

    /// Returns the parts that a format stores. Pixels in sRGB need none.
    /// - Parameters:
    ///   - isGrey: true if the file has one channel. A JPEG has then no profile of three (ICC.1, Annex B.4).
    ///   - byteLimit: largest size of the file; 0 means no limit. A profile takes less than half of it.
    func parts(for format: ImageFormat, isGrey: Bool = false, byteLimit: Int64 = 0) -> StoredColour {
        var parts = StoredColour()
        guard let colour else { return parts }
        if isConverted {
            if isForItself { parts.note = ColourNote.bytes(of: colour) }
            return parts
        }
        let description = colour.description
        switch colour.origin {
        case .profile where isGrey && format == .jpeg: break
        case .profile:
            guard let profile = description.profile, byteLimit <= 0 || profile.count < byteLimit / 2 else { break }
            parts.profile = profile
        case .codePoints where format != .jpeg && format != .webp:
            guard let points = description.codePoints?.explicit, format == .png || points.isOfMostFormats else { break }
            parts.codePoints = points
        case .gamma where format == .png:
            (parts.gamma, parts.chromaticities) = (description.gamma, description.chromaticities)
        case .sRGBChunk where format == .png: parts.isSRGB = true
        default: break
        }
        return parts
    }

    /// The conversion of an animation's frames to sRGB; `nil` if they are.
    var converterOfFrames: (any PixelConverting)? { isConverted || colour?.kind == .inks ? nil : colour?.converter }

    /// Returns what converts the pixels to sRGB first; `nil` if they are, or if it is stored what they are.
    func converter(ifNotSaidBy parts: StoredColour) -> (any PixelConverting)? {
        let isSaid = parts.profile != nil || parts.codePoints != nil || parts.gamma != nil || parts.isSRGB
        return isSaid ? nil : converterOfFrames
    }
}

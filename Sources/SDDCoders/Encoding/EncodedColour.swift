package import SDDBase

/// What is stored of a picture's colours beside its pixels. A value.
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

    /// What a format stores.
    package struct Parts {
        package var profile: Bytes?
        package var codePoints: CodePoints?
        var gamma: Int?
        var chromaticities: [Int]?
        var isSRGB = false
        /// What converted pixels were before, see `ColourNote`.
        var note: [UInt8] = []

        package init() {}
    }

    /// Returns the parts that a format stores. Pixels in sRGB need none.
    func parts(for format: ImageFormat) -> Parts {
        var parts = Parts()
        guard let colour else { return parts }
        if isConverted {
            if isForItself { parts.note = ColourNote.bytes(of: colour.description) }
            return parts
        }
        let description = colour.description
        if colour.hasProfileOfColours { parts.profile = description.profile }
        if format == .jpeg { return parts }
        parts.codePoints = description.codePoints
        guard format == .png else { return parts }
        parts.isSRGB = description.isSRGB
        if !parts.isSRGB { (parts.gamma, parts.chromaticities) = (description.gamma, description.chromaticities) }
        return parts
    }

    /// What converts the frames of an animation to sRGB; `nil` if they are.
    var converterOfFrames: (any PixelConverting)? { isConverted || colour?.kind == .inks ? nil : colour?.converter }

    /// Returns what converts the pixels to sRGB first; `nil` if the format can say what they are.
    func converter(for format: ImageFormat) -> (any PixelConverting)? {
        guard !isConverted, let converter = colour?.converter, colour?.kind != .inks else { return nil }
        let parts = parts(for: format)
        let isSaid =
            parts.profile != nil || parts.codePoints != nil || parts.gamma != nil || parts.chromaticities != nil
        return isSaid ? nil : converter
    }
}

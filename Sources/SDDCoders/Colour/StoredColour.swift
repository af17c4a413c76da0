package import SDDBase

/// The description of colours that is stored beside the pixels of an encoded picture. A value.
package struct StoredColour: Sendable {
    package var profile: Bytes?
    package var codePoints: CodePoints?
    var gamma: Int?
    var chromaticities: [Int]?
    var isSRGB = false
    /// The colours of converted pixels before that, see `ColourNote`.
    var note: [UInt8] = []

    package init() {}
}

internal import SDDBase

extension DecoderSet {
    /// Decodes the gain map of a picture, turned as that is.
    /// - Returns: RGBA8; `nil` if the picture has none.
    package func gainMap(of image: Image) throws(CoderError) -> Image? {
        guard let map = try image.gainMap(), let bytes = image.bytes else { return nil }
        let file = try withExtendedLifetime(bytes) { () throws(CoderError) in try map.file(in: bytes.pointer) }
        // An item says itself how it is turned; the JPEG of a map is turned as that of the picture.
        let isUpright = map.item != nil && image.form.isUpright
        let stored = try decode(file, in: DecodeOptions(isUpright: isUpright)).decoded()
        let orientation = map.item == nil && image.form.isUpright ? image.facts?.orientation ?? 1 : 1
        let turned = try PixelConverter(stored, to: .rgba8, orientation: orientation).make()
        return Image(pixels: turned, format: nil, bytes: nil)
    }
}

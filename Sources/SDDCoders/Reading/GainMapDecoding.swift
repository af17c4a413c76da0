internal import SDDBase

extension DecoderSet {
    /// Decodes the gain map of a picture, turned as that is.
    /// - Returns: RGBA8; `nil` if the picture has none.
    package func gainMap(of image: Image) throws(CoderError) -> Image? {
        guard let map = try image.gainMap(), let bytes = image.bytes else { return nil }
        let part = try withExtendedLifetime(bytes) { () throws(CoderError) in
            try Bytes.copy(UnsafeRawBufferPointer(rebasing: bytes.pointer[map.place]))
        }
        let stored = try decode(part, in: DecodeOptions(isUpright: false)).decoded()
        let orientation = image.form.isUpright ? image.facts?.orientation ?? 1 : 1
        let turned = try PixelConverter(stored, to: .rgba8, orientation: orientation).make()
        return Image(pixels: turned, format: nil, bytes: nil)
    }
}

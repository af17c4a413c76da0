/// How a picture is to be decoded. Equal options give equal pixels, so that one decode serves every
/// handler that asks for the same.
package struct DecodeOptions: Hashable, Sendable {
    /// Largest width x height; checked before any pixel memory is taken.
    package var maxPixels: Int
    package var form: PixelForm

    package init(maxPixels: Int, form: PixelForm = PixelForm()) {
        self.maxPixels = maxPixels
        self.form = form
    }
}

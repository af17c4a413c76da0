package import SDDBase

/// A picture, and the bytes it was decoded from. Immutable; any thread.
package final class Image: Sendable {
    package let pixels: PixelBuffer
    /// What it was encoded as; nil where it never was.
    package let format: ImageFormat?
    /// What it was decoded from; nil where that is no whole body, or there never was one.
    package let bytes: Bytes?
    /// What the bytes say of the picture as stored; nil where there are none.
    package let facts: ImageFacts?
    /// What was asked for.
    package let form: PixelForm
    /// Of an animated picture by a coder of the host's.
    package let frames: (any FrameSource)?
    /// Rows from the top that are good, before the picture was turned; nil: all.
    package let goodRows: Int?
    /// More is to come.
    package let isPreview: Bool

    package init(
        pixels: PixelBuffer, format: ImageFormat?, bytes: Bytes?, facts: ImageFacts? = nil,
        form: PixelForm = PixelForm(), frames: (any FrameSource)? = nil, goodRows: Int? = nil,
        isPreview: Bool = false
    ) {
        self.frames = frames
        self.pixels = pixels
        self.format = format
        self.bytes = bytes
        self.facts = facts
        self.form = form
        self.goodRows = goodRows
        self.isPreview = isPreview
    }
}

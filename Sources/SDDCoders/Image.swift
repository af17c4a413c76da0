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
    /// Rows from the top that are good, before the picture was turned; nil: all.
    package let goodRows: Int?
    /// More is to come.
    package let isPreview: Bool
    /// nil for a still picture.
    package let animation: Animation?
    /// See `metadata`.
    let metadataPlace = MetadataPlace()

    package init(
        pixels: PixelBuffer, format: ImageFormat?, bytes: Bytes?, facts: ImageFacts? = nil,
        form: PixelForm = PixelForm(), goodRows: Int? = nil, isPreview: Bool = false,
        animation: Animation? = nil
    ) {
        self.pixels = pixels
        self.format = format
        self.bytes = bytes
        self.facts = facts
        self.form = form
        self.goodRows = goodRows
        self.isPreview = isPreview
        self.animation = animation
    }

    /// Made of a body that is not whole.
    package var isPartial: Bool { goodRows != nil && !isPreview }

    /// Rows from the top that are good, before the picture was turned.
    package var goodRowCount: Int { goodRows ?? (isTransposed ? pixels.width : pixels.height) }

    /// Made smaller, larger or cut.
    package var isScaled: Bool {
        guard let facts else { return false }
        let stored = isTransposed ? (facts.height, facts.width) : (facts.width, facts.height)
        return stored != (pixels.width, pixels.height)
    }

    private var isTransposed: Bool { form.isUpright && (facts?.orientation ?? 1) > 4 }
}

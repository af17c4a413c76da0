package import SDDBase

/// A picture, and the bytes it was decoded from. Immutable; any thread.
package final class Image: Sendable {
    private enum Content: Sendable {
        case made(PixelBuffer)
        /// To be made when they are asked for.
        case lazy(LazyPixels)
    }

    private let content: Content
    /// In pixels, as the picture is shown.
    package let width: Int
    package let height: Int
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
        content = .made(pixels)
        width = pixels.width
        height = pixels.height
        self.format = format
        self.bytes = bytes
        self.facts = facts
        self.form = form
        self.goodRows = goodRows
        self.isPreview = isPreview
        self.animation = animation
    }

    /// A picture of which all but the pixels is known.
    /// - Parameter decode: called once, when they are asked for.
    init(
        lazy decode: @escaping @Sendable () -> Result<PixelBuffer, CoderError>, width: Int, height: Int,
        format: ImageFormat?, bytes: Bytes, facts: ImageFacts, form: PixelForm, animation: Animation?
    ) {
        content = .lazy(LazyPixels(decode))
        self.width = width
        self.height = height
        self.format = format
        self.bytes = bytes
        self.facts = facts
        self.form = form
        goodRows = nil
        isPreview = false
        self.animation = animation
    }

    /// The pixels; decoded now, if they have not been.
    package func decoded() throws(CoderError) -> PixelBuffer {
        switch content {
        case .made(let pixels): pixels
        case .lazy(let pixels): try pixels.get()
        }
    }

    /// nil: nobody has asked for them.
    package var ready: PixelBuffer? {
        switch content {
        case .made(let pixels): pixels
        case .lazy(let pixels): pixels.ready
        }
    }

    package var pixelFormat: PixelFormat { ready?.format ?? form.format }

    /// Made of a body that is not whole.
    package var isPartial: Bool { goodRows != nil && !isPreview }

    /// Rows from the top that are good, before the picture was turned.
    package var goodRowCount: Int { goodRows ?? (isTransposed ? width : height) }

    /// Made smaller, larger or cut.
    package var isScaled: Bool {
        guard let facts else { return false }
        let stored = isTransposed ? (facts.height, facts.width) : (facts.width, facts.height)
        return stored != (width, height)
    }

    private var isTransposed: Bool { form.isTurned(by: facts?.orientation ?? 1) }
}

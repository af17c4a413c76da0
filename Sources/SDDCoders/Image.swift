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
    /// What it was decoded from; nil where that is no whole body, or there never was one, or the form does not keep it.
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
    private let selection = OnceReference<Bytes>()
    let memoryWatches = MemoryWatches()

    package init(
        pixels: PixelBuffer, format: ImageFormat?, bytes: Bytes?, facts: ImageFacts? = nil,
        form: PixelForm = PixelForm(), goodRows: Int? = nil, isPreview: Bool = false,
        animation: Animation? = nil
    ) {
        content = .made(pixels)
        width = pixels.width
        height = pixels.height
        self.format = format
        self.bytes = form.keepsBytes ? bytes : nil
        self.facts = facts
        self.form = form
        self.goodRows = goodRows
        self.isPreview = isPreview
        self.animation = animation
        Living.images.begin()
    }

    deinit { Living.images.end() }

    /// A picture of which all but the pixels is known.
    /// - Parameter decode: called once, when they are asked for.
    init(
        lazy decode: @escaping @Sendable () -> Result<PixelBuffer, CoderError>, of encoded: Bytes, width: Int,
        height: Int, format: ImageFormat?, facts: ImageFacts, form: PixelForm, animation: Animation?
    ) {
        content = .lazy(LazyPixels(encodedByteCount: encoded.count, decode))
        self.width = width
        self.height = height
        self.format = format
        bytes = form.keepsBytes ? encoded : nil
        self.facts = facts
        self.form = form
        goodRows = nil
        isPreview = false
        self.animation = animation
        Living.images.begin()
    }

    /// For which requests a cache may show the picture, in words of the cache's; nil: for all.
    package var keptFor: Bytes? { selection.load() }

    /// Before the picture is kept; the first word counts.
    package func keep(for requests: Bytes) { _ = selection.storeIfNil(requests) }

    /// The pixels; decoded now, if they have not been.
    package func decoded() throws(CoderError) -> PixelBuffer {
        switch content {
        case .made(let pixels): return pixels
        case .lazy(let pixels):
            let isFirst = pixels.ready == nil
            defer { if isFirst { memoryChanged() } }
            return try pixels.get()
        }
    }

    /// What pixels that have not been asked for are to be made of.
    var undecodedByteCount: Int {
        switch content {
        case .made: 0
        case .lazy(let pixels): pixels.encodedByteCount
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

    /// The bytes that it was decoded from are as good as the picture: it was neither scaled nor transformed, nor cut.
    package var isAsEncoded: Bool { facts != nil && !isScaled && !isPartial }

    /// The same without its frames, in a form that asks for that; nil while its pixels are not there.
    package func still(_ form: PixelForm) -> Image? {
        guard let pixels = ready, !isPreview, !isPartial else { return nil }
        let image = Image(pixels: pixels, format: format, bytes: bytes, facts: facts, form: form)
        if let keptFor { image.keep(for: keptFor) }
        return image
    }

    private var isTransposed: Bool { form.isTurned(by: facts?.orientation ?? 1) }
}

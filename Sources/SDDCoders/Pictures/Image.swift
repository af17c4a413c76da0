package import SDDBase

/// A picture and the bytes it was decoded from. Immutable; callable from any thread.
package final class Image: Sendable {
    private enum Content: Sendable {
        case made(PixelBuffer)
        /// Pixels that are decoded on demand.
        case lazy(LazyPixels)
    }

    private let content: Content
    /// Size in pixels, as the picture is shown.
    package let width: Int
    package let height: Int
    /// Format the picture was encoded in; `nil` if it was never encoded.
    package let format: ImageFormat?
    /// Bytes the picture was decoded from; `nil` if they are not a whole body, if there are none, or if the form does
    /// not keep them.
    package let bytes: Bytes?
    /// Facts about the picture as stored, from its bytes; `nil` if they are unknown.
    package let facts: ImageFacts?
    /// The colours that the picture states, before any conversion; `nil` if that is nothing.
    package let colour: PictureColour?
    /// The form that was requested, without functions of the application.
    package let form: DecodeOptions
    /// Number of good rows of `Content.made`.
    private let madeGoodRows: Int?
    /// True if more of the picture is still to come.
    package let isPreview: Bool
    /// The frames of an animated picture; `nil` for a still picture.
    package let animation: Animation?
    /// Storage of `metadata`.
    let metadataPlace = MetadataPlace()
    private let selection = OnceReference<Bytes>()
    let memoryWatches = MemoryWatches()

    package init(
        pixels: PixelBuffer, format: ImageFormat?, bytes: Bytes?, facts: ImageFacts? = nil,
        form: DecodeOptions = DecodeOptions(), goodRows: Int? = nil, isPreview: Bool = false,
        animation: Animation? = nil, colour: PictureColour? = nil
    ) {
        content = .made(pixels)
        width = pixels.width
        height = pixels.height
        self.format = format
        self.bytes = form.keepsBytes ? bytes : nil
        self.facts = facts
        self.colour = facts?.colour ?? colour
        self.form = form.withoutFunctions
        madeGoodRows = goodRows
        self.isPreview = isPreview
        self.animation = animation
        Living.images.begin()
    }

    deinit { Living.images.end() }

    /// Creates a picture whose properties are known, except for its pixels.
    /// - Parameter decode: called once, when the pixels are first requested.
    init(
        lazy decode: @escaping @Sendable () -> Result<DecodedPixels, CoderError>, of encoded: Bytes, width: Int,
        height: Int, format: ImageFormat?, facts: ImageFacts, form: DecodeOptions, animation: Animation?
    ) {
        content = .lazy(LazyPixels(encodedByteCount: encoded.count, decode))
        self.width = width
        self.height = height
        self.format = format
        bytes = form.keepsBytes ? encoded : nil
        self.facts = facts
        colour = facts.colour
        self.form = form.withoutFunctions
        madeGoodRows = nil
        isPreview = false
        self.animation = animation
        Living.images.begin()
    }

    /// The requests for which a cache may use the picture, in the cache's own encoding; `nil` means all requests.
    package var keptFor: Bytes? { selection.load() }

    /// Sets `keptFor`, before the picture is stored in a cache. Only the first call has an effect.
    package func keep(for requests: Bytes) { _ = selection.storeIfNil(requests) }

    /// Returns the pixels, and decodes them first if necessary.
    package func decoded() throws(CoderError) -> PixelBuffer {
        switch content {
        case .made(let pixels): return pixels
        case .lazy(let pixels):
            let isFirst = pixels.ready == nil
            defer { if isFirst { memoryChanged() } }
            return try pixels.get()
        }
    }

    /// Bytes of the encoded data held for pixels that are not decoded yet.
    var undecodedByteCount: Int {
        switch content {
        case .made: 0
        case .lazy(let pixels): pixels.encodedByteCount
        }
    }

    /// The pixels, if they are decoded already.
    package var ready: PixelBuffer? {
        switch content {
        case .made(let pixels): pixels
        case .lazy(let pixels): pixels.ready
        }
    }

    package var pixelFormat: PixelFormat { ready?.format ?? form.format }

    /// Whether the image is what a request for `wanted` gets. If the pixels are not decoded yet, that is so only for a
    /// form that decodes later.
    package func serves(_ wanted: DecodeOptions) -> Bool {
        if wanted.isServed(by: form) { return true }
        var (own, wanted) = (form, wanted)
        // Only a load takes one for the other, and it has said so already.
        if own.colour == .usual { own.colour = .asStored }
        if wanted.colour == .usual { wanted.colour = .asStored }
        // Pixels that cannot be converted are the same either way.
        if colour?.isConvertible != true, colour?.mayNeedEngine != true { own.colour = wanted.colour }
        return wanted.isServed(by: own) || (ready != nil && wanted.isServedReady(by: own))
    }

    /// True if the pixels were converted to sRGB.
    package var isConverted: Bool { form.colour == .sRGB && colour?.isConvertible == true }

    /// Number of good rows from the top, before the picture was turned; `nil` means all rows, or that the pixels are not
    /// decoded yet.
    package var goodRows: Int? {
        if case .lazy(let pixels) = content { return pixels.goodRows }
        return madeGoodRows
    }

    /// True if the picture was made from an incomplete or damaged body. Not known before it is decoded.
    package var isPartial: Bool { goodRows != nil && !isPreview }

    /// Number of good rows from the top, before the picture was turned.
    package var goodRowCount: Int { goodRows ?? (isTransposed ? width : height) }

    /// True if the picture was made smaller or larger, or was cropped.
    package var isScaled: Bool {
        guard let facts else { return false }
        let stored = isTransposed ? (facts.height, facts.width) : (facts.width, facts.height)
        return stored != (width, height)
    }

    /// True if the encoded bytes are as good as the picture: it was not scaled, cropped or transformed, and its body is
    /// complete.
    package var isAsEncoded: Bool { facts != nil && !isScaled && !isPartial }

    /// Returns this picture without its frames, as an image of `form`; `nil` for a preview, for a partial picture, and
    /// while its pixels are not decoded.
    package func still(_ form: DecodeOptions) -> Image? {
        guard let pixels = ready, !isPreview, !isPartial else { return nil }
        let image = Image(
            pixels: pixels, format: format, bytes: bytes, facts: facts, form: form, colour: colour)
        if let keptFor { image.keep(for: keptFor) }
        return image
    }

    /// Returns the picture for a keeper that the application cannot see: itself, or, if its pixels lie in memory that the
    /// application has lent, a copy with memory of its own.
    package func outlivingLentMemory() throws(CoderError) -> Image {
        guard let pixels = ready, pixels.memory.isLent else { return self }
        let image = Image(
            pixels: try pixels.copy(in: pixels.memory.forPreview), format: format, bytes: bytes, facts: facts,
            form: form.ofTheLibrary, goodRows: goodRows, isPreview: isPreview, animation: animation, colour: colour)
        if let keptFor { image.keep(for: keptFor) }
        return image
    }

    private var isTransposed: Bool { form.isTurned(by: facts?.orientation ?? 1) }
}

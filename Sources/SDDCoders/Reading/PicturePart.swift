internal import SDDBase

/// One reader, and all forms that can be made from its pixels.
struct PicturePart {
    let source: PictureSource
    /// The conversion of the reader's pixels to sRGB; `nil` if they stay as stored.
    let converter: (any PixelConverting)?
    var reader: any PictureReading
    var pixels: PixelBuffer?
    /// The reason why this reader gives no pixels, although the body may be good.
    var failure: CoderError?

    var isOver: Bool { pixels != nil || failure != nil }

    /// Returns pixels of the reader, which nobody else has, in sRGB if that is wanted.
    /// - Parameter isWhole: false if rows at the end may be empty, which they stay.
    func converted(_ pixels: PixelBuffer, isWhole: Bool) throws(CoderError) -> PixelBuffer {
        guard let converter else { return pixels }
        let rows = isWhole ? pixels.height : pixels.rowsAboveZeros
        try converter.convert(pixels)
        if rows < pixels.height { pixels.clear(from: rows) }
        return source.narrows ? try pixels.straightCopy(isNarrow: true) : pixels
    }

    /// - Parameter keepsRest: true if another form may show the rest of a damaged body.
    mutating func read(_ bytes: Bytes, isLast: Bool, keepsRest: Bool) throws(CoderError) {
        do throws(CoderError) {
            guard let read = try reader.read(bytes, isLast: isLast) else { return }
            pixels = try converted(read, isWhole: reader.goodRows == nil)
        } catch {
            guard error.isOfForm || keepsRest && error.isDamage else { throw error }
            failure = error
        }
    }
}

internal import SDDBase

internal import CPNG

/// Encodes PNGs with the system's libpng: lossless, and with alpha only if a pixel is not opaque. Callable from any
/// thread, by one thread at a time.
final class PNGEncoder {
    // Safety: created in `init`, destroyed in `deinit`, and used only by this object.
    private let encoder: OpaquePointer

    init() throws(EncodeError) {
        guard let encoder = sddp_encoder_create() else { throw .noMemory }
        self.encoder = encoder
    }

    deinit { sddp_encoder_destroy(encoder) }

    /// Encodes pixels as a PNG.
    /// - Parameter isOpaque: whether the pixels are opaque; passed in because it is costly to compute.
    func encode(_ pixels: PixelBuffer, isOpaque: Bool) throws(EncodeError) -> Bytes {
        let (layout, feed) = Self.feed(pixels, isOpaque: isOpaque)
        var picture = sddp_picture(
            width: UInt32(clamping: pixels.width), height: UInt32(clamping: pixels.height), layout: layout,
            drops_alpha: isOpaque)
        let bytes = EncodedBytes(limit: .max)
        // Safety: the encoder calls `bytes` no more after the last call here.
        defer { withExtendedLifetime(bytes) {} }
        try check(bytes.take { sddp_encode_start(encoder, &picture, $0, $1) }, bytes)
        try feed.forEach { first, stride, count throws(EncodeError) in
            // Safety: so many rows, each of as many pixels of the layout as the picture is wide, are there.
            try check(sddp_encode_rows(encoder, first, stride, UInt32(clamping: count)), bytes)
        }
        try check(sddp_encode_finish(encoder), bytes)
        return bytes.end()
    }

    /// Chooses the layout of the rows. A PNG's alpha is not premultiplied.
    private static func feed(_ pixels: PixelBuffer, isOpaque: Bool) -> (sddp_layout, RowFeed) {
        guard isOpaque || !pixels.format.isPremultiplied, let order = pixels.format.byteOrder else {
            return (SDDP_RGBA, .made(of: pixels, .rgba8, background: 0))
        }
        let layout =
            switch order {
            case .rgba: SDDP_RGBA
            case .bgra: SDDP_BGRA
            case .rgb: SDDP_RGB
            case .grey: SDDP_GREY
            }
        return (layout, .asTheyLie(pixels))
    }

    private func check(_ status: sddp_encoded, _ bytes: EncodedBytes) throws(EncodeError) {
        switch status {
        case SDDP_ENCODED: return
        case SDDP_NOT_TAKEN: throw bytes.refusal ?? .failed
        case SDDP_ENCODE_NO_MEMORY: throw .noMemory
        default: throw .failed
        }
    }
}

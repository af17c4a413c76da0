internal import SDDBase

internal import CPNG

/// Makes PNGs of pixels with the system's libpng: every pixel is kept, and alpha only where something shows through.
/// Any thread, one at a time.
final class PNGEncoder {
    // Safety: made by `init`, destroyed by `deinit`, and used by nobody else.
    private let encoder: OpaquePointer

    init() throws(EncodeError) {
        guard let encoder = sddp_encoder_create() else { throw .noMemory }
        self.encoder = encoder
    }

    deinit { sddp_encoder_destroy(encoder) }

    /// - Parameter isOpaque: that of the pixels, which is costly to find out.
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

    /// A PNG's alpha is not multiplied in.
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

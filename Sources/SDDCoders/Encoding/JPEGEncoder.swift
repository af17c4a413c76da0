internal import SDDBase

internal import CJPEG

/// Encodes JPEGs with the system's libjpeg, with its defaults for everything that the options do not set. Callable from
/// any thread, by one thread at a time.
final class JPEGEncoder {
    /// The longest side that libjpeg can encode.
    static let longestSide = 65_500

    // Safety: created in `init`, destroyed in `deinit`, and used only by this object.
    private let encoder: OpaquePointer

    init() throws(EncodeError) {
        guard let encoder = sddj_encoder_create() else { throw .noMemory }
        self.encoder = encoder
    }

    deinit { sddj_encoder_destroy(encoder) }

    /// Encodes pixels as a JPEG.
    /// - Parameters:
    ///   - isOpaque: whether the pixels are opaque; passed in because it is costly to compute.
    ///   - limit: largest number of bytes; the encode fails with `.doesNotFit` as soon as it is exceeded.
    func encode(
        _ pixels: PixelBuffer, isOpaque: Bool, _ colour: StoredColour, quality: Int, limit: Int,
        _ options: EncodeOptions
    ) throws(EncodeError) -> Bytes {
        guard pixels.width <= Self.longestSide, pixels.height <= Self.longestSide else { throw .doesNotFit }
        let (layout, feed) = Self.feed(pixels, isOpaque: isOpaque, background: options.background)
        var picture = sddj_picture(
            width: UInt32(clamping: pixels.width), height: UInt32(clamping: pixels.height), layout: layout,
            quality: Int32(clamping: quality), chroma: Self.chroma(options.chroma),
            is_progressive: options.isProgressive, profile: nil, profile_size: 0, note: nil, note_size: 0)
        let bytes = EncodedBytes(limit: limit)
        // Safety: the encoder calls `bytes` no more after the last call here.
        defer { withExtendedLifetime(bytes) {} }
        try start(&picture, colour, bytes)
        try feed.forEach { first, stride, count throws(EncodeError) in
            // Safety: so many rows, each of as many pixels of the layout as the picture is wide, are there.
            try check(sddj_encode_rows(encoder, first, stride, UInt32(clamping: count)), bytes)
        }
        try check(sddj_encode_finish(encoder), bytes)
        return bytes.end()
    }

    /// Writes all that comes before the pixels.
    private func start(
        _ picture: inout sddj_picture, _ colour: StoredColour, _ bytes: EncodedBytes
    ) throws(EncodeError) {
        defer { withExtendedLifetime(colour) {} }
        (picture.profile, picture.profile_size) = (
            UnsafeRawPointer(colour.profile?.pointer.baseAddress), colour.profile?.count ?? 0
        )
        // Safety: the shim reads the profile and the note until it returns.
        let status = colour.note.withUnsafeBytes { note in
            (picture.note, picture.note_size) = (note.baseAddress, note.count)
            return bytes.take { sddj_encode_start(encoder, &picture, $0, $1) }
        }
        try check(status, bytes)
    }

    private static func feed(_ pixels: PixelBuffer, isOpaque: Bool, background: UInt32) -> (sddj_layout, RowFeed) {
        guard isOpaque, let order = pixels.format.byteOrder else {
            return (SDDJ_RGB, .made(of: pixels, .rgb8, background: background))
        }
        let layout =
            switch order {
            case .rgba: SDDJ_RGBA
            case .bgra: SDDJ_BGRA
            case .rgb: SDDJ_RGB
            case .grey: SDDJ_Y
            }
        return (layout, .asTheyLie(pixels))
    }

    private static func chroma(_ chroma: EncodeOptions.Chroma) -> sddj_chroma {
        switch chroma {
        case .half: SDDJ_CHROMA_420
        case .halfWidth: SDDJ_CHROMA_422
        case .full: SDDJ_CHROMA_444
        }
    }

    private func check(_ status: sddj_encoded, _ bytes: EncodedBytes) throws(EncodeError) {
        switch status {
        case SDDJ_ENCODED: return
        case SDDJ_NOT_TAKEN: throw bytes.refusal ?? .failed
        case SDDJ_ENCODE_TOO_LARGE: throw .doesNotFit
        case SDDJ_ENCODE_NO_MEMORY: throw .noMemory
        default: throw .failed
        }
    }
}

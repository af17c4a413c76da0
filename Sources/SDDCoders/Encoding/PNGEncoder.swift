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
    func encode(
        _ pixels: PixelBuffer, isOpaque: Bool, _ colour: StoredColour
    ) throws(EncodeError) -> Bytes {
        let (layout, feed) = Self.feed(pixels, isOpaque: isOpaque)
        var picture = sddp_picture(
            width: UInt32(clamping: pixels.width), height: UInt32(clamping: pixels.height), layout: layout,
            drops_alpha: isOpaque, profile: nil, profile_size: 0, chunks: nil, chunk_count: 0)
        let bytes = EncodedBytes(limit: .max)
        // Safety: the encoder calls `bytes` no more after the last call here.
        defer { withExtendedLifetime(bytes) {} }
        try start(&picture, colour, bytes)
        try feed.forEach { first, stride, count throws(EncodeError) in
            // Safety: so many rows, each of as many pixels of the layout as the picture is wide, are there.
            try check(sddp_encode_rows(encoder, first, stride, UInt32(clamping: count)), bytes)
        }
        try check(sddp_encode_finish(encoder), bytes)
        return bytes.end()
    }

    /// Writes all that comes before the pixels.
    private func start(
        _ picture: inout sddp_picture, _ colour: StoredColour, _ bytes: EncodedBytes
    ) throws(EncodeError) {
        defer { withExtendedLifetime(colour) {} }
        (picture.profile, picture.profile_size) = (
            UnsafeRawPointer(colour.profile?.pointer.baseAddress), colour.profile?.count ?? 0
        )
        let chunks = Self.chunks(colour)
        let all = chunks.flatMap(\.data)
        // Safety: the shim reads the profile and the chunks until it returns.
        let status = all.withUnsafeBytes { data in
            var offset = 0
            let places = chunks.map { chunk in
                defer { offset += chunk.data.count }
                return sddp_chunk(
                    name: chunk.name.rawValue, data: data.baseAddress.map { $0 + offset }, size: chunk.data.count)
            }
            return places.withUnsafeBufferPointer { places in
                (picture.chunks, picture.chunk_count) = (places.baseAddress, places.count)
                return bytes.take { sddp_encode_start(encoder, &picture, $0, $1) }
            }
        }
        try check(status, bytes)
    }

    /// Returns the chunks that say what the colours are, besides a profile (PNG, Third Edition, 11.3.2).
    private static func chunks(_ colour: StoredColour) -> [(name: PNGChunkName, data: [UInt8])] {
        var chunks: [(name: PNGChunkName, data: [UInt8])] = []
        if let points = colour.codePoints {
            chunks.append((.cICP, [UInt8(clamping: points.primaries), UInt8(clamping: points.transfer), 0, 1]))
        }
        let number = { (number: Int) in withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { Array($0) } }
        // Its intent is perceptual.
        if colour.isSRGB { chunks.append((.sRGB, [0])) }
        if let gamma = colour.gamma { chunks.append((.gAMA, number(gamma))) }
        if let points = colour.chromaticities { chunks.append((.cHRM, points.flatMap(number))) }
        if !colour.note.isEmpty { chunks.append((.sdCo, colour.note)) }
        return chunks
    }

    /// Chooses the layout of the rows. A PNG's alpha is not premultiplied; it has 16 bits a channel if the pixels have.
    private static func feed(_ pixels: PixelBuffer, isOpaque: Bool) -> (sddp_layout, RowFeed) {
        if pixels.format.source == .rgba16 {
            let isStraight = isOpaque || !pixels.format.isPremultiplied
            return (SDDP_RGBA16, isStraight ? .asTheyLie(pixels) : .made(of: pixels, .rgba16, background: 0))
        }
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
        case SDDP_PROFILE_REFUSED: throw .profileRefused
        default: throw .failed
        }
    }
}

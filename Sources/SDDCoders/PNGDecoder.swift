package import SDDBase

internal import CPNG

/// The PNG format: every kind of the specification, still pictures only.
package struct PNGCoder: ImageCoding {
    package init() {}

    package var format: ImageFormat { .png }

    package func makeDecoder() throws(CoderError) -> any ImageDecoding { try PNGDecoder() }
}

/// Turns PNGs into pixels with the system's libpng. 16 bits are scaled to 8, no gamma is applied. Any
/// thread, one at a time.
///
/// A PNG is good when it is whole up to the end of its IEND chunk, and the check sums of all chunks that
/// make pixels are right. Chunks that make none (texts, profiles) may be damaged; what comes after IEND
/// may be anything at all.
package final class PNGDecoder: ImageDecoding {
    // Safety: made by `init`, destroyed by `deinit`, and used by nobody else.
    private let decoder: OpaquePointer

    package init() throws(CoderError) {
        guard let decoder = sddp_create() else { throw CoderError(.noMemory) }
        self.decoder = decoder
    }

    deinit { sddp_destroy(decoder) }

    package func decode(_ bytes: Bytes, _ task: DecodeTask) throws(CoderError) -> PixelBuffer {
        // Safety: the shim reads `bytes` until `sddp_end`.
        defer {
            sddp_end(decoder)
            withExtendedLifetime(bytes) {}
        }
        var header = sddp_header()
        try check(sddp_start(decoder, bytes.pointer.baseAddress, bytes.count, &header))
        try PixelBuffer.check(width: header.width, height: header.height, maxPixels: task.limits.maxPixels)
        let plan = task.plan(Int(header.width), Int(header.height))
        return plan.isWhole ? try decodeWhole(header, task.wanted) : try decodeReduced(header, plan)
    }

    private func decodeWhole(_ header: sddp_header, _ wanted: PixelFormat) throws(CoderError) -> PixelBuffer {
        let format = wanted == .bgra8 ? wanted : .rgba8
        let pixels = try PixelBuffer.make(width: Int(header.width), height: Int(header.height), format)
        // Safety: `pixels` has as many rows, of as many bytes, as the header told and these formats take.
        try check(sddp_decode(decoder, pixels.base, pixels.stride, format == .bgra8))
        return pixels
    }

    /// Row by row, so that there never is the whole; but for an interlaced one, whose rows come several times.
    private func decodeReduced(_ header: sddp_header, _ plan: SizePlan) throws(CoderError) -> PixelBuffer {
        let pixels = try PixelBuffer.make(width: plan.width, height: plan.height, .rgba8)
        let (width, height) = (Int(header.width), Int(header.height))
        let reducer = AreaReducer(
            width: width, height: height, plan: plan, storedWidth: width, storedHeight: height, into: pixels,
            isOpaque: false)
        if header.is_interlaced {
            let whole = try decodeWhole(header, .rgba8)
            for y in 0..<height { reducer.take(whole.base + y * whole.stride) }
        } else {
            try check(reducer.takeRows { sddp_decode_rows(decoder, $0, $1) })
        }
        return pixels
    }

    private func check(_ status: sddp_status) throws(CoderError) {
        guard let kind = CoderError.Kind(status) else { return }
        throw CoderError(kind, String(cString: sddp_message(decoder)))
    }
}

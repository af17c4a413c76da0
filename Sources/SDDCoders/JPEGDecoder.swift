package import SDDBase

internal import CJPEG

/// The JPEG format: baseline and progressive, 8 bits.
package struct JPEGCoder: ImageCoding {
    package init() {}

    package var format: ImageFormat { .jpeg }

    package func makeDecoder() throws(CoderError) -> any ImageDecoding { try JPEGDecoder() }
}

/// Turns JPEGs into pixels with the system's libjpeg, the very pixels of libjpeg's defaults. Any thread,
/// one at a time.
///
/// A JPEG is good when every pixel is there. It is `.corrupt` or `.truncated` when libjpeg had to make up
/// pixels, and also when it made up none but a scan of a picture in several scans was lost. What comes
/// after the last pixel may be missing, the end marker included, or be anything at all.
package final class JPEGDecoder: ImageDecoding {
    // Safety: made by `init`, destroyed by `deinit`, and used by nobody else.
    private let decoder: OpaquePointer

    package init() throws(CoderError) {
        guard let decoder = sddj_create() else { throw CoderError(.noMemory) }
        self.decoder = decoder
    }

    deinit { sddj_destroy(decoder) }

    package func decode(_ bytes: Bytes, _ task: DecodeTask) throws(CoderError) -> PixelBuffer {
        // Safety: the shim reads `bytes` until `sddj_end`.
        defer {
            sddj_end(decoder)
            withExtendedLifetime(bytes) {}
        }
        var header = sddj_header()
        try check(sddj_start(decoder, bytes.pointer.baseAddress, bytes.count, &header))
        try PixelBuffer.check(width: header.width, height: header.height, maxPixels: task.limits.maxPixels)
        let plan = task.plan(Int(header.width), Int(header.height))
        return plan.isWhole ? try decodeWhole(header, task.wanted) : try decodeReduced(header, plan)
    }

    private func decodeWhole(_ header: sddj_header, _ wanted: PixelFormat) throws(CoderError) -> PixelBuffer {
        let (format, layout) = Self.output(for: wanted, header.colours)
        let pixels = try PixelBuffer.make(width: Int(header.width), height: Int(header.height), format)
        // Safety: `pixels` has as many rows, of as many bytes, as the header told and the layout takes.
        try check(sddj_decode(decoder, pixels.base, pixels.stride, layout))
        return pixels
    }

    /// libjpeg makes it smaller by eighths, which saves most of its work, and the rest is done by area.
    private func decodeReduced(_ header: sddj_header, _ plan: SizePlan) throws(CoderError) -> PixelBuffer {
        let (storedWidth, storedHeight) = (Int(header.width), Int(header.height))
        let least = (
            Double(plan.width) * Double(storedWidth) / plan.partWidth,
            Double(plan.height) * Double(storedHeight) / plan.partHeight
        )
        var (width, height): (UInt32, UInt32) = (header.width, header.height)
        let eighths = (1...8).first { eighths in
            Double((storedWidth * eighths + 7) / 8) >= least.0 && Double((storedHeight * eighths + 7) / 8) >= least.1
        }
        try check(sddj_scale(decoder, UInt32(eighths ?? 8), &width, &height))
        let pixels = try PixelBuffer.make(width: plan.width, height: plan.height, .rgba8)
        let reducer = AreaReducer(
            width: Int(width), height: Int(height), plan: plan, storedWidth: storedWidth, storedHeight: storedHeight,
            into: pixels, isOpaque: true)
        try check(reducer.takeRows { sddj_decode_rows(decoder, $0, $1) })
        return pixels
    }

    /// Nothing shows through a JPEG: with alpha multiplied in and without are the same.
    private static func output(for wanted: PixelFormat, _ colours: sddj_colours) -> (PixelFormat, sddj_layout) {
        switch wanted {
        case .rgba8, .rgba8Premultiplied: (wanted, SDDJ_RGBA)
        case .bgra8, .bgra8Premultiplied: colours == SDDJ_INKS ? (.rgba8, SDDJ_RGBA) : (wanted, SDDJ_BGRA)
        case .rgb8: colours == SDDJ_INKS ? (.rgba8, SDDJ_RGBA) : (wanted, SDDJ_RGB)
        case .grey8: colours == SDDJ_GREY ? (wanted, SDDJ_Y) : (.rgba8, SDDJ_RGBA)
        }
    }

    private func check(_ status: sddj_status) throws(CoderError) {
        guard let kind = CoderError.Kind(status) else { return }
        throw CoderError(kind, String(cString: sddj_message(decoder)))
    }
}

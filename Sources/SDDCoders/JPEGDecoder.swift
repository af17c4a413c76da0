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

    package func decode(_ bytes: Bytes, options: DecodeOptions) throws(CoderError) -> Image {
        // Safety: the shim reads `bytes` until `sddj_end`.
        defer {
            sddj_end(decoder)
            withExtendedLifetime(bytes) {}
        }
        var header = sddj_header()
        try check(sddj_start(decoder, bytes.pointer.baseAddress, bytes.count, &header))
        let pixels = try PixelBuffer.make(width: header.width, height: header.height, options)
        // Safety: `pixels` has as many rows, of as many bytes, as the header told.
        try check(sddj_decode(decoder, pixels.base, pixels.stride))
        return Image(pixels: pixels, format: .jpeg, bytes: bytes)
    }

    private func check(_ status: sddj_status) throws(CoderError) {
        guard let kind = CoderError.Kind(status) else { return }
        throw CoderError(kind, String(cString: sddj_message(decoder)))
    }
}

import SDDBase
import TestSupport

@testable import SDDCoders

/// The pictures of Tests/Fixtures, by their names without folder and extension.
enum Pictures {
    static let jpegs = [
        "arithmetic", "arithmetic-progressive", "arithmetic-restarts", "arithmetic-scans", "baseline-411",
        "baseline-420", "baseline-422", "baseline-440", "baseline-444", "cmyk-adobe",
        "cmyk-no-marker", "exif-orientation", "grey", "progressive-420", "progressive-grey",
        "progressive-spectral", "restart-markers", "rgb", "sequential-scans", "size-17x3", "size-1x1",
        "size-3x17", "ycck", "ycck-progressive",
    ].map { "jpeg/\($0).jpg" }

    static let pngs = [
        "gamma-and-text", "grey-alpha16", "grey-alpha16-interlaced", "grey-alpha8", "grey-alpha8-interlaced",
        "grey1", "grey1-interlaced", "grey1-trns", "grey16", "grey16-interlaced", "grey16-trns", "grey2",
        "grey2-interlaced", "grey2-trns", "grey4", "grey4-interlaced", "grey4-trns", "grey8",
        "grey8-interlaced", "grey8-trns", "many-idat", "many-texts", "palette1", "palette1-interlaced",
        "palette1-trns", "palette2", "palette2-interlaced", "palette2-trns", "palette4",
        "palette4-interlaced", "palette4-trns", "palette8", "palette8-interlaced", "palette8-trns", "rgb16",
        "rgb16-interlaced", "rgb16-trns", "rgb8", "rgb8-interlaced", "rgb8-trns", "rgba16",
        "rgba16-interlaced", "rgba8", "rgba8-interlaced", "size-17x3", "size-17x3-interlaced", "size-1x1",
        "size-1x1-interlaced", "size-3x17", "size-3x17-interlaced", "text-bomb", "text-wrong-crc",
    ].map { "png/\($0).png" }

    /// Returns the pixels a decoder must give for a good picture, from the .pam file beside it.
    static func expected(_ name: String) throws -> Raster {
        try Raster(pam: Fixtures.array(name.dropLast(3) + "pam"))
    }
}

/// RGBA pixels without padding.
struct Raster: Equatable {
    let width: Int
    let height: Int
    let rgba: [UInt8]

    init(_ image: Image) {
        width = image.pixels.width
        height = image.pixels.height
        rgba = image.pixels.plainBytes
    }

    init(_ pixels: PixelBuffer) {
        width = pixels.width
        height = pixels.height
        rgba = pixels.plainBytes
    }

    init(width: Int, height: Int, rgba: [UInt8]) {
        self.width = width
        self.height = height
        self.rgba = rgba
    }

    /// Parses a PAM file: lines of text, then the pixels.
    init(pam: [UInt8]) throws {
        let end = Array("ENDHDR\n".utf8)
        guard let at = pam.indices.first(where: { pam[$0...].starts(with: end) }) else {
            throw TestSupportFailure("not a PAM file")
        }
        let words = String(decoding: pam[..<at], as: UTF8.self).split { $0 == " " || $0 == "\n" }
        let number = { (name: String) in
            words.firstIndex { $0 == name }.flatMap { Int(words[$0 + 1]) } ?? 0
        }
        width = number("WIDTH")
        height = number("HEIGHT")
        rgba = Array(pam[(at + end.count)...])
    }
}

extension Raster {
    /// Returns the pixels in another format, over black if that has no alpha.
    func pixels(as format: PixelFormat) throws -> PixelBuffer {
        let pixels = try PixelBuffer.make(width: width, height: height, .rgba8)
        for y in 0..<height {
            for x in 0..<width * 4 {
                pixels.base.storeBytes(of: rgba[y * width * 4 + x], toByteOffset: y * pixels.stride + x, as: UInt8.self)
            }
        }
        return try PixelConverter(pixels, to: DecodeOptions(format: format), orientation: 1).make()
    }
}

extension Pictures {
    /// Corrects the checksum of each chunk of a PNG.
    static func withChecksums(_ png: [UInt8]) -> [UInt8] {
        var made = png
        png.withUnsafeBytes { bytes in
            for chunk in PNGChunks(bytes) where chunk.isWhole {
                var sum = CRC32()
                sum.add(UnsafeRawBufferPointer(rebasing: bytes[chunk.range.dropFirst(4).dropLast(4)]))
                for index in 0..<4 {
                    made[chunk.range.upperBound - 4 + index] = UInt8(truncatingIfNeeded: sum.value >> (24 - 8 * index))
                }
            }
        }
        return made
    }
}

/// Returns the array as `Bytes`. The process ends here if there is no memory for it.
func bytes(of array: some Sequence<UInt8>) -> Bytes {
    Array(array).withUnsafeBytes { Bytes(copying: $0)! }
}

/// The comparable outcome of a decode.
enum Outcome: Equatable {
    case picture(Raster)
    case failure(CoderError.Kind)
}

extension DecoderSet {
    /// Decodes the picture with one set of options.
    func decode(_ bytes: Bytes, form: DecodeOptions, maxPixels: Int) throws(CoderError) -> Image {
        try decode(bytes, forms: [form], limits: DecodeLimits(maxPixels: maxPixels))[0].image.get()
    }

    func outcome(_ bytes: Bytes, maxPixels: Int = 1 << 20) -> Outcome {
        do throws(CoderError) {
            return .picture(Raster(try decode(bytes, form: .stored, maxPixels: maxPixels)))
        } catch {
            return .failure(error.kind)
        }
    }

    func outcome(_ array: some Sequence<UInt8>) -> Outcome { outcome(bytes(of: array)) }
}

extension DecodeOptions {
    /// The options that give pixels as in the .pam files beside the pictures.
    static let stored = DecodeOptions(isUpright: false)
}

extension PixelBuffer {
    /// The rows without the padding between them.
    var plainBytes: [UInt8] {
        // Safety: the buffer lives until the bytes are copied.
        withExtendedLifetime(self) {
            (0..<height * format.planeCount).flatMap { y in
                Array(UnsafeRawBufferPointer(start: base + y * stride, count: width * format.bytesPerPixel))
            }
        }
    }
}

extension Image {
    /// Returns the pixels of a picture that can be decoded. The process ends here if there is no memory for them.
    var pixels: PixelBuffer { (try? decoded()) ?? PixelBuffer(width: 1, height: 1)! }
}

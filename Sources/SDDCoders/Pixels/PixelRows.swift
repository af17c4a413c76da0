internal import Glibc

/// Order of a pixel's channels, if each is one byte and they lie side by side.
enum ByteOrder { case rgba, bgra, rgb, grey }

// Encoders and transforms depend on no more of a pixel format than the following members.

extension PixelFormat {
    /// The order of the channels; `nil` if the C libraries cannot read the format directly.
    var byteOrder: ByteOrder? {
        switch self {
        case .rgba8, .rgba8Premultiplied: .rgba
        case .bgra8, .bgra8Premultiplied: .bgra
        case .rgb8: .rgb
        case .grey8: .grey
        case .rgba16, .rgba16Premultiplied, .rgb8Planar: nil
        }
    }

    var isPremultiplied: Bool {
        switch self {
        case .rgba8Premultiplied, .bgra8Premultiplied, .rgba16Premultiplied: true
        case .rgba8, .bgra8, .rgb8, .grey8, .rgba16, .rgb8Planar: false
        }
    }
}

extension PixelFormat {
    /// Writes a row of pixels as RGBA8, alpha not premultiplied: four times `width` bytes.
    func readRow(_ row: UnsafeRawPointer, width: Int, to target: UnsafeMutableRawPointer) {
        switch self {
        case .rgba8: memcpy(target, row, width * 4)
        case .bgra8: each(row, width, 4, target) { Straight(blueFirst: $0) }
        case .rgba8Premultiplied: each(row, width, 4, target) { Straight(redFirst: $0).divided }
        case .bgra8Premultiplied: each(row, width, 4, target) { Straight(blueFirst: $0).divided }
        case .rgb8: each(row, width, 3, target) { Straight($0[0], $0[1], $0[2], 255) }
        case .grey8: each(row, width, 1, target) { Straight($0[0], $0[0], $0[0], 255) }
        // Unsupported here: a planar row has only one channel of each pixel, and 16-bit rows have functions of their
        // own.
        case .rgb8Planar, .rgba16, .rgba16Premultiplied: memset(target, 0, width * 4)
        }
    }

    @inline(__always)
    private func each(
        _ row: UnsafeRawPointer, _ width: Int, _ step: Int, _ target: UnsafeMutableRawPointer,
        _ pixel: (UnsafePointer<UInt8>) -> Straight
    ) {
        let source = row.assumingMemoryBound(to: UInt8.self)
        for x in 0..<width { pixel(source + x * step).store(at: target + x * 4) }
    }
}

extension PixelBuffer {
    /// True if every pixel is opaque.
    package var isOpaque: Bool {
        switch format {
        case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied: (0..<height).allSatisfy { isOpaque(row: $0) }
        case .rgba16, .rgba16Premultiplied: (0..<height).allSatisfy { isDeepOpaque(row: $0) }
        case .rgb8, .grey8, .rgb8Planar: true
        }
    }

    private func isOpaque(row y: Int) -> Bool {
        let row = base + y * stride
        var all: UInt8 = 255
        for x in 0..<width { all &= (row + x * 4).load(fromByteOffset: 3, as: UInt8.self) }
        return all == 255
    }

    /// Writes a row as `PixelFormat.readRow` does, but supports every format.
    func readRow(_ y: Int, to target: UnsafeMutableRawPointer) {
        switch format {
        case .rgb8Planar:
            let row = UnsafePointer((base + y * stride).assumingMemoryBound(to: UInt8.self))
            for x in 0..<width {
                Straight(row[x], row[x + planeStride], row[x + 2 * planeStride], 255).store(at: target + x * 4)
            }
        case .rgba16, .rgba16Premultiplied: readNarrowedRow(y, to: target)
        default: format.readRow(base + y * stride, width: width, to: target)
        }
    }

    /// Writes a row with as many bits per channel as the format has: RGBA8 or RGBA16.
    func readSourceRow(_ y: Int, to target: UnsafeMutableRawPointer) {
        if format.source == .rgba16 { readDeepRow(y, to: target) } else { readRow(y, to: target) }
    }

    /// Returns a copy of the pixels as RGBA8 or RGBA16, alpha not premultiplied.
    /// - Parameter isNarrow: true for RGBA8 in any case.
    func straightCopy(isNarrow: Bool = false) throws(CoderError) -> PixelBuffer {
        let copy = try PixelBuffer.make(width: width, height: height, isNarrow ? .rgba8 : format.source)
        for y in 0..<height {
            let row = copy.base + y * copy.stride
            if isNarrow { readRow(y, to: row) } else { readSourceRow(y, to: row) }
        }
        return copy
    }
}

/// One pixel: red, green, blue, alpha.
private struct Straight {
    private var channels: SIMD4<UInt8>

    @inline(__always)
    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) { channels = SIMD4(red, green, blue, alpha) }

    @inline(__always)
    init(redFirst place: UnsafePointer<UInt8>) { self.init(place[0], place[1], place[2], place[3]) }

    @inline(__always)
    init(blueFirst place: UnsafePointer<UInt8>) { self.init(place[2], place[1], place[0], place[3]) }

    /// The pixel with alpha divided out, rounded so that multiplying again restores it. The application's pixels may
    /// have colours above their alpha; those are clamped to the maximum.
    @inline(__always)
    var divided: Straight {
        let alpha = UInt32(channels.w)
        if alpha == 255 { return self }
        if alpha == 0 { return Straight(0, 0, 0, 0) }
        let colour = { (value: UInt8) in UInt8(min(255, (UInt32(value) * 255 + alpha / 2) / alpha)) }
        return Straight(colour(channels.x), colour(channels.y), colour(channels.z), channels.w)
    }

    @inline(__always)
    func store(at place: UnsafeMutableRawPointer) {
        let (low, high) = (UInt32(channels.x) | UInt32(channels.y) << 8, UInt32(channels.z) | UInt32(channels.w) << 8)
        place.storeBytes(of: (low | high << 16).littleEndian, as: UInt32.self)
    }
}

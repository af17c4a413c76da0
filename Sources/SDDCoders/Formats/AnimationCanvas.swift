/// The canvas that the frames of an animation are drawn on: RGBA8 or RGBA16, alpha not premultiplied, exact integer
/// arithmetic. Used by one thread, until its pixels are handed out.
struct AnimationCanvas {
    let pixels: PixelBuffer

    /// Creates a canvas of transparent black.
    init(width: Int, height: Int, _ format: PixelFormat = .rgba8) throws(CoderError) {
        pixels = try .make(width: width, height: height, format)
        clear(FrameArea(x: 0, y: 0, width: width, height: height))
    }

    init(copying other: PixelBuffer) throws(CoderError) {
        pixels = try .make(width: other.width, height: other.height, other.format)
        put(other, at: FrameArea(x: 0, y: 0, width: other.width, height: other.height))
    }

    private var pixelSize: Int { pixels.format.bytesPerPixel }

    /// Returns a copy of an area.
    func part(_ area: FrameArea) throws(CoderError) -> PixelBuffer {
        let made = try PixelBuffer.make(width: area.width, height: area.height, pixels.format)
        forEachRow(of: area) { y, row in
            (made.base + y * made.stride).copyMemory(from: row, byteCount: area.width * pixelSize)
        }
        return made
    }

    /// Fills an area with transparent black.
    func clear(_ area: FrameArea) {
        forEachRow(of: area) { _, row in
            row.initializeMemory(as: UInt8.self, repeating: 0, count: area.width * pixelSize)
        }
    }

    /// Replaces the pixels of an area.
    /// - Parameter source: as large as the area, in the format of the canvas.
    func put(_ source: PixelBuffer, at area: FrameArea) {
        guard fits(source, area) else { return }
        forEachRow(of: area) { y, row in
            row.copyMemory(from: source.base + y * source.stride, byteCount: area.width * pixelSize)
        }
    }

    /// Draws over the pixels of an area.
    /// - Parameter source: as large as the area, in the format of the canvas.
    func blend(_ source: PixelBuffer, at area: FrameArea) {
        guard fits(source, area) else { return }
        let isDeep = pixels.format == .rgba16
        forEachRow(of: area) { y, row in
            let upper = source.base + y * source.stride
            for x in 0..<area.width {
                let place = row + x * pixelSize
                if isDeep {
                    DeepPixel(at: upper + x * 8).over(DeepPixel(at: place)).store(at: place)
                } else {
                    StraightPixel(at: upper + x * 4).over(StraightPixel(at: place)).store(at: place)
                }
            }
        }
    }

    private func fits(_ source: PixelBuffer, _ area: FrameArea) -> Bool {
        source.format == pixels.format && source.width == area.width && source.height == area.height
    }

    private func forEachRow(of area: FrameArea, _ body: (Int, UnsafeMutableRawPointer) -> Void) {
        guard area.x >= 0, area.y >= 0, area.width <= pixels.width - area.x, area.height <= pixels.height - area.y
        else { return }
        // Safety: the area is within the canvas.
        for y in 0..<area.height { body(y, pixels.base + (area.y + y) * pixels.stride + area.x * pixelSize) }
    }
}

/// One pixel with channels of 0 to 255, alpha not premultiplied.
private struct StraightPixel {
    private let word: UInt32

    @inline(__always)
    init(at place: UnsafeRawPointer) { word = UInt32(littleEndian: place.loadUnaligned(as: UInt32.self)) }

    @inline(__always)
    private init(word: UInt32) { self.word = word }

    @inline(__always)
    func store(at place: UnsafeMutableRawPointer) { place.storeBytes(of: word.littleEndian, as: UInt32.self) }

    @inline(__always)
    private var alpha: UInt32 { word >> 24 }

    /// Applies the OVER operation to the colours as they are stored, without gamma, as browsers do. The result is
    /// exact, rounded to the nearest value.
    @inline(__always)
    func over(_ below: StraightPixel) -> StraightPixel {
        if alpha == 255 || below.alpha == 0 && alpha > 0 { return self }
        if alpha == 0 { return below }
        // The shares of both pixels in the result, in 65,025ths.
        let upperShare = alpha &* 255
        let lowerShare = below.alpha &* (255 - alpha)
        let whole = upperShare &+ lowerShare
        var made = ((whole &+ 127) / 255) << 24
        for shift in stride(from: UInt32(0), to: 24, by: 8) {
            let sum = (word >> shift & 0xff) &* upperShare &+ (below.word >> shift & 0xff) &* lowerShare
            made |= ((sum &+ whole / 2) / whole) << shift
        }
        return StraightPixel(word: made)
    }
}

/// One pixel with channels of 0 to 65,535, alpha not premultiplied.
private struct DeepPixel {
    private let channels: SIMD4<UInt16>

    @inline(__always)
    init(at place: UnsafeRawPointer) { channels = place.loadUnaligned(as: SIMD4<UInt16>.self) }

    @inline(__always)
    private init(_ channels: SIMD4<UInt16>) { self.channels = channels }

    @inline(__always)
    func store(at place: UnsafeMutableRawPointer) { place.storeBytes(of: channels, as: SIMD4<UInt16>.self) }

    /// Applies the OVER operation as `StraightPixel` does.
    @inline(__always)
    func over(_ below: DeepPixel) -> DeepPixel {
        let alpha = UInt64(channels.w), belowAlpha = UInt64(below.channels.w)
        if alpha == 65_535 || belowAlpha == 0 && alpha > 0 { return self }
        if alpha == 0 { return below }
        // The shares of both pixels in the result, in 65,535ths of a level; their sums are below 2^50.
        let upperShare = alpha &* 65_535
        let lowerShare = belowAlpha &* (65_535 - alpha)
        let whole = upperShare &+ lowerShare
        let upper = SIMD4<UInt64>(truncatingIfNeeded: channels),
            lower = SIMD4<UInt64>(truncatingIfNeeded: below.channels)
        var made = (upper &* upperShare &+ lower &* lowerShare &+ whole / 2) / SIMD4(repeating: whole)
        made.w = (whole &+ 32_767) / 65_535
        return DeepPixel(SIMD4(truncatingIfNeeded: made))
    }
}

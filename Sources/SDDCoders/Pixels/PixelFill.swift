/// Converts rows of RGBA pixels to another format.
struct PixelFill {
    private let source: PixelFormat
    private let format: PixelFormat
    private let background: Colour
    private let planeStride: Int

    typealias Colour = (red: UInt32, green: UInt32, blue: UInt32)
    private typealias Place = UnsafeMutableRawPointer

    /// - Parameters:
    ///   - source: RGBA8, or RGBA16 for a format of 16 bits.
    ///   - background: 0xRRGGBB.
    init(_ source: PixelFormat, to made: PixelBuffer, background: UInt32) {
        self.source = source
        self.format = made.format
        self.background = (background >> 16 & 0xff, background >> 8 & 0xff, background & 0xff)
        planeStride = made.planeStride
    }

    /// Converts `count` pixels.
    /// - Parameter step: bytes from one pixel of the source to the next.
    func row(
        _ target: UnsafeMutableRawPointer, from source: UnsafeMutableRawPointer, step: Int, count: Int
    ) {
        if self.source == .rgba16 {
            row16(target, from: source, step: step, count: count)
        } else if step == 4 {
            // With a constant step the compiler vectorizes the loop.
            row8(target, from: source, step: 4, count: count)
        } else {
            row8(target, from: source, step: step, count: count)
        }
    }

    @inline(__always)
    private func row8(_ target: Place, from source: Place, step: Int, count: Int) {
        let background = background
        switch format {
        case .rgba8: each(target, source, step, count, 4) { $1.store(at: $0) }
        case .bgra8: each(target, source, step, count, 4) { $1.swapped.store(at: $0) }
        case .rgba8Premultiplied: each(target, source, step, count, 4) { $1.premultiplied.store(at: $0) }
        case .bgra8Premultiplied: each(target, source, step, count, 4) { $1.premultiplied.swapped.store(at: $0) }
        case .rgb8: each(target, source, step, count, 3) { $1.over(background).store(at: $0, apart: 1) }
        case .rgb8Planar:
            let planeStride = planeStride
            each(target, source, step, count, 1) { $1.over(background).store(at: $0, apart: planeStride) }
        case .grey8:
            each(target, source, step, count, 1) { place, pixel in
                place.storeBytes(of: UInt8(truncatingIfNeeded: pixel.over(background).luma), as: UInt8.self)
            }
        case .rgba16: each(target, source, step, count, 8) { DeepPixel($1).store(at: $0) }
        case .rgba16Premultiplied: each(target, source, step, count, 8) { DeepPixel($1).premultiplied.store(at: $0) }
        }
    }

    @inline(__always)
    private func each(
        _ target: Place, _ source: Place, _ step: Int, _ count: Int, _ width: Int, _ store: (Place, Pixel) -> Void
    ) {
        for index in 0..<count { store(target + index &* width, Pixel(at: source + index &* step)) }
    }

    private func row16(_ target: Place, from source: Place, step: Int, count: Int) {
        let isPremultiplied = format == .rgba16Premultiplied
        for index in 0..<count {
            let pixel = DeepPixel(at: source + index &* step)
            (isPremultiplied ? pixel.premultiplied : pixel).store(at: target + index &* 8)
        }
    }
}

/// One pixel with channels of 0 to 255.
private struct Pixel {
    var red: UInt32
    var green: UInt32
    var blue: UInt32
    var alpha: UInt32

    @inline(__always)
    init(at place: UnsafeMutableRawPointer) {
        let word = UInt32(littleEndian: place.loadUnaligned(as: UInt32.self))
        (red, green, blue, alpha) = (word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff, word >> 24)
    }

    @inline(__always)
    func store(at place: UnsafeMutableRawPointer) {
        place.storeBytes(of: (red | green << 8 | blue << 16 | alpha << 24).littleEndian, as: UInt32.self)
    }

    /// Stores red, green and blue, `apart` bytes from one to the next.
    @inline(__always)
    func store(at place: UnsafeMutableRawPointer, apart: Int) {
        place.storeBytes(of: UInt8(truncatingIfNeeded: red), as: UInt8.self)
        (place + apart).storeBytes(of: UInt8(truncatingIfNeeded: green), as: UInt8.self)
        (place + apart + apart).storeBytes(of: UInt8(truncatingIfNeeded: blue), as: UInt8.self)
    }

    @inline(__always)
    var swapped: Pixel {
        var pixel = self
        (pixel.red, pixel.blue) = (blue, red)
        return pixel
    }

    @inline(__always)
    var premultiplied: Pixel { over((0, 0, 0)) }

    /// Blends the colours over a background. Alpha stays as it is.
    @inline(__always)
    func over(_ background: PixelFill.Colour) -> Pixel {
        var pixel = self
        let through = 255 &- alpha
        pixel.red = Self.dividedBy255(red &* alpha &+ background.red &* through)
        pixel.green = Self.dividedBy255(green &* alpha &+ background.green &* through)
        pixel.blue = Self.dividedBy255(blue &* alpha &+ background.blue &* through)
        return pixel
    }

    /// Divides a product of at most 255 x 255 by 255, rounded.
    @inline(__always)
    private static func dividedBy255(_ product: UInt32) -> UInt32 {
        let sum = product &+ 128
        return (sum &+ sum >> 8) >> 8
    }

    /// Luma as in ITU-R BT.601: 0.299, 0.587 and 0.114, as 65,536ths.
    @inline(__always)
    var luma: UInt32 { (red &* 19_595 &+ green &* 38_470 &+ blue &* 7_471 &+ 0x8000) >> 16 }
}

/// One pixel with channels of 0 to 65,535.
private struct DeepPixel {
    private var channels: SIMD4<UInt16>

    @inline(__always)
    init(at place: UnsafeMutableRawPointer) { channels = place.loadUnaligned(as: SIMD4<UInt16>.self) }

    @inline(__always)
    init(_ pixel: Pixel) {
        channels = SIMD4(truncatingIfNeeded: SIMD4(pixel.red, pixel.green, pixel.blue, pixel.alpha)) &* 257
    }

    @inline(__always)
    func store(at place: UnsafeMutableRawPointer) { place.storeBytes(of: channels, as: SIMD4<UInt16>.self) }

    /// The colours multiplied by alpha. Alpha stays as it is.
    @inline(__always)
    var premultiplied: DeepPixel {
        var pixel = self
        let wide = SIMD4<UInt32>(truncatingIfNeeded: channels)
        // Divides a product of at most 65,535 x 65,535 by 65,535, rounded.
        let sum = wide &* SIMD4(repeating: wide.w) &+ 0x8000
        let quotient = (sum &+ sum &>> 16) &>> 16
        pixel.channels = SIMD4(truncatingIfNeeded: quotient)
        pixel.channels.w = channels.w
        return pixel
    }
}

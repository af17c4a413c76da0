/// A picture of the transforms' own whose pixels are computed with: each is red, green, blue and alpha from 0 to 1, the
/// colours multiplied by alpha, so that what is transparent has no colour. Used by one thread.
struct PixelPlane {
    let buffer: PixelBuffer
    private let isDeep: Bool

    /// Copies a picture.
    /// - Throws: if there is no memory.
    init(_ pixels: PixelBuffer) throws(CoderError) { try self.init(owning: pixels.straightCopy()) }

    /// Makes an empty picture with as many bits a channel as this one.
    func empty(width: Int, height: Int) throws(CoderError) -> PixelPlane {
        try PixelPlane(owning: PixelBuffer.make(width: width, height: height, buffer.format))
    }

    private init(owning buffer: PixelBuffer) {
        self.buffer = buffer
        isDeep = buffer.format == .rgba16
    }

    /// Returns the pixels in another format, or in one with alpha if that has none.
    func pixels(like format: PixelFormat) throws(CoderError) -> PixelBuffer {
        try PixelConverter(buffer, to: format.hasAlpha ? format : .rgba8).make()
    }

    subscript(x: Int, y: Int) -> SIMD4<Double> {
        // Safety: the callers stay within the width and the height.
        @inline(__always) get {
            let place = buffer.base + y * buffer.stride
            let straight =
                isDeep
                ? SIMD4<Double>((place + x * 8).loadUnaligned(as: SIMD4<UInt16>.self)) / 65535
                : SIMD4<Double>((place + x * 4).loadUnaligned(as: SIMD4<UInt8>.self)) / 255
            return straight * SIMD4(straight.w, straight.w, straight.w, 1)
        }
        @inline(__always) nonmutating set {
            let place = buffer.base + y * buffer.stride
            let alpha = newValue.w
            let straight = alpha > 0 ? newValue / SIMD4(alpha, alpha, alpha, 1) : SIMD4.zero
            let whole = straight.clamped(lowerBound: .zero, upperBound: .one)
            if isDeep {
                let channels = SIMD4<UInt16>(
                    truncatingIfNeeded: SIMD4<Int32>(whole * 65535, rounding: .toNearestOrEven))
                (place + x * 8).storeBytes(of: channels, as: SIMD4<UInt16>.self)
            } else {
                let channels = SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(whole * 255, rounding: .toNearestOrEven))
                (place + x * 4).storeBytes(of: channels, as: SIMD4<UInt8>.self)
            }
        }
    }
}

extension PictureTransform.Colour {
    /// The colour as a pixel of a `PixelPlane`.
    var pixel: SIMD4<Double> {
        let channel = { (shift: UInt32) in Double(argb >> shift & 255) / 255 }
        let alpha = channel(24)
        return SIMD4(channel(16) * alpha, channel(8) * alpha, channel(0) * alpha, alpha)
    }
}

extension SIMD4<Double> {
    /// This pixel, as far as `coverage` says, over another.
    @inline(__always)
    func over(_ other: Self, coverage: Double = 1) -> Self {
        let own = self * coverage
        return own + other * (1 - own.w)
    }
}

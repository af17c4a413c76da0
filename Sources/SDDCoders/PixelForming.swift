internal import SDDBase

/// Makes the form a caller wants of pixels as a decoder gives them, as stored: RGBA8, or in the very format that is
/// wanted. One pass over them, none if they are what is wanted. Any thread.
struct PixelForming {
    private let source: PixelBuffer
    private let form: PixelForm
    private let turn: Turn

    /// - Parameter orientation: Exif's, 1 to 8; of a form that is not upright it does not matter.
    init(_ source: PixelBuffer, to form: PixelForm, orientation: Int) {
        self.source = source
        self.form = form
        turn = Turn(orientation: form.isUpright ? orientation : 1, width: source.width, height: source.height)
    }

    /// - Throws: when there is no memory.
    func make() throws(CoderError) -> PixelBuffer {
        if turn.isNone && form.format == source.format { return source }
        let made = try PixelBuffer.make(width: turn.width, height: turn.height, form.format)
        let fill = Fill(form.format, background: form.background)
        // In tiles, so that a turn by a quarter, which goes down columns, stays within few lines of the cache.
        let side = turn.isNone ? max(made.width, made.height) : 32
        for top in stride(from: 0, to: made.height, by: side) {
            for left in stride(from: 0, to: made.width, by: side) {
                for y in top..<min(top + side, made.height) {
                    fillRow(y, from: left, count: min(side, made.width - left), of: made, fill)
                }
            }
        }
        return made
    }

    private func fillRow(_ y: Int, from x: Int, count: Int, of made: PixelBuffer, _ fill: Fill) {
        let (sourceX, sourceY) = turn.source(ofX: x, y: y)
        let place = source.base + sourceY * source.stride + sourceX * 4
        let step = turn.stepX * 4 + turn.stepY * source.stride
        let target = made.base + y * made.stride + x * made.format.bytesPerPixel
        // Safety: `count` pixels from (x, y) on are within `made`, and what they turn into is within `source`.
        fill.row(target, from: place, step: step, count: count)
    }
}

// MARK: - Where a pixel comes from

/// Exif's orientation (CIPA DC-008, 4.6.4): which way a picture as stored is to be turned to be upright.
private struct Turn {
    /// Of the upright picture.
    let width: Int
    let height: Int
    let isNone: Bool
    /// One pixel to the right in the upright picture is so much in the stored one.
    let stepX: Int
    let stepY: Int
    private let isTransposed: Bool
    private let isMirroredX: Bool
    private let isMirroredY: Bool
    private let storedWidth: Int
    private let storedHeight: Int

    init(orientation: Int, width: Int, height: Int) {
        storedWidth = width
        storedHeight = height
        isNone = !(2...8).contains(orientation)
        isTransposed = (5...8).contains(orientation)
        // Seen from the upright picture: whether the stored one is read from its right, and from its bottom.
        isMirroredX = [2, 3, 7, 8].contains(orientation)
        isMirroredY = [3, 4, 6, 7].contains(orientation)
        self.width = isTransposed ? height : width
        self.height = isTransposed ? width : height
        stepX = isTransposed ? 0 : isMirroredX ? -1 : 1
        stepY = !isTransposed ? 0 : isMirroredY ? -1 : 1
    }

    func source(ofX x: Int, y: Int) -> (x: Int, y: Int) {
        let (sourceX, sourceY) = isTransposed ? (y, x) : (x, y)
        return (
            isMirroredX ? storedWidth - 1 - sourceX : sourceX, isMirroredY ? storedHeight - 1 - sourceY : sourceY
        )
    }
}

// MARK: - What a pixel becomes

/// One pixel after the other, from red, green, blue, alpha.
private struct Fill {
    private let format: PixelFormat
    private let background: (red: UInt32, green: UInt32, blue: UInt32)

    init(_ format: PixelFormat, background: UInt32) {
        self.format = format
        self.background = (background >> 16 & 0xff, background >> 8 & 0xff, background & 0xff)
    }

    func row(_ target: UnsafeMutableRawPointer, from source: UnsafeMutableRawPointer, step: Int, count: Int) {
        switch format {
        case .rgba8: each(target, source, step, count, 4) { $1.store(at: $0) }
        case .bgra8: each(target, source, step, count, 4) { $1.swapped.store(at: $0) }
        case .rgba8Premultiplied: each(target, source, step, count, 4) { $1.premultiplied.store(at: $0) }
        case .bgra8Premultiplied: each(target, source, step, count, 4) { $1.premultiplied.swapped.store(at: $0) }
        case .rgb8:
            each(target, source, step, count, 3) { place, pixel in
                let pixel = pixel.over(background)
                place.storeBytes(of: UInt8(truncatingIfNeeded: pixel.red), as: UInt8.self)
                place.storeBytes(of: UInt8(truncatingIfNeeded: pixel.green), toByteOffset: 1, as: UInt8.self)
                place.storeBytes(of: UInt8(truncatingIfNeeded: pixel.blue), toByteOffset: 2, as: UInt8.self)
            }
        case .grey8:
            each(target, source, step, count, 1) { place, pixel in
                place.storeBytes(of: UInt8(truncatingIfNeeded: pixel.over(background).luma), as: UInt8.self)
            }
        }
    }

    @inline(__always)
    private func each(
        _ target: UnsafeMutableRawPointer, _ source: UnsafeMutableRawPointer, _ step: Int, _ count: Int, _ width: Int,
        _ store: (UnsafeMutableRawPointer, Pixel) -> Void
    ) {
        for index in 0..<count { store(target + index * width, Pixel(at: source + index * step)) }
    }
}

/// Channels of 0 to 255.
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

    @inline(__always)
    var swapped: Pixel {
        var pixel = self
        (pixel.red, pixel.blue) = (blue, red)
        return pixel
    }

    @inline(__always)
    var premultiplied: Pixel { over((0, 0, 0)) }

    /// Alpha stays.
    @inline(__always)
    func over(_ background: (red: UInt32, green: UInt32, blue: UInt32)) -> Pixel {
        var pixel = self
        let through = 255 - alpha
        pixel.red = Self.dividedBy255(red &* alpha &+ background.red &* through)
        pixel.green = Self.dividedBy255(green &* alpha &+ background.green &* through)
        pixel.blue = Self.dividedBy255(blue &* alpha &+ background.blue &* through)
        return pixel
    }

    /// Rounded; of at most 255 x 255.
    @inline(__always)
    private static func dividedBy255(_ product: UInt32) -> UInt32 {
        let sum = product &+ 128
        return (sum &+ sum >> 8) >> 8
    }

    /// ITU-R BT.601: 0.299, 0.587, 0.114, as 65,536ths.
    @inline(__always)
    var luma: UInt32 { (red &* 19_595 &+ green &* 38_470 &+ blue &* 7_471 &+ 0x8000) >> 16 }
}

internal import Glibc

/// Moves pixels without changing them: crops, mirrors and rotates a picture. Supports every format whose pixels are
/// whole bytes side by side. A value; callable from any thread.
struct PixelMoves {
    /// A position in a picture, or an offset.
    private struct Place {
        var x: Int
        var y: Int
    }

    private let source: PixelBuffer
    /// Size of the new picture.
    private let width: Int
    private let height: Int
    /// Position in the source of the new picture's first pixel, and the offsets in the source for one pixel to the
    /// right and one pixel down.
    private var first: Place
    private var right = Place(x: 1, y: 0)
    private var down = Place(x: 0, y: 1)

    /// Crops to the overlap of the rectangle and the picture; returns `nil` if it is empty.
    init?(croppingAt x: Int, _ y: Int, _ width: Int, _ height: Int, of source: PixelBuffer) {
        let columns = Self.overlap(x, width, source.width)
        let rows = Self.overlap(y, height, source.height)
        guard !columns.isEmpty, !rows.isEmpty else { return nil }
        self.source = source
        (self.width, self.height) = (columns.count, rows.count)
        first = Place(x: columns.lowerBound, y: rows.lowerBound)
    }

    private static func overlap(_ start: Int, _ length: Int, _ side: Int) -> Range<Int> {
        let (end, isFar) = start.addingReportingOverflow(length)
        let low = min(max(start, 0), side)
        return low..<max(low, min(isFar ? side : end, side))
    }

    init(flipping flip: PictureTransform.Flip, _ source: PixelBuffer) {
        self.source = source
        (width, height) = (source.width, source.height)
        first = Place(x: 0, y: 0)
        if flip.contains(.horizontal) { (first.x, right.x) = (width - 1, -1) }
        if flip.contains(.vertical) { (first.y, down.y) = (height - 1, -1) }
    }

    init(rotating turns: PictureTransform.QuarterTurns, _ source: PixelBuffer) {
        self.source = source
        let (lastX, lastY) = (source.width - 1, source.height - 1)
        switch turns {
        case .one:
            (width, height) = (source.height, source.width)
            (first, right, down) = (Place(x: 0, y: lastY), Place(x: 0, y: -1), Place(x: 1, y: 0))
        case .two:
            (width, height) = (source.width, source.height)
            (first, right, down) = (Place(x: lastX, y: lastY), Place(x: -1, y: 0), Place(x: 0, y: -1))
        case .three:
            (width, height) = (source.height, source.width)
            (first, right, down) = (Place(x: lastX, y: 0), Place(x: 0, y: 1), Place(x: -1, y: 0))
        }
    }

    private var isNone: Bool {
        width == source.width && height == source.height && right.x == 1 && down.y == 1
    }

    func make() throws(CoderError) -> PixelBuffer {
        if isNone { return source }
        let made = try PixelBuffer.make(width: width, height: height, source.format)
        // Safety: every pixel of `made` comes from within `source`, whose memory is not written any more.
        switch source.format.bytesPerPixel {
        case 1: move(to: made, as: UInt8.self)
        case 2: move(to: made, as: UInt16.self)
        case 4: move(to: made, as: UInt32.self)
        case 8: move(to: made, as: UInt64.self)
        case let size: move(to: made, size: size)
        }
        return made
    }

    private func move<Pixel: FixedWidthInteger>(to made: PixelBuffer, as type: Pixel.Type) {
        let size = MemoryLayout<Pixel>.size
        // The loads and stores are unaligned, since rows may begin anywhere.
        move(to: made, size: size) { $0.storeBytes(of: $1.loadUnaligned(as: Pixel.self), as: Pixel.self) }
    }

    private func move(to made: PixelBuffer, size: Int) {
        move(to: made, size: size) { $0.copyMemory(from: $1, byteCount: size) }
    }

    @inline(__always)
    private func move(
        to made: PixelBuffer, size: Int, _ copy: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
    ) {
        for plane in 0..<source.format.planeCount { move(plane, to: made, size: size, copy) }
    }

    @inline(__always)
    private func move(
        _ plane: Int, to made: PixelBuffer, size: Int,
        _ copy: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
    ) {
        let (sourceBase, madeBase) = (source.base + plane * source.planeStride, made.base + plane * made.planeStride)
        let step = right.y * source.stride + right.x * size
        // A rotation by a quarter turn goes down columns, so it works in tiles to stay within few cache lines.
        let side = right.y == 0 ? max(width, height) : 32
        for top in stride(from: 0, to: height, by: side) {
            for left in stride(from: 0, to: width, by: side) {
                for y in top..<min(top + side, height) {
                    let count = min(side, width - left)
                    let (x, row) = (first.x + left * right.x + y * down.x, first.y + left * right.y + y * down.y)
                    let place = sourceBase + row * source.stride + x * size
                    let target = madeBase + y * made.stride + left * size
                    if step == size {
                        memcpy(target, place, count * size)
                    } else {
                        for index in 0..<count { copy(target + index * size, place + index * step) }
                    }
                }
            }
        }
    }
}

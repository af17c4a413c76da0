internal import Glibc
internal import SDDBase

/// Pixel memory: rows from the top, `stride` bytes apart. Written by one decoder, then read-only and shared. Callable
/// from any thread.
package final class PixelBuffer: @unchecked Sendable {
    // Safety: the decoder that made the buffer is its only writer, and gives it away when it is done.
    package let base: UnsafeMutableRawPointer
    package let width: Int
    package let height: Int
    package let stride: Int
    package let format: PixelFormat
    /// Bytes that the pixels take; in memory lent by the application, without the padding after the last row.
    package let byteCount: Int
    /// The kind of memory that was requested.
    package let memory: PixelMemory
    /// The block of the library's own memory; `nil` for the application's memory.
    private let block: SpareMemory.Block?

    private init(_ place: Place, width: Int, height: Int, _ format: PixelFormat, in memory: PixelMemory) {
        base = place.base
        block = place.block
        stride = place.stride
        byteCount = place.byteCount
        self.width = width
        self.height = height
        self.format = format
        self.memory = memory
        Living.pixels.begin(holding: ownBytes)
    }

    /// Bytes that count as the library's; memory lent by the application does not.
    private var ownBytes: Int { if case .caller = memory.owner { 0 } else { byteCount } }

    package convenience init?(width: Int, height: Int, format: PixelFormat = .rgba8) {
        guard let place = try? Place(width: width, height: height, format, in: .library) else { return nil }
        self.init(place, width: width, height: height, format, in: .library)
    }

    deinit {
        Living.pixels.end(holding: ownBytes)
        if let block { SpareMemory.pixels.free(block) }
        if case .allocator(let allocator) = memory.owner { allocator.takeBack(base, byteCount) }
    }

    /// Creates a buffer.
    /// - Throws: if there is no memory, or if the memory lent by the application is too small.
    static func make(
        width: Int, height: Int, _ format: PixelFormat, in memory: PixelMemory = .library
    ) throws(CoderError) -> PixelBuffer {
        let place = try Place(width: width, height: height, format, in: memory)
        return PixelBuffer(place, width: width, height: height, format, in: memory)
    }

    /// Whether another buffer has the same pixels, in rows of the same length.
    func shows(_ other: PixelBuffer) -> Bool {
        guard (width, height, stride, format) == (other.width, other.height, other.stride, other.format) else {
            return false
        }
        let rowBytes = width * format.bytesPerPixel
        return (0..<height * format.planeCount).allSatisfy { row in
            memcmp(base + row * stride, other.base + row * stride, rowBytes) == 0
        }
    }

    /// Bytes from the first row of one plane to the first row of the next.
    var planeStride: Int { stride * height }
}

/// The memory of one buffer. All pixel memory is allocated here, after its size has been checked.
private struct Place {
    let base: UnsafeMutableRawPointer
    let block: SpareMemory.Block?
    let stride: Int
    let byteCount: Int

    init(width: Int, height: Int, _ format: PixelFormat, in memory: PixelMemory) throws(CoderError) {
        var given = 0
        if case .caller(let space) = memory.owner { given = space.stride }
        guard
            let layout = PixelLayout(
                width: width, height: height, format: format, rowAlignment: memory.rowAlignment, stride: given)
        else {
            // No buffer is as large as all rows of such a length.
            if given > 0 { throw CoderError(.bufferTooSmall, "\(width) x \(height) pixels, in rows of \(given) bytes") }
            throw CoderError(.noMemory, "\(width) x \(height) pixels")
        }
        stride = layout.stride
        switch memory.owner {
        case .library:
            guard let (base, block) = Self.own(layout.byteCount, alignment: memory.rowAlignment) else {
                throw CoderError(.noMemory, "\(width) x \(height) pixels")
            }
            (self.base, self.block, byteCount) = (base, block, layout.byteCount)
        case .allocator(let allocator):
            let alignment = max(memory.rowAlignment, Self.usualAlignment)
            guard let base = allocator.memory(layout.byteCount, alignment: alignment) else {
                throw CoderError(.noMemory, "\(width) x \(height) pixels, \(layout.byteCount) bytes of the allocator")
            }
            (self.base, block, byteCount) = (base, nil, layout.byteCount)
        case .caller(let space):
            guard layout.stride >= layout.rowBytes, space.size >= layout.leastByteCount else {
                throw CoderError(.bufferTooSmall, Self.need(width, height, layout))
            }
            (base, block, byteCount) = (space.base, nil, layout.leastByteCount)
        }
    }

    /// The alignment that malloc(3) guarantees.
    private static let usualAlignment = 16

    private static func own(_ size: Int, alignment: Int) -> (UnsafeMutableRawPointer, SpareMemory.Block)? {
        let slack = max(alignment, usualAlignment) - usualAlignment
        guard let block = SpareMemory.pixels.allocate(size + slack) else { return nil }
        return (block.base.alignedUp(toMultipleOf: max(alignment, 1)), block)
    }

    private static func need(_ width: Int, _ height: Int, _ layout: PixelLayout) -> String {
        layout.stride >= layout.rowBytes
            ? "\(layout.leastByteCount) bytes for \(width) x \(height) pixels"
            : "rows of \(layout.rowBytes) bytes for \(width) x \(height) pixels"
    }
}

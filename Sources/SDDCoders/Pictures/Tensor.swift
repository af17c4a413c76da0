internal import Glibc

/// The application's memory for many pictures of one size, each in a slot of its own. Immutable; callable from any
/// thread, as long as no two threads write to one slot.
package struct Tensor: @unchecked Sendable {
    // Safety: the application keeps it, and leaves slots that are being filled alone, until the batch is destroyed.
    private let base: UnsafeMutableRawPointer
    package let slotCount: Int
    private let slotStride: Int
    private let slotBytes: Int
    private let rowBytes: Int
    private let width: Int
    private let height: Int
    private let form: DecodeOptions

    /// Returns `nil` if a parameter is invalid.
    /// - Parameters:
    ///   - slotStride: bytes from one slot to the next; 0 means the smallest possible number.
    package init?(
        base: UnsafeMutableRawPointer, slotCount: Int, slotStride: Int, format: PixelFormat, size: SizeRule,
        background: UInt32, colour: DecodeOptions.Colour = .usual
    ) {
        guard slotCount > 0, slotStride >= 0,
            let layout = PixelLayout(width: size.width, height: size.height, format: format, rowAlignment: 1)
        else { return nil }
        let stride = slotStride == 0 ? layout.byteCount : slotStride
        let (all, isLarge) = stride.multipliedReportingOverflow(by: slotCount)
        guard stride >= layout.byteCount, !isLarge, all <= Int.max / 2 else { return nil }
        self.base = base
        self.slotCount = slotCount
        self.slotStride = stride
        slotBytes = layout.byteCount
        rowBytes = layout.rowBytes
        width = size.width
        height = size.height
        form = DecodeOptions(
            format: format, background: background, size: size, frames: .firstOnly, colour: colour)
    }

    /// Returns the form of a picture that fits into a slot.
    /// - Parameter slot: the slot that the picture may be written to directly; `nil` if it is not known yet.
    package func form(for slot: Int?) -> DecodeOptions {
        // A picture smaller than the slot has its planes closer together.
        guard let slot, form.size.fit != .inside else { return form }
        let memory = PixelMemory(owner: .caller(PixelSpace(base: place(slot), size: slotBytes, stride: rowBytes)))
        var own = form
        own.memory = memory
        return own
    }

    private func place(_ slot: Int) -> UnsafeMutableRawPointer { base + slot * slotStride }

    /// Fills a slot with zeros.
    package func clear(_ slot: Int) { memset(place(slot), 0, slotBytes) }

    /// Copies a picture to the top left of a slot, with zeros beside it, unless it was written there directly.
    /// - Throws: if the image has no pixels, or if they do not fit the slot.
    package func fill(_ slot: Int, with image: Image) throws(CoderError) {
        let pixels = try image.decoded()
        let place = place(slot)
        if pixels.base == place, pixels.width == width, pixels.height == height { return }
        guard pixels.base != place, pixels.format == form.format, pixels.width <= width, pixels.height <= height else {
            throw CoderError(.coder, "\(pixels.width) x \(pixels.height) pixels for a slot of a tensor")
        }
        if pixels.width < width || pixels.height < height { clear(slot) }
        let count = pixels.width * form.format.bytesPerPixel
        for plane in 0..<form.format.planeCount {
            for y in 0..<pixels.height {
                // Safety: no picture is larger than a slot, which has as many planes.
                let row = pixels.base + plane * pixels.planeStride + y * pixels.stride
                (place + (plane * height + y) * rowBytes).copyMemory(from: row, byteCount: count)
            }
        }
    }
}

internal import SDDBase

/// Converts a decoder's pixels, as stored, to the format that was requested. The decoder gives RGBA8, RGBA16 or the
/// requested format itself. It takes one pass over the pixels, or none if they are as requested. Callable from any
/// thread.
struct PixelConverter {
    private let source: PixelBuffer
    private let format: PixelFormat
    private let background: UInt32
    private let memory: PixelMemory
    private let turn: PictureTurn

    /// - Parameters:
    ///   - background: colour that shows through if the format has no alpha: 0xRRGGBB.
    ///   - orientation: Exif orientation, 1 to 8, by which the picture is turned.
    init(
        _ source: PixelBuffer, to format: PixelFormat, background: UInt32 = 0, in memory: PixelMemory = .library,
        orientation: Int = 1
    ) {
        self.source = source
        self.format = format
        self.background = background
        self.memory = memory
        turn = PictureTurn(orientation: orientation, width: source.width, height: source.height)
    }

    /// Returns the converted pixels, or the source itself.
    /// - Throws: if there is no memory.
    func make() throws(CoderError) -> PixelBuffer {
        let isOfFormat = turn.isNone && format == source.format
        if isOfFormat { return memory == source.memory ? source : try source.copy(in: memory) }
        let made = try PixelBuffer.make(width: turn.width, height: turn.height, format, in: memory)
        let fill = PixelFill(source.format, to: made, background: background)
        // A rotation by a quarter turn goes down columns, so it works in tiles to stay within few cache lines.
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

    private func fillRow(_ y: Int, from x: Int, count: Int, of made: PixelBuffer, _ fill: PixelFill) {
        let (sourceX, sourceY) = turn.source(ofX: x, y: y)
        let size = source.format.bytesPerPixel
        let place = source.base + sourceY * source.stride + sourceX * size
        let step = turn.stepX * size + turn.stepY * source.stride
        let target = made.base + y * made.stride + x * made.format.bytesPerPixel
        // Safety: `count` pixels from (x, y) on are within `made`, and what they turn into is within `source`.
        fill.row(target, from: place, step: step, count: count)
    }
}

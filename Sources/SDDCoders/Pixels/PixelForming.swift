internal import SDDBase

/// Makes the form a caller wants of pixels as a decoder gives them, as stored: RGBA8, RGBA16, or in the very form that
/// is wanted. One pass over them, none if they are what is wanted. Any thread.
struct PixelForming {
    private let source: PixelBuffer
    private let form: PixelForm
    private let memory: PixelMemory
    private let turn: PictureTurn

    /// - Parameters:
    ///   - memory: in place of the form's own.
    ///   - orientation: Exif's, 1 to 8; of a form that is not upright it does not matter.
    init(_ source: PixelBuffer, to form: PixelForm, in memory: PixelMemory? = nil, orientation: Int) {
        self.source = source
        self.form = form
        self.memory = memory ?? form.memory
        turn = PictureTurn(orientation: form.isUpright ? orientation : 1, width: source.width, height: source.height)
    }

    /// - Throws: when there is no memory.
    func make() throws(CoderError) -> PixelBuffer {
        let isOfFormat = turn.isNone && form.format == source.format
        if isOfFormat && memory == source.memory { return source }
        let made = try PixelBuffer.make(width: turn.width, height: turn.height, form.format, in: memory)
        if isOfFormat {
            made.copyRows(source.height, of: source)
            return made
        }
        let fill = PixelFill(source.format, to: made, background: form.background)
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

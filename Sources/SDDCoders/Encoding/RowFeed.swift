/// Source of the rows that an encoder reads.
enum RowFeed {
    /// All rows at once, directly from the buffer.
    case asTheyLie(PixelBuffer)
    /// A few rows at a time, converted for the encoder. Only pixels of 16 bits a channel become such ones.
    case made(of: PixelBuffer, PixelFormat, background: UInt32)

    /// Number of rows per call: they fit into the processor's cache, and the calls stay few.
    private static let rowsAtATime = 16

    /// - Parameter body: receives the address of the first row, the bytes from one row to the next, and the number of
    ///   rows.
    func forEach(_ body: (UnsafeRawPointer, Int, Int) throws(EncodeError) -> Void) throws(EncodeError) {
        switch self {
        case .asTheyLie(let pixels):
            try body(pixels.base, pixels.stride, pixels.height)
            withExtendedLifetime(pixels) {}
        case .made(let pixels, let format, let background):
            for top in stride(from: 0, to: pixels.height, by: Self.rowsAtATime) {
                let count = min(Self.rowsAtATime, pixels.height - top)
                let rows = try Self.rows(top, count, of: pixels, format, background)
                try body(rows.base, rows.stride, count)
                withExtendedLifetime(rows) {}
            }
        }
    }

    private static func rows(
        _ top: Int, _ count: Int, of pixels: PixelBuffer, _ format: PixelFormat, _ background: UInt32
    ) throws(EncodeError) -> PixelBuffer {
        do throws(CoderError) {
            let rows = try PixelBuffer.make(width: pixels.width, height: count, format.source)
            let isDeep = format.source == .rgba16
            for y in 0..<count {
                let row = rows.base + y * rows.stride
                if isDeep { pixels.readDeepRow(top + y, to: row) } else { pixels.readRow(top + y, to: row) }
            }
            return try PixelConverter(rows, to: format, background: background).make()
        } catch {
            throw .noMemory
        }
    }
}

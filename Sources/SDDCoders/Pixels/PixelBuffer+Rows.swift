extension PixelBuffer {
    /// Returns a copy of the upper rows in memory of its own; the rows below them are transparent black.
    func copy(rows: Int) throws(CoderError) -> PixelBuffer {
        let copy = try Self.make(width: width, height: height, format)
        copy.copyRows(min(rows, height), of: self)
        copy.clear(from: rows)
        return copy
    }

    /// Returns a copy of all planes, in other memory.
    func copy(in memory: PixelMemory) throws(CoderError) -> PixelBuffer {
        let copy = try Self.make(width: width, height: height, format, in: memory)
        copy.copyRows(height * format.planeCount, of: self)
        return copy
    }

    /// Copies the first `count` rows of `source`.
    /// - Parameter source: of the same width and format, with at least `count` rows.
    func copyRows(_ count: Int, of source: PixelBuffer) {
        for y in 0..<count {
            // Safety: equal pictures have rows of equal length.
            let row = source.base + y * source.stride
            (base + y * stride).copyMemory(from: row, byteCount: width * format.bytesPerPixel)
        }
    }

    /// The number of rows from the top, without those at the end that are all zeros.
    var rowsAboveZeros: Int {
        var rows = height
        let count = width * format.bytesPerPixel
        while rows > 0 {
            let row = UnsafeRawBufferPointer(start: base + (rows - 1) * stride, count: count)
            guard row.allSatisfy({ $0 == 0 }) else { break }
            rows -= 1
        }
        return rows
    }

    /// Clears the rows from `row` on, so that they do not show previous contents of the memory, such as another
    /// picture.
    func clear(from row: Int) {
        for y in max(row, 0)..<max(row, 0, height) {
            (base + y * stride).initializeMemory(as: UInt8.self, repeating: 0, count: width * format.bytesPerPixel)
        }
    }
}

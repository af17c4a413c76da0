extension PixelBuffer {
    /// Its upper rows in memory of their own, and nothing below them: transparent black.
    func copy(rows: Int) throws(CoderError) -> PixelBuffer {
        let copy = try Self.make(width: width, height: height, format)
        copy.copyRows(min(rows, height), of: self)
        copy.clear(from: rows)
        return copy
    }

    /// - Parameter source: as wide, at least so high, and of the same format.
    func copyRows(_ count: Int, of source: PixelBuffer) {
        for y in 0..<count {
            // Safety: equal pictures have rows of equal length.
            let row = source.base + y * source.stride
            (base + y * stride).copyMemory(from: row, byteCount: width * format.bytesPerPixel)
        }
    }

    /// What memory held before, another picture perhaps, is not to be seen.
    func clear(from row: Int) {
        for y in max(row, 0)..<max(row, 0, height) {
            (base + y * stride).initializeMemory(as: UInt8.self, repeating: 0, count: width * format.bytesPerPixel)
        }
    }
}

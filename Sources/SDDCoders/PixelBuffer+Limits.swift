extension PixelBuffer {
    /// Whether a picture whose header has been read may be as large as it says. The sizes are a server's: nothing
    /// is allocated before they are checked.
    static func check(width: UInt32, height: UInt32, maxPixels: Int) throws(CoderError) {
        guard width > 0, height > 0 else { throw CoderError(.zeroPixels) }
        // UInt64 holds the product of any two.
        let count = UInt64(width) * UInt64(height)
        guard count <= UInt64(max(maxPixels, 0)) else {
            throw CoderError(.tooManyPixels, "\(width) x \(height) pixels")
        }
    }

    static func make(width: Int, height: Int, _ format: PixelFormat) throws(CoderError) -> PixelBuffer {
        guard let pixels = PixelBuffer(width: width, height: height, format: format) else {
            throw CoderError(.noMemory, "\(width) x \(height) pixels")
        }
        return pixels
    }

    /// Its upper rows in memory of their own, and nothing below them: transparent black.
    func copy(rows: Int) throws(CoderError) -> PixelBuffer {
        let copy = try Self.make(width: width, height: height, format)
        for y in 0..<min(rows, height) {
            // Safety: equal pictures have rows of equal length.
            (copy.base + y * copy.stride).copyMemory(from: base + y * stride, byteCount: width * format.bytesPerPixel)
        }
        copy.clear(from: rows)
        return copy
    }

    /// What memory held before, another picture perhaps, is not to be seen.
    func clear(from row: Int) {
        for y in max(row, 0)..<max(row, 0, height) {
            (base + y * stride).initializeMemory(as: UInt8.self, repeating: 0, count: width * format.bytesPerPixel)
        }
    }
}

extension PixelBuffer {
    /// The memory for a picture whose header has been read, if its size is allowed. The sizes are
    /// a server's: nothing is allocated before they are checked.
    static func make(
        width: UInt32, height: UInt32, _ format: PixelFormat, maxPixels: Int
    ) throws(CoderError) -> PixelBuffer {
        guard width > 0, height > 0 else { throw CoderError(.zeroPixels) }
        // UInt64 holds the product of any two.
        let count = UInt64(width) * UInt64(height)
        guard count <= UInt64(max(maxPixels, 0)) else {
            throw CoderError(.tooManyPixels, "\(width) x \(height) pixels")
        }
        guard let pixels = PixelBuffer(width: Int(width), height: Int(height), format: format) else {
            throw CoderError(.noMemory, "\(width) x \(height) pixels")
        }
        return pixels
    }
}

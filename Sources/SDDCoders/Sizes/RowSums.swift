/// Weighted sums of rows of pixels: red, green and blue, each multiplied by alpha, and alpha. They are contiguous in
/// memory, so that the compiler vectorizes the loops. Callable from any thread, by one thread at a time.
struct RowSums<Channel: FixedWidthInteger & UnsignedInteger & BitwiseCopyable> {
    let base: UnsafeMutablePointer<SIMD4<Float>>
    let count: Int
    private static var most: Float { float(.max) }

    /// Adds a row to the sums.
    /// - Parameter isNew: true for the first row, which replaces the sums.
    @inline(__always)
    func add(_ row: UnsafeRawPointer, weight: Float, isNew: Bool, isOpaque: Bool) {
        let pixels = row.assumingMemoryBound(to: Channel.self)
        if isOpaque || isAllOpaque(pixels) {
            if isNew { setOpaque(pixels, weight) } else { addOpaque(pixels, weight) }
        } else {
            if isNew { setWeighted(pixels, weight) } else { addWeighted(pixels, weight) }
        }
    }

    private var floats: UnsafeMutablePointer<Float> {
        UnsafeMutableRawPointer(base).assumingMemoryBound(to: Float.self)
    }

    @inline(never)
    private func setOpaque(_ row: UnsafePointer<Channel>, _ weight: Float) {
        let sums = floats
        for index in 0..<count &* 4 { sums[index] = Self.float(row[index]) * weight }
    }

    @inline(never)
    private func addOpaque(_ row: UnsafePointer<Channel>, _ weight: Float) {
        let sums = floats
        for index in 0..<count &* 4 { sums[index] += Self.float(row[index]) * weight }
    }

    @inline(never)
    private func setWeighted(_ row: UnsafePointer<Channel>, _ weight: Float) {
        let weight = weight / Self.most
        for index in 0..<count { base[index] = Self.weighted(row + index &* 4, weight) }
    }

    @inline(never)
    private func addWeighted(_ row: UnsafePointer<Channel>, _ weight: Float) {
        let weight = weight / Self.most
        for index in 0..<count { base[index] += Self.weighted(row + index &* 4, weight) }
    }

    @inline(__always)
    private static func weighted(_ pixel: UnsafePointer<Channel>, _ weight: Float) -> SIMD4<Float> {
        SIMD4(float(pixel[0]), float(pixel[1]), float(pixel[2]), most) * SIMD4(repeating: float(pixel[3]) * weight)
    }

    /// Converts by way of Int32, for which the processor has an instruction.
    @inline(__always)
    private static func float(_ channel: Channel) -> Float { Float(Int32(truncatingIfNeeded: channel)) }

    private func isAllOpaque(_ row: UnsafePointer<Channel>) -> Bool {
        var least = Channel.max
        for index in 0..<count { least &= row[index &* 4 &+ 3] }
        return least == .max
    }
}

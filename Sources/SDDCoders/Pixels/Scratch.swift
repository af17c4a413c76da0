import Glibc

/// Memory for numbers while a picture is made: as many as a server's picture is wide, so it is checked. Any thread, one
/// at a time.
final class Scratch<Number: BitwiseCopyable> {
    let base: UnsafeMutablePointer<Number>

    /// Zeros.
    /// - Throws: when there is no memory.
    init(_ count: Int) throws(CoderError) {
        guard count >= 0, let memory = calloc(max(count, 1), MemoryLayout<Number>.stride) else {
            throw CoderError(.noMemory)
        }
        base = memory.bindMemory(to: Number.self, capacity: count)
    }

    deinit { free(base) }
}

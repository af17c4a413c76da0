import Glibc

/// Temporary memory for numbers while a picture is made. Its size depends on the width of a server's picture, so a
/// failed allocation is reported. Callable from any thread, by one thread at a time.
final class Scratch<Number: BitwiseCopyable> {
    let base: UnsafeMutablePointer<Number>

    /// Allocates `count` zeros.
    /// - Throws: if there is no memory.
    init(_ count: Int) throws(CoderError) {
        guard count >= 0, let memory = calloc(max(count, 1), MemoryLayout<Number>.stride) else {
            throw CoderError(.noMemory)
        }
        base = memory.bindMemory(to: Number.self, capacity: count)
    }

    deinit { free(base) }
}

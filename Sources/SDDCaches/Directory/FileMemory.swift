internal import SDDBase
internal import Glibc

/// The content of a file that has not been checked yet: it then becomes the body's `Bytes` or is freed. Use it on one
/// thread.
struct FileMemory {
    let base: UnsafeMutableRawPointer
    let size: Int
    let capacity: Int
    let isMapped: Bool
}

extension FileMemory {
    /// Allocates memory; returns nil when there is none.
    init?(size: Int) {
        if size >= SpareMemory.smallest {
            guard let block = SpareMemory.bodies.allocate(size) else { return nil }
            self.init(base: block.base, size: size, capacity: block.size, isMapped: false)
        } else {
            guard let base = malloc(max(size, 1)) else { return nil }
            self.init(base: base, size: size, capacity: size, isMapped: false)
        }
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: size) }
    var place: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: size) }

    /// Returns the first bytes as `Bytes`, which own all of the memory.
    func give(_ count: Int) -> Bytes {
        isMapped
            ? Bytes(mapping: base, length: capacity, count: count)
            : Bytes(adopting: base, count: count, capacity: capacity)
    }

    func free() { _ = give(0) }
}

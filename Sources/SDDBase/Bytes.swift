import Glibc

/// Immutable bytes outside Swift's own heap, shared by reference: a body, on its way from the socket to
/// the decoder and to the host without a copy. Any thread. The memory is malloc'ed, or a mapped file, and freed with
/// the last reference.
package final class Bytes: @unchecked Sendable {
    // Safety: both are set once, and nobody writes to the memory after `init`.
    private let base: UnsafeMutableRawPointer?
    package let count: Int
    private let capacity: Int
    /// Owns the memory, if others read it too.
    private let block: SharedBlock?
    private let isMapped: Bool

    /// Takes over malloc'ed memory.
    package init(adopting base: UnsafeMutableRawPointer?, count: Int, capacity: Int = 0) {
        self.base = base
        self.count = count
        self.capacity = max(capacity, count)
        block = nil
        isMapped = false
        Living.bytes.begin(holding: self.capacity)
    }

    /// Takes over what mmap(2) gave: `length` bytes, of which the first `count` are these.
    package init(mapping base: UnsafeMutableRawPointer, length: Int, count: Int) {
        self.base = base
        self.count = min(count, length)
        capacity = length
        block = nil
        isMapped = true
        Living.bytes.begin()
    }

    /// The first of a block's bytes; nobody writes to those any more.
    init(of block: SharedBlock, count: Int) {
        base = block.base
        self.count = count
        capacity = count
        self.block = block
        isMapped = false
        Living.bytes.begin(holding: capacity)
    }

    deinit {
        Living.bytes.end(holding: heldBytes)
        if isMapped {
            munmap(base, capacity)
        } else if block == nil {
            SharedBlock.free(base, capacity: capacity)
        }
    }

    /// A copy of some bytes; nil when there is no memory for it.
    package convenience init?(copying bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else {
            self.init(adopting: nil, count: 0)
            return
        }
        guard let copy = malloc(bytes.count), let source = bytes.baseAddress else { return nil }
        memcpy(copy, source, bytes.count)
        self.init(adopting: copy, count: bytes.count)
    }

    /// What it takes of the memory, of its own; a mapped file takes none that the system could not take back.
    package var heldBytes: Int { isMapped ? 0 : capacity }

    /// The bytes, valid while the caller holds a reference.
    package var pointer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}

/// malloc'ed memory of a body that is still growing, while its beginning is read elsewhere. Freed with the last
/// reference. Any thread.
final class SharedBlock: @unchecked Sendable {
    // Safety: whoever lends a part of it out writes only behind that part.
    let base: UnsafeMutableRawPointer
    private let capacity: Int

    init(adopting base: UnsafeMutableRawPointer, capacity: Int) {
        self.base = base
        self.capacity = capacity
    }

    deinit { Self.free(base, capacity: capacity) }

    static func free(_ base: UnsafeMutableRawPointer?, capacity: Int) {
        guard let base, capacity >= SpareMemory.smallest else { return Glibc.free(base) }
        SpareMemory.bodies.adopt(base, size: capacity)
    }
}

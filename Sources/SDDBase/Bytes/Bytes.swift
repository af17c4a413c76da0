import Glibc

/// Immutable bytes outside Swift's own heap, shared by reference, so that a body travels from the socket to the decoder
/// and to the application without a copy. Thread-safe. The memory is malloc'ed or a mapped file, and is freed with the
/// last reference.
package final class Bytes: @unchecked Sendable {
    // Safety: both are set once, and the memory is not written after `init`.
    private let base: UnsafeMutableRawPointer?
    package let count: Int
    private let capacity: Int
    /// Owns the memory if it is shared with other readers.
    private let block: SharedBlock?
    /// True if the memory is not malloc'ed: a mapping of `capacity` bytes, or, if that is 0, somebody else's memory.
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

    /// Takes over a mapping made by mmap(2). The mapping has `length` bytes; these bytes are the first `count` of them.
    package init(mapping base: UnsafeMutableRawPointer, length: Int, count: Int) {
        self.base = base
        self.count = min(count, length)
        capacity = length
        block = nil
        isMapped = true
        Living.bytes.begin()
    }

    /// Refers to memory that its owner keeps, and does not write, until the last reference has ended.
    package init(borrowing bytes: UnsafeRawBufferPointer) {
        base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        count = bytes.count
        capacity = 0
        block = nil
        isMapped = true
        Living.bytes.begin()
    }

    /// Refers to the first `count` bytes of a block, which are not written any more.
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
            if capacity > 0 { munmap(base, capacity) }
        } else if block == nil {
            SharedBlock.free(base, capacity: capacity)
        }
    }

    /// Copies `bytes`. Returns nil when there is no memory for the copy.
    package convenience init?(copying bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else {
            self.init(adopting: nil, count: 0)
            return
        }
        guard let copy = malloc(bytes.count), let source = bytes.baseAddress else { return nil }
        memcpy(copy, source, bytes.count)
        self.init(adopting: copy, count: bytes.count)
    }

    /// Memory that the bytes occupy, in bytes. A mapped file counts as 0, since the system can reclaim its pages.
    package var heldBytes: Int { isMapped ? 0 : capacity }

    /// The bytes, valid while the caller holds a reference.
    package var pointer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}

/// The malloc'ed memory of a body that is still growing while its beginning is read elsewhere. Freed with the last
/// reference. Thread-safe.
final class SharedBlock: @unchecked Sendable {
    // Safety: the builder that lends out part of the memory writes only behind that part.
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

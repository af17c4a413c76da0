import Glibc

/// Grows one malloc'ed buffer and hands it over as `Bytes` without a copy. Use it on one thread at a time.
/// Fails instead of trapping when there is no memory, because a server decides how much data arrives. A class rather
/// than a noncopyable struct: Swift 6.3 sometimes fails to destroy a noncopyable struct when another one is assigned
/// over it.
package final class ByteBuilder {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    package private(set) var count = 0
    /// Owns the buffer once part of it has been lent out; until then the builder itself owns it.
    private var shared: SharedBlock?

    package init() {}

    deinit { if shared == nil { free(base) } }

    /// Returns the bytes so far without a copy. Bytes appended later go behind them or into another buffer.
    package func soFar() -> Bytes {
        guard let base, count > 0 else { return Bytes(adopting: nil, count: 0) }
        let block = shared ?? SharedBlock(adopting: base, capacity: capacity)
        shared = block
        return Bytes(of: block, count: count)
    }

    /// Makes room for `total` bytes and hardly more. Meant for a body whose length is known and has been checked.
    package func reserve(_ total: Int) -> Bool {
        guard total > capacity else { return true }
        if shared != nil { return move(total) }
        if base == nil, total >= SpareMemory.smallest {
            guard let block = SpareMemory.bodies.allocate(total) else { return false }
            base = block.base
            capacity = block.size
            return true
        }
        guard let grown = realloc(base, total) else { return false }
        base = grown
        capacity = total
        return true
    }

    /// Copies the bytes to a new buffer that is not shared with any reader.
    private func move(_ total: Int) -> Bool {
        guard let block = SpareMemory.bodies.allocate(max(total, SpareMemory.smallest)) else { return false }
        if let base { memcpy(block.base, base, count) }
        base = block.base
        capacity = block.size
        shared = nil
        return true
    }

    package func append(_ source: UnsafeRawPointer, count added: Int) -> Bool {
        guard added > 0 else { return true }
        guard let place = grow(by: added) else { return false }
        memcpy(place, source, added)
        return true
    }

    /// Makes room for `added` more bytes, which the caller must write at once. Returns nil when there is no memory.
    package func grow(by added: Int) -> UnsafeMutableRawPointer? {
        let (needed, overflow) = count.addingReportingOverflow(added)
        if overflow { return nil }
        if needed > capacity {
            let (doubled, tooFar) = capacity.multipliedReportingOverflow(by: 2)
            guard reserve(max(needed, tooFar ? needed : doubled, Self.smallest)) else { return nil }
        }
        defer { count = needed }
        return base.map { $0 + count }
    }

    private static let smallest = 512

    /// Returns the byte at `index`, or nil past the end.
    package subscript(index: Int) -> UInt8? {
        guard let base, index >= 0, index < count else { return nil }
        return base.load(fromByteOffset: index, as: UInt8.self)
    }

    /// Returns the bytes so far and leaves the builder empty.
    package func take() -> Bytes {
        defer {
            base = nil
            capacity = 0
            count = 0
            shared = nil
        }
        if let shared { return Bytes(of: shared, count: count) }
        // Doubling leaves up to half of the buffer unused, and the bytes may be kept for long.
        let isRoomy = capacity > 2 * Self.smallest && capacity - count > count / 4
        if isRoomy, let base, count > 0, let fitted = realloc(base, count) {
            self.base = fitted
            capacity = count
        }
        return Bytes(adopting: base, count: count, capacity: capacity)
    }
}

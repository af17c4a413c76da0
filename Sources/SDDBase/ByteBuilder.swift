import Glibc

/// Grows one malloc'ed buffer and gives it away as `Bytes`, without a copy. One thread at a time.
/// Says no, instead of trapping, when there is no memory: how much arrives is up to a server. An object and no struct
/// without copies: those Swift 6.3 forgets to destroy here and there when another is put in their place.
package final class ByteBuilder {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    package private(set) var count = 0
    /// Owns the buffer once some of it has been lent out; else it is this object's own.
    private var shared: SharedBlock?

    package init() {}

    deinit { if shared == nil { free(base) } }

    /// The bytes so far, without a copy: what is appended later lies behind them, or elsewhere.
    package func soFar() -> Bytes {
        guard let base, count > 0 else { return Bytes(adopting: nil, count: 0) }
        let block = shared ?? SharedBlock(adopting: base, capacity: capacity)
        shared = block
        return Bytes(of: block, count: count)
    }

    /// Makes room for `total` bytes and hardly more, for a body whose length is known and has been checked.
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

    /// To a buffer that nobody reads yet.
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

    /// Room for so many bytes more, which are to be written at once; nil when there is none.
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

    /// One of the bytes so far; nil past them.
    package subscript(index: Int) -> UInt8? {
        guard let base, index >= 0, index < count else { return nil }
        return base.load(fromByteOffset: index, as: UInt8.self)
    }

    /// The bytes so far; the builder is empty afterwards.
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

/// The checksum XXH64 (xxHash, doc/xxhash_spec.md): detects accidental damage, not deliberate changes. A value type:
/// call `consume` any number of times with whole stripes of 32 bytes, then `finish` with the rest.
package struct XXH64: Sendable {
    private var a: UInt64
    private var b: UInt64
    private var c: UInt64
    private var d: UInt64
    private let seed: UInt64
    private var total: UInt64 = 0

    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    package static let stripe = 32

    package init(seed: UInt64 = 0) {
        self.seed = seed
        a = seed &+ Self.prime1 &+ Self.prime2
        b = seed &+ Self.prime2
        c = seed
        d = seed &- Self.prime1
    }

    /// Returns the checksum of `bytes`.
    package static func sum(of bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var sum = XXH64(seed: seed)
        let taken = sum.consume(bytes)
        return sum.finish(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
    }

    /// - Returns: how many bytes were consumed: all whole stripes. Pass the rest again.
    package mutating func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        let end = bytes.count & ~(Self.stripe - 1)
        guard end > 0, let base = bytes.baseAddress else { return 0 }
        // The lanes are kept in registers, so that each waits only for itself.
        var (a, b, c, d) = (self.a, self.b, self.c, self.d)
        var offset = 0
        // Safety: `end` is a multiple of 32 and not past the last byte.
        while offset < end {
            a = Self.round(a, base.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
            b = Self.round(b, base.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self).littleEndian)
            c = Self.round(c, base.loadUnaligned(fromByteOffset: offset &+ 16, as: UInt64.self).littleEndian)
            d = Self.round(d, base.loadUnaligned(fromByteOffset: offset &+ 24, as: UInt64.self).littleEndian)
            offset &+= 32
        }
        (self.a, self.b, self.c, self.d) = (a, b, c, d)
        total &+= UInt64(end)
        return end
    }

    /// Returns the checksum, given the bytes behind the last stripe, fewer than 32.
    package func finish(_ rest: UnsafeRawBufferPointer) -> UInt64 {
        var sum = (total > 0 ? merged : seed &+ Self.prime5) &+ total &+ UInt64(rest.count)
        var offset = 0
        while offset + 8 <= rest.count {
            let word = rest.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
            sum = Self.turned(sum ^ Self.round(0, word), 27) &* Self.prime1 &+ Self.prime4
            offset += 8
        }
        if offset + 4 <= rest.count {
            let word = rest.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
            sum = Self.turned(sum ^ UInt64(word) &* Self.prime1, 23) &* Self.prime2 &+ Self.prime3
            offset += 4
        }
        for byte in rest[offset...] {
            sum = Self.turned(sum ^ UInt64(byte) &* Self.prime5, 11) &* Self.prime1
        }
        sum = (sum ^ sum >> 33) &* Self.prime2
        sum = (sum ^ sum >> 29) &* Self.prime3
        return sum ^ sum >> 32
    }

    private var merged: UInt64 {
        var sum = Self.turned(a, 1) &+ Self.turned(b, 7) &+ Self.turned(c, 12) &+ Self.turned(d, 18)
        for lane in [a, b, c, d] {
            sum = (sum ^ Self.round(0, lane)) &* Self.prime1 &+ Self.prime4
        }
        return sum
    }

    @inline(__always) private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        turned(lane &+ word &* prime2, 31) &* prime1
    }

    @inline(__always) private static func turned(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word &<< bits | word &>> (64 &- bits)
    }
}

/// Pseudo-random numbers, the same for the same seed, for values that should differ between processes and repeat in
/// tests. Marsaglia's 64-bit xorshift with shifts of 13, 7 and 17. A value type; not for secrets.
public struct XorShift: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    /// - Parameter seed: 0 is replaced by 1, because the sequence cannot leave 0.
    @inlinable public init(seed: UInt64) { state = max(seed, 1) }

    @inlinable public mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

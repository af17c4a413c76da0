/// Numbers that look random, the same ones for the same seed: for what must differ between processes, and repeat in
/// tests. Marsaglia's xorshift with 64 bits and shifts of 13, 7 and 17. A value; nothing for secrets.
struct XorShift: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter seed: 0 counts as 1, for from 0 there is no way on.
    init(seed: UInt64) { state = max(seed, 1) }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

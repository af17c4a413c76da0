import SDDBase
import Testing

@testable import SDDEngine

/// Row Z7: the failures that are retried, and the pauses before that.
@Suite struct RetryPolicyTests {
    /// Returns whether pauses lie between half of that and all of it, and come near both.
    private func isAround(_ longest: Int64, _ policy: RetryPolicy, after attempts: Int32) -> Bool {
        var random = XorShift(seed: 99)
        let pauses = (0..<300).compactMap { _ in policy.pause(after: attempts, using: &random) }
        guard let least = pauses.min(), let most = pauses.max() else { return false }
        return least >= longest / 2 && least <= longest / 8 * 5 && most <= longest && most >= longest / 8 * 7
    }

    @Test(
        "Z7: the delay doubles up to the longest, and jitter removes at most half of it",
        arguments: [
            (1, 500_000), (2, 1_000_000), (3, 2_000_000), (6, 16_000_000), (7, 30_000_000), (8, 30_000_000),
            (62, 30_000_000), (63, 30_000_000), (64, 30_000_000), (.max, 30_000_000), (0, 500_000), (-5, 500_000),
        ] as [(Int32, Int64)])
    func theDelayDoubles(attempts: Int32, longest: Int64) {
        #expect(isAround(longest, RetryPolicy(), after: attempts))
    }

    @Test("Z7: delays of any size and their limits do not overflow")
    func delaysOfAnySize() {
        let huge = RetryPolicy(delay: .max, maxDelay: .max)
        #expect(isAround(.max, huge, after: 1))
        #expect(isAround(.max, huge, after: .max))
        #expect(isAround(0, RetryPolicy(delay: 0, maxDelay: 100), after: 9))
        #expect(isAround(100, RetryPolicy(delay: 900, maxDelay: 100), after: 1))
    }

    @Test("Z7: pauses are spread over the whole upper half")
    func pausesAreSpreadOut() {
        var random = XorShift(seed: 7)
        let pauses = (0..<1000).compactMap { _ in RetryPolicy().pause(after: 1, using: &random) }
        #expect(pauses.count == 1000 && pauses.allSatisfy { (250_000...500_000).contains($0) })
        // Each of ten equal parts has about 100 pauses.
        let parts = Dictionary(grouping: pauses) { min(9, ($0 - 250_000) / 25_000) }
        #expect(parts.count == 10 && parts.values.allSatisfy { (50...150).contains($0.count) })
    }

    @Test(
        "Z7: the server's Retry-After replaces the delay, unless it is too long",
        arguments: [(0, 0), (1, 1_000_000), (30, 30_000_000), (31, nil), (1 << 31, nil), (.max, nil), (-1, 0)]
            as [(Int64, Int64?)])
    func retryAfterReplacesTheDelay(asked: Int64, pause: Int64?) {
        var random = XorShift(seed: 1)
        let given = RetryPolicy().pause(after: 3, asked: asked, using: &random)
        #expect(given == pause)
    }

    @Test(
        "Z7: methods that may be sent twice, RFC 9110 §9.2.2; others only if nothing was sent",
        arguments: [
            ("GET", true), ("HEAD", true), ("PUT", true), ("DELETE", true), ("OPTIONS", true), ("TRACE", true),
            ("POST", false), ("PATCH", false), ("CONNECT", false), ("get", false), ("", false), ("PURGE", false),
        ])
    func methods(method: String, isSafe: Bool) {
        #expect(RetryPolicy.isSafe(method: method, wasSent: true) == isSafe)
        #expect(RetryPolicy.isSafe(method: method, wasSent: false))
    }

    @Test("the generator is Marsaglia's: starting from 1, as computed by hand")
    func theGeneratorIsMarsaglias() {
        // 1 ^ 1 << 13 = 0x2001; ^ >> 7 = 0x2041; ^ << 17 = 0x4082_2041.
        var (one, zero) = (XorShift(seed: 1), XorShift(seed: 0))
        let numbers = [one.next(), zero.next()]
        #expect(numbers == [0x4082_2041, 0x4082_2041])
    }
}
